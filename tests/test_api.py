"""Commands as functions: the same words, the same records, any kind of model."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

import burnish
from burnish.cli.commands import COMMANDS, found
from burnish.core.errors import UsageError
from burnish.parity.report import VerifyReport

TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
tiny (float[batch, 8] x) => (float[batch, 8] y) { z = Identity (x) y = Relu (z) }
"""
QUICK = {"samples": 1, "budget": 0.0}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def proto() -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT)


@pytest.fixture
def path(proto: onnx.ModelProto, tmp_path: Path) -> Path:
    onnx.save(proto, tmp_path / "tiny.onnx")
    return tmp_path / "tiny.onnx"


def test_every_kind_of_model_is_taken(path: Path, proto: onnx.ModelProto) -> None:
    for model in (path, str(path), proto, ir.serde.deserialize_model(proto)):
        report = burnish.verify(model, path, **QUICK)
        assert isinstance(report, VerifyReport)
        assert report.passed


def test_a_model_in_memory_is_kept_once_under_its_content(
    proto: onnx.ModelProto, cache: Path
) -> None:
    for _ in range(2):
        burnish.explain(proto)
    assert [file.name for file in (cache / "given").rglob("*.onnx")] == ["tiny.onnx"]


def test_an_optimised_model_has_a_place_without_one_being_named(path: Path) -> None:
    report = burnish.optimize(path, **QUICK)
    assert report.target == path.with_name("tiny_optimized.onnx")
    assert [node.op_type for node in onnx.load(report.target).graph.node] == ["Relu"]


def test_what_is_no_model_is_refused_with_what_is_one() -> None:
    with pytest.raises(UsageError, match="a dict is no model that burnish knows") as caught:
        burnish.verify({})  # type: ignore[arg-type]
    assert "burnish.TorchModule(module, inputs)" in caught.value.hint


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"budget": "long"}, "budget='long' is not a time"),
        ({"budget": -1}, "budget=-1 is not a time"),
        ({"budget": float("nan")}, "budget=nan is not a time"),
        ({"shape": "n=3"}, "shape='n=3' is no shape"),
        ({"shape": [3]}, "shape=[3] is no shape"),
        ({"shape": {"n": 2.5}}, "shape={'n': 2.5} is no shape"),
        ({"threads": 0}, "threads=0 is not a whole number from 1 on"),
        ({"threads": [1, "2"]}, "threads=[1, '2'] is not a whole number from 1 on"),
        ({"cuda_graph": "no"}, "cuda_graph='no' is not True or False"),
        ({"rounds": 0}, "rounds=0 is not a whole number from 1 on"),
        ({"seed": True}, "seed=True is not a whole number"),
        ({"engine": 3}, "engine=3 is not a text"),
        ({"data": {}}, "data={} is not a path"),
        ({"padding": "top"}, "padding='top' is not 'right' or 'left' or 'none'"),
        ({"engine": None}, "engine is None"),
    ],
)
def test_values_that_are_none_are_refused(
    path: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        burnish.bench(path, **given)
    assert refused.value.problem == problem
    assert refused.value.hint.startswith("give ")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"tune": "no"}, "tune='no' is not True or False"),
        ({"atol": -1}, "atol=-1 is not a number from 0 on"),
        ({"rtol": "1e-3"}, "rtol='1e-3' is not a number from 0 on"),
        ({"atol": float("nan")}, "atol=nan is not a number from 0 on"),
        ({"tolerance": 16}, "tolerance=16 is not a text"),
        ({"up_to": ["n"]}, "up_to=['n'] is not a text"),
        ({"bundle": 3}, "bundle=3 is not a path"),
        ({"output": None}, "output is None"),
        ({"device_memory": "2GiB"}, "device_memory='2GiB' is no size"),
    ],
)
def test_nothing_is_compiled_by_values_that_are_none(
    path: Path, tmp_path: Path, given: dict[str, object], problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        burnish.compile(path, **{"output": tmp_path / "folder", **given})
    assert refused.value.problem == problem
    assert not (tmp_path / "folder").exists()


def test_what_has_a_none_for_a_choice_takes_it(path: Path) -> None:
    assert burnish.verify(path, **{**QUICK, "budget": None, "atol": None}).passed


@pytest.mark.parametrize("given", [{"folder": None}, {"folder": "f", "signed_by": 3}])
def test_what_is_no_path_is_not_loaded(given: dict[str, object], tmp_path: Path) -> None:
    folder = given.pop("folder")
    if folder is not None:
        (tmp_path / "plan.json").write_text("{}")
        folder = tmp_path
    with pytest.raises(UsageError, match="is a path, not"):
        burnish.load(folder, **given)  # type: ignore[arg-type]


def test_what_is_no_record_cannot_be_shown() -> None:
    with pytest.raises(UsageError, match="a str is no record that can be shown") as caught:
        burnish.show("report")
    assert "burnish.show(burnish.verify(…))" in caught.value.hint


def test_records_are_shown_as_markdown(path: Path) -> None:
    shown = burnish.show(burnish.verify(path, **QUICK))
    assert "| tensor | results |" in shown
    assert "tiny on onnxruntime-cpu equals tiny as it is written" in shown


@pytest.mark.parametrize("name", [name for name in burnish.__all__ if name in COMMANDS])
def test_a_function_takes_what_its_command_takes(name: str) -> None:
    request = found("study.requests", COMMANDS[name].request)
    assert inspect.signature(getattr(burnish, name)) == inspect.signature(request)
    assert "Returns: " in getattr(burnish, name).__doc__


def test_importing_burnish_is_light_and_names_are_listed() -> None:
    code = "import sys, burnish; print(dir(burnish) == sorted(burnish.__all__), len(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed, modules = done.stdout.split()
    assert listed == "True"
    assert int(modules) < 200
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        _ = burnish.optimise


def test_a_user_with_strict_types_is_told_of_a_wrong_word(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(
        "import burnish\n"
        'passed: bool = burnish.verify("a", shape={"batch": 2}).passed\n'
        'burnish.verify("a", sample=2)\n'
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "c")]
    done = subprocess.run(
        [*command, "--follow-imports=silent", str(tmp_path / "user.py")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.count("error:") == 1, done.stdout
    assert 'Unexpected keyword argument "sample"' in done.stdout


@pytest.mark.torch
@pytest.mark.slow
def test_a_pytorch_module_is_exported_verified_and_measured(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
    given = burnish.TorchModule(net, (torch.ones(2, 4),), {"input": {0: "batch"}}, name="net")
    report = burnish.export(given, store=tmp_path)
    assert report.model == "net/dynamo"
    assert burnish.verify(given, report.onnx, **QUICK).passed


@pytest.mark.torch
def test_a_module_that_no_other_process_can_build_is_refused() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Identity()
    net.odd = lambda: None
    with pytest.raises(UsageError, match="cannot be handed to another process") as caught:
        burnish.export(burnish.TorchModule(net, (torch.ones(1),)))
    assert "file.py:function" in caught.value.hint
