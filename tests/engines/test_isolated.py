"""However an engine ends, that is an error with names in it, and the next model runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.engines import isolated
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import EngineCrashedError, EngineHungError, open_session
from burnish.engines.recording import Repeats
from burnish.process.child import ChildRefusedError
from burnish.store.stored import StoredModel
from planting import plant

CPU = "onnxruntime-cpu"
FEEDS = {"x": np.array([[1, -2]], np.float32)}


@pytest.fixture(autouse=True)
def _own_processes() -> Iterator[None]:
    isolated.end_all()
    yield
    isolated.end_all()


def stored(folder: Path, operator: str = "Neg") -> StoredModel:
    text = f'<ir_version: 8, opset_import: ["": 18]> g (float[n, 2] x) => (float[n, 2] y) {{ [node] y = {operator}(x) }}'  # noqa: E501
    path = folder / f"{operator}.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return StoredModel(path, operator)


def ran(model: StoredModel, options: EngineOptions | None = None) -> list[list[float]]:
    with open_session(CPU, model, options or EngineOptions()) as session:
        found: list[list[float]] = session.run(FEEDS)["y"].tolist()
        return found


def process() -> int:
    child = isolated._process(CPU)._child
    assert child is not None
    return child._process.pid


def test_many_models_share_one_process_and_none_stays_in_it(tmp_path: Path) -> None:
    assert ran(stored(tmp_path)) == [[-1, 2]]
    first = process()
    assert ran(stored(tmp_path, "Abs")) == [[1, 2]]
    assert process() == first


def test_it_can_be_started_ahead(tmp_path: Path) -> None:
    isolated.start(CPU)
    first = process()
    assert ran(stored(tmp_path)) == [[-1, 2]]
    assert process() == first


@pytest.mark.parametrize(
    ("do", "at", "how", "doing"),
    [
        ("segv", "run", "SIGSEGV", "running"),
        ("segv", "open", "SIGSEGV", "loading"),
        ("abort", "run", "SIGABRT: terminate called", "running"),
        ("exit", "open", "exit code 4", "loading"),
    ],
)
def test_a_crash_names_engine_level_signal_and_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, do: str, at: str, how: str, doing: str
) -> None:
    plant(monkeypatch, "Neg", do, at=at)
    with pytest.raises(EngineCrashedError) as raised:
        ran(stored(tmp_path))
    assert raised.value.problem == (
        f"onnxruntime-cpu crashes at level all and every level below: {how} while {doing} Neg"
    )
    assert raised.value.hint == (
        "it is the engine's fault: report it to its makers, or use another engine that "
        "`burnish doctor` lists"
    )
    assert isinstance(raised.value, ModelError)
    assert ran(stored(tmp_path, "Abs")) == [[1, 2]]


@pytest.mark.parametrize(
    ("levels", "runs_at", "at"),
    [
        (["all"], "extended", "run"),
        (["all", "extended"], "basic", "open"),
        (["all", "extended", "basic"], "off", "run"),
    ],
)
def test_a_crash_says_at_which_level_it_does_not_happen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, levels: list[str], runs_at: str, at: str
) -> None:
    plant(monkeypatch, "Neg", "segv", levels=levels, at=at)
    with pytest.raises(EngineCrashedError) as raised:
        ran(stored(tmp_path))
    assert raised.value.crash.runs_at == runs_at
    text = f"onnxruntime-cpu crashes at level all, runs at level {runs_at}: SIGSEGV while "
    assert raised.value.problem.startswith(text)


@pytest.mark.parametrize(
    ("do", "how"), [("kill", "SIGKILL"), ("memory", "SIGABRT: what():  std::bad_alloc")]
)
def test_running_out_of_memory_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, do: str, how: str
) -> None:
    plant(monkeypatch, "Neg", do)
    with pytest.raises(EngineCrashedError) as raised:
        ran(stored(tmp_path))
    assert raised.value.problem == (
        f"onnxruntime-cpu crashes at level all: {how} (as when memory runs out) while running Neg"
    )
    assert raised.value.hint == (
        "bind smaller sizes with --shape, or use a machine with more memory"
    )


def test_a_hang_names_engine_stage_and_how_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "Neg", "hang")
    with (
        open_session(CPU, stored(tmp_path), EngineOptions(), limit_s=5.0) as session,
        pytest.raises(EngineHungError) as raised,
    ):
        session.run(FEEDS)
    assert isinstance(raised.value, MissingCapabilityError)
    assert raised.value.problem == (
        "onnxruntime-cpu hangs at level all while running Neg: gave no answer within 5.00 s"
    )
    assert raised.value.hint == (
        "bind smaller sizes with --shape, or use another engine that `burnish doctor` lists"
    )


def test_what_an_engine_prints_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "Neg", "chatter")
    assert ran(stored(tmp_path)) == [[-1, 2]]


def test_a_session_survives_the_end_of_its_process_through_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, "Neg", "segv")
    with open_session(CPU, stored(tmp_path, "Abs"), EngineOptions()) as other:
        with pytest.raises(EngineCrashedError):
            ran(stored(tmp_path))
        assert other.run(FEEDS)["y"].tolist() == [[1, 2]]


def test_a_process_that_was_killed_meanwhile_is_started_anew(tmp_path: Path) -> None:
    with open_session(CPU, stored(tmp_path), EngineOptions()) as session:
        isolated._process(CPU)._child.kill()  # type: ignore[union-attr]
        isolated._process(CPU)._child._process.wait()  # type: ignore[union-attr]
        assert session.run(FEEDS)["y"].tolist() == [[-1, 2]]


def test_what_an_engine_refuses_is_the_same_error_as_without_a_process(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no\.onnx: no such file"):
        ran(StoredModel(tmp_path / "no.onnx", "no"))
    with (
        open_session(CPU, stored(tmp_path), EngineOptions()) as session,
        pytest.raises(UsageError, match="input 'x' is missing"),
    ):
        session.run({})


def test_an_error_that_is_a_bug_comes_with_where_it_was_raised(tmp_path: Path) -> None:
    session = open_session(CPU, stored(tmp_path), EngineOptions())
    with session:
        pass
    with pytest.raises(ChildRefusedError, match="KeyError") as raised:
        session.run(FEEDS)
    assert "engines/host.py" in raised.value.__notes__[0]


def test_a_prepared_call_and_a_recording_run_in_the_engines_process(tmp_path: Path) -> None:
    with open_session(CPU, stored(tmp_path), EngineOptions()) as session:
        assert session.prepare(FEEDS)() is None
        found = session.record(FEEDS, Repeats(warmup=1, runs=3))
    assert found.trace is not None
    assert found.trace.runs == 3
    assert len(found.plain_s) == 3
    assert min(found.plain_s) > 0


def test_names_are_those_of_the_callers_folder_and_settings_those_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        stored(tmp_path / name)
        monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / name / "cache"))
        with open_session("burnish", StoredModel(Path("Neg.onnx"), "n"), EngineOptions()) as one:
            assert one.run(FEEDS)["y"].tolist() == [[-1, 2]]
            assert one.placement.nodes_by_provider
        assert (tmp_path / name / "cache").is_dir()
