"""Profilers that are not installed here, as programs that write what those would."""

from __future__ import annotations

import dataclasses
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import onnx
import pytest

import burnish
from burnish.core import records
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.engines import repeated
from burnish.engines.base import EngineOptions
from burnish.engines.recording import Repeats
from burnish.engines.repeated import CacheMisses
from burnish.feeds.feed import Feeds
from burnish.infer.graph_of import graph_of
from burnish.report.table import Table
from burnish.store import layout, onnx_files
from burnish.study import outside
from burnish.study.inputs import FedModel
from burnish.study.shown.diagnosis import traffic_lines
from burnish.timing.counters import PAGE_FAULTS, NotCountedError

NCU = (
    '"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"\n'
    '"","","byte","byte","nsecond"\n"0","gemm","4096","1024","1000"\n'
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    node = onnx.helper.make_node("Relu", ["x"], ["y"], name="relu")
    shape = [4, 8]
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name in "xy"
    ]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:])
    opset = [onnx.helper.make_opsetid("", 17)]
    path = tmp_path / "relu.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), path)
    return path


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is all that is on the PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def put(folder: Path, name: str, body: str) -> Path:
    """Write a program that notes how it was called, and what it was asked to run."""
    program = folder / name
    program.write_text(
        "#!/usr/bin/python3\nimport json, pathlib, sys\nhere = pathlib.Path(__file__).parent\n"
        "(here / 'called.json').write_text(json.dumps(sys.argv[1:]))\n"
        "def after(flag): return pathlib.Path(sys.argv[sys.argv.index(flag) + 1])\n" + body
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def called(folder: Path) -> list[str]:
    words: list[str] = json.loads((folder / "called.json").read_text())
    return words


@pytest.mark.parametrize("name", ["nsys", "ncu"])
def test_a_profiler_that_is_not_there_is_named_with_where_it_comes_from(
    model: Path, tool: Path, name: str
) -> None:
    assert tool.is_dir()
    with pytest.raises(MissingCapabilityError, match=f"{name} is not on the PATH") as caught:
        burnish.profile(model, **{name: True})
    assert "or profile without it: burnish profile MODEL" in caught.value.hint


def test_nsys_is_called_so_that_the_reader_finds_what_it_needs(model: Path, tool: Path) -> None:
    put(tool, "nsys", "")
    with pytest.raises(ModelError, match=r"nsys ended and wrote no recorded\.sqlite"):
        burnish.profile(model, nsys=True, runs=7)
    words = called(tool)
    assert words[:2] == ["profile", "--trace=cuda,nvtx"]
    assert {"--export=sqlite", "--cuda-graph-trace=node", "--force-overwrite=true"} <= set(words)
    assert words[-3:-1] == ["-m", "burnish.engines.repeated"]


def test_what_ncu_counts_stands_beside_what_shapes_say(model: Path, tool: Path) -> None:
    put(tool, "ncu", f"after('--log-file').write_text({NCU!r})\n")
    found = burnish.profile(model, ncu=True, runs=2).traffic
    assert found is not None
    assert (found.source, found.read_bytes, found.written_bytes) == ("ncu", 4096, 1024)
    assert found.predicted_bytes == 2 * 4 * 8 * 4
    assert "--metrics" in called(tool)


CACHED = (
    '"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum",'
    '"l1tex__m_l1tex2xbar_write_bytes.sum","l1tex__m_xbar2l1tex_read_bytes.sum"\n'
    '"","","byte","byte","nsecond","byte","Kbyte"\n'
    '"0","gemm","0","0","1000","1024","4"\n"1","add","0","0","1000","1024","1"\n'
)


def test_what_ncu_counts_at_the_shared_cache_stands_beside_what_a_plan_was_predicted_to_move(
    model: Path, tool: Path
) -> None:
    put(tool, "ncu", f"after('--log-file').write_text({CACHED!r})\n")
    found = burnish.profile(model, ncu=True, runs=2).traffic
    assert found is not None
    assert (found.cache_read_bytes, found.cache_written_bytes) == (5000, 2048)
    planned = dataclasses.replace(found, planned_bytes=14096.0)
    first, second, kernels = traffic_lines(planned)
    assert "predicted for its plan" not in str(first)
    assert second == (
        "Between multiprocessors and the second cache: 4.88 KiB read, 2.00 KiB written;"
        " 13.8 KiB predicted for its plan, 2.00 of what was counted."
    )
    assert isinstance(kernels, Table)
    assert [row[4].text for row in kernels.rows] == ["4.91 KiB", "1.98 KiB"]


def test_a_card_without_counters_at_its_shared_cache_is_asked_for_the_others_alone(
    model: Path, tool: Path
) -> None:
    said = "==ERROR== Failed to find metric l1tex__m_xbar2l1tex_read_bytes.sum\n"
    put(
        tool,
        "ncu",
        "knows = 'l1tex' not in sys.argv[sys.argv.index('--metrics') + 1]\n"
        f"after('--log-file').write_text({NCU!r} if knows else {said!r})\n"
        "sys.exit(0 if knows else 1)\n",
    )
    found = burnish.profile(model, ncu=True, runs=2).traffic
    assert found is not None
    assert (found.read_bytes, found.cache_read_bytes) == (4096, None)
    assert "second cache" not in " ".join(map(str, traffic_lines(found)))


def test_ncu_is_let_in_for_one_warm_inference_and_leaves_caches_and_clocks_alone(
    model: Path, tool: Path
) -> None:
    put(
        tool,
        "ncu",
        f"after('--log-file').write_text({NCU!r})\n"
        "(here / 'request.json').write_text(pathlib.Path(sys.argv[-1]).read_text())\n",
    )
    burnish.profile(model, ncu=True, runs=7)
    words = called(tool)
    wanted = {"profile-from-start": "off", "cache-control": "none", "clock-control": "none"}
    assert {name: words[words.index(f"--{name}") + 1] for name in wanted} == wanted
    asked = json.loads((tool / "request.json").read_text())
    assert asked["runs"] == 1
    assert asked["warmup"] > 1


def test_an_ncu_that_fails_for_want_of_a_permission_says_how_to_get_it(
    model: Path, tool: Path
) -> None:
    said = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n"
    put(tool, "ncu", f"after('--log-file').write_text({said!r})\nsys.exit(1)\n")
    with pytest.raises(MissingCapabilityError, match="counters not permitted") as caught:
        burnish.profile(model, ncu=True, runs=2)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in caught.value.hint


def refused(_: object) -> NoReturn:
    raise NotCountedError("the kernel does not allow it")


def subject_of(model: Path) -> FedModel:
    feeds = Feeds({"x": np.zeros((4, 8), np.float32)}, {})
    return FedModel(layout.stored(model), feeds, graph_of(onnx_files.read(model), {}))


def test_where_the_cpu_counts_nothing_the_prediction_is_left(model: Path, tool: Path) -> None:
    assert tool.is_dir()
    found = burnish.profile(model, perf=True, runs=2).traffic
    assert found is not None
    assert found.predicted_bytes == 2 * 4 * 8 * 4
    # a machine that counts says how much, all others say why they do not
    assert (found.source == "perf") == (found.read_bytes is not None) == (not found.reason)


def counted(model: Path, folder: Path) -> CacheMisses:
    target = folder / "counted.json"
    asked = outside.request(
        subject_of(model),
        "onnxruntime-cpu",
        EngineOptions(),
        folder=folder,
        repeats=Repeats(runs=2),
        counts=target,
    )
    repeated.main(asked)
    found: CacheMisses = records.decode(CacheMisses, json.loads(target.read_bytes()))
    return found


def test_what_is_counted_while_it_runs_is_written_down(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated, "LAST_CACHE_MISSES", {"read": PAGE_FAULTS})
    found = counted(model, tmp_path)
    assert list(found.misses) == ["read"]
    assert not found.reason
    monkeypatch.setattr(repeated, "Counter", refused)
    assert counted(model, tmp_path) == CacheMisses(reason="the kernel does not allow it")


def test_a_profiler_that_fails_is_an_error_with_its_command(model: Path, tool: Path) -> None:
    put(tool, "nsys", "print('no permission', file=sys.stderr)\nsys.exit(3)\n")
    with pytest.raises(ModelError, match="nsys failed") as caught:
        burnish.profile(model, nsys=True)
    assert "burnish.engines.repeated" in caught.value.hint


def test_one_model_on_one_engine_is_watched(model: Path, tool: Path) -> None:
    put(tool, "nsys", "")
    with pytest.raises(UsageError, match="a profiler watches one model on one engine, and 2"):
        burnish.profile([model, model], nsys=True)


class Card:
    """A driver that remembers what it was told, with or without a context."""

    def __init__(self, context: int | None) -> None:
        self.context, self.told = context, list[str]()

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*given: Any) -> int:  # noqa: ANN401  (whatever ctypes takes)
            self.told.append(name)
            if name == "cuCtxGetCurrent":
                given[0]._obj.value = self.context
            elif name == "cuDevicePrimaryCtxRetain":
                given[0]._obj.value = 7
            elif name == "cuCtxSetCurrent":
                self.context = given[0].value
            return 0

        return call


@pytest.mark.parametrize("context", [None, 5])
def test_only_what_is_counted_runs_while_the_profiler_is_let_in(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, context: int | None
) -> None:
    card = Card(context)
    monkeypatch.setattr(repeated, "_driver", lambda: card)
    monkeypatch.setattr(repeated, "_marks", lambda: (card.told.append, lambda: None))
    asked = outside.request(
        subject_of(model),
        "onnxruntime-cpu",
        EngineOptions(),
        folder=tmp_path,
        repeats=Repeats(2, 1),
    )
    repeated.main(asked)
    assert card.told[-3:] == ["cuProfilerStart", "Batch-0 Forward", "cuProfilerStop"]
    assert card.context == (context or 7)


def test_a_session_on_a_cpu_has_no_driver_to_tell() -> None:
    assert repeated._driver() is None


def test_the_program_that_is_watched_runs_the_model(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr(repeated, "_marks", lambda: (seen.append, lambda: None))
    asked = outside.request(
        subject_of(model),
        "onnxruntime-cpu",
        EngineOptions(),
        folder=tmp_path,
        repeats=Repeats(1, 2),
    )
    repeated.main(asked)
    assert seen == ["Batch-0 Forward", "Batch-1 Forward"]
