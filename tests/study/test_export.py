"""A store receives a model only if it computes what PyTorch computed; else it stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.core.errors import CheckFailedError, ModelError, UsageError
from burnish.store import datasets, layout, onnx_files
from burnish.store.stored import TorchSource
from burnish.study import export as study
from burnish.study.export import ExportPlan, export
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.past import Generation
from burnish.zoo.exporting.request import Exporter, ExportRequest, ZooSource
from burnish.zoo.exporting.stages import ExportOutcome, StageTime, Workaround

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
MODEL = f"""{HEAD} g (float[batch, 8] x) => (float[batch, 8] y)
    <float[8, 8] w> {{ a = MatMul(x, w)  b = Identity(a)  y = Tanh(b) }}"""
OUTCOME = ExportOutcome(
    "dynamo", 20, ("batch",), (Workaround("eager", "it failed"),), (), (StageTime("build", 1),)
)
REQUEST = ExportRequest(ZooSource("bert-mini"))


def _model() -> onnx.ModelProto:
    model = onnx.parser.parse_model(MODEL)
    weight = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32) / 3
    del model.graph.initializer[:]
    model.graph.initializer.append(onnx.numpy_helper.from_array(weight, "w"))
    return model


class Launched:
    """Stands in for the child process: writes a model and what PyTorch would have computed."""

    def __init__(self, *, wrong: float = 0.0, error: Exception | None = None) -> None:
        self.wrong = wrong
        self.error = error

    def __call__(
        self, _request: ExportRequest, target: Path, *, time_limit_s: float
    ) -> tuple[ExportOutcome, Generation | None]:
        assert time_limit_s > 0
        (target.parent / "half").write_text("written before anything failed")
        if self.error is not None:
            raise self.error
        model = _model()
        onnx.save(model, target)
        weight = onnx.numpy_helper.to_array(model.graph.initializer[0])
        interface = onnx_files.interface(onnx_files.read(target))
        for number, batch in enumerate((2, 3)):
            x = np.random.default_rng(batch).normal(size=(batch, 8)).astype(np.float32)
            data = datasets.DataSet({"x": x}, {"y": np.tanh(x @ weight) + self.wrong})
            datasets.write(target.parent / f"test_data_set_{number}", data, interface)
        layout.write_source(target, TorchSource("zoo", "net", {}))
        (target.parent / "half").unlink()
        return OUTCOME, None


def _plan(store: Path, **asked: bool) -> ExportPlan:
    return ExportPlan(store, "net", "dynamo", **asked)


def test_a_checked_model_lies_in_the_store_with_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "launch", Launched())
    report = export(REQUEST, _plan(tmp_path))
    assert report.model == "net/dynamo"
    assert report.workarounds == OUTCOME.workarounds
    assert [stage.stage for stage in report.stages] == ["build", "check"]
    (check,) = report.checks
    assert [sample.bindings for sample in check.parity.samples] == [{"batch": 2}, {"batch": 3}]
    (model,) = layout.listing(tmp_path)
    assert model.onnx == report.onnx
    assert len(model.data_sets) == 2
    assert [path.name for path in (tmp_path / "net").iterdir()] == ["dynamo"]


def test_a_model_that_computes_something_else_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "launch", Launched(wrong=0.1))
    store = tmp_path / "new" / "store"
    with pytest.raises(CheckFailedError) as raised:
        export(REQUEST, _plan(store))
    assert raised.value.problem.startswith(
        "after the step 'export' it does not compute what PyTorch does: net/dynamo on "
        "onnxruntime-cpu differs from what was recorded: y in sample test_data_set_"
    )
    assert raised.value.hint.startswith("try the other --exporter, --attention eager or --static")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_leaves_the_old_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "launch", Launched())
    before = export(REQUEST, _plan(tmp_path)).onnx.read_bytes()
    monkeypatch.setattr(study, "launch", Launched(error=ModelError("p", hint="h")))
    with pytest.raises(ModelError):
        export(REQUEST, _plan(tmp_path))
    (model,) = layout.listing(tmp_path)
    assert model.onnx.read_bytes() == before
    assert [path.name for path in (tmp_path / "net").iterdir()] == ["dynamo"]


@pytest.mark.parametrize("stranger", ["notes.txt", "test_data_set_7/input_0.pb"])
def test_what_others_put_beside_a_model_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stranger: str
) -> None:
    monkeypatch.setattr(study, "launch", Launched())
    folder = export(REQUEST, _plan(tmp_path)).onnx.parent
    (folder / stranger).parent.mkdir(exist_ok=True)
    (folder / stranger).write_text("mine")
    with pytest.raises(UsageError, match=f"is not an exported model .*it holds {stranger}"):
        export(REQUEST, _plan(tmp_path))
    assert (folder / stranger).read_text() == "mine"
    (folder / stranger).unlink()
    (folder / "test_data_set_7").rmdir() if "/" in stranger else None
    export(REQUEST, _plan(tmp_path))


def test_a_folder_that_was_not_exported_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "launch", Launched())
    mine = tmp_path / "net" / "dynamo" / "net_dynamo.onnx"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(UsageError, match=r"no source\.json in it says what it was exported from"):
        export(REQUEST, _plan(tmp_path))
    assert mine.read_text() == "mine"


def test_an_interrupted_export_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted = Launched()
    monkeypatch.setattr(study, "launch", interrupted)
    monkeypatch.setattr(study, "verify_recorded", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        export(REQUEST, _plan(tmp_path / "store"))
    assert list(tmp_path.iterdir()) == []


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_every_step_after_exporting_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "launch", Launched())
    report = export(REQUEST, _plan(tmp_path, int8=True, optimize=True))
    assert [check.after for check in report.checks] == ["export", "optimize", "int8"]
    assert report.checks[-1].parity.arithmetic == "i8-dynamic"
    assert report.precision == "int8"
    assert report.rewrite is not None
    assert report.rewrite.nodes_after < report.rewrite.nodes_before
    operators = {node.op_type for node in onnx_files.read(report.onnx).graph}
    assert "DynamicQuantizeMatMul" in operators
    assert "Identity" not in operators


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_a_decoder_in_half_precision_writes_what_pytorch_writes(
    tmp_path: Path, precision: str
) -> None:
    options = NetworkOptions(small=True, past=True, layers=1, precision=precision)  # type: ignore[arg-type]
    report = export(ExportRequest(ZooSource("gpt2"), options), _plan(tmp_path))
    assert report.generation is not None
    assert report.generation.agreeing >= 31
    assert len(report.checks[0].parity.samples) == 6


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", ["gpt2", "llama"])
@pytest.mark.parametrize("exporter", ["dynamo", "torchscript"])
def test_32_greedy_tokens_are_those_of_pytorch(
    tmp_path: Path, name: str, exporter: Exporter
) -> None:
    options = NetworkOptions(small=True, past=True)
    report = export(ExportRequest(ZooSource(name), options, exporter), _plan(tmp_path))
    assert report.generation is not None
    assert len(report.generation.expected) == 32
    assert report.generation.identical
    pasts = [sample.bindings["past_sequence"] for sample in report.checks[0].parity.samples]
    assert 0 in pasts
    assert len(set(pasts)) > 3
