from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from burnish.bench import choose
from burnish.core.errors import UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.store.stored import StoredModel, TorchSource

PLAIN = StoredModel(Path("a/bert.onnx"), "bert", "dynamo")
WITH_SOURCE = StoredModel(
    Path("b/bert.onnx"), "bert", "torchscript", (), TorchSource("zoo", "bert", {})
)


def labels(*models: StoredModel, engines: tuple[str, ...] = ()) -> list[str]:
    return [one.label for one in choose.subjects(models, engines, EngineOptions())]


def test_subjects_are_models_on_engines() -> None:
    assert labels(PLAIN, WITH_SOURCE, engines=("onnxruntime-cpu", "openvino")) == [
        "bert/dynamo@onnxruntime-cpu", "bert/dynamo@openvino",
        "bert/torchscript@onnxruntime-cpu", "bert/torchscript@openvino",
    ]  # fmt: skip


def test_an_engine_with_a_mode_is_another_subject() -> None:
    specs = ("onnxruntime-cpu", "onnxruntime-cpu:off")
    plain, off = choose.subjects([PLAIN], specs, EngineOptions(threads=1))
    assert (plain.label, off.label) == (f"bert/dynamo@{specs[0]}", f"bert/dynamo@{specs[1]}")
    assert (off.engine, off.options.mode, off.options.threads) == ("onnxruntime-cpu", "off", 1)
    assert plain.options.mode == ""


def test_models_of_one_name_are_told_apart_by_their_files() -> None:
    twins = (StoredModel(Path("a/m.onnx"), "m"), StoredModel(Path("b/m.onnx"), "m"))
    assert labels(*twins, engines=("openvino",)) == ["a/m.onnx@openvino", "b/m.onnx@openvino"]


def test_without_engines_every_usable_one_is_taken_and_onnxruntime_comes_first() -> None:
    usable = [name for name in ENGINES if ENGINES[name].availability().ok]
    torch = [name for name in usable if ENGINES[name].needs_torch_source]
    assert labels(WITH_SOURCE)[0] == "bert/torchscript@onnxruntime-cpu"
    assert len(labels(WITH_SOURCE)) == len(usable)
    assert len(labels(PLAIN)) == len(usable) - len(torch)


def test_a_model_without_source_is_left_out_of_pytorch_engines_and_that_is_said() -> None:
    engines = ("onnxruntime-cpu", "torch-eager")
    assert labels(WITH_SOURCE, PLAIN, engines=engines) == [
        "bert/torchscript@onnxruntime-cpu", "bert/torchscript@torch-eager",
        "bert/dynamo@onnxruntime-cpu",
    ]  # fmt: skip
    assert choose.left_out([WITH_SOURCE, PLAIN], engines, "burnish bench") == (
        (
            "bert/dynamo was not measured on torch-eager, which runs PyTorch modules:"
            " no source.json lies beside it"
        ),
    )
    assert labels(PLAIN, engines=("torch-eager",)) == ["bert/dynamo@torch-eager"]
    assert choose.left_out([PLAIN], ("torch-eager",), "burnish bench") == ()


@pytest.mark.torch
@pytest.mark.parametrize("factory", ["their.package:f", "burnish.evil:f", "os:system"])
def test_foreign_code_runs_only_where_it_is_trusted(factory: str) -> None:
    source = TorchSource("function", factory, {})
    foreign = StoredModel(Path("b/m.onnx"), "m", None, (), source)
    assert not any("torch" in label for label in labels(foreign))
    (note,) = choose.left_out([foreign], (), "burnish bench b/m.onnx")
    assert note == (
        "m was not measured on torch-compile, torch-eager, torch-script: its PyTorch module is"
        f" made by {factory}, which is not burnish's code; read it, and to run it:"
        f" burnish bench b/m.onnx --trust-factory {factory}"
    )
    with pytest.raises(UsageError, match="which is not burnish's code and was not run"):
        labels(foreign, engines=("onnxruntime-cpu", "torch-eager"))
    trusted = dataclasses.replace(foreign, trusted=True)
    assert any("torch" in label for label in labels(trusted))
    assert choose.left_out([trusted], (), "burnish bench b/m.onnx") == ()


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (None, "bert/dynamo@onnxruntime-cpu"),
        ("bert/dynamo@openvino", "bert/dynamo@openvino"),
        ("openvino", "bert/dynamo@openvino"),
    ],
)
def test_a_baseline_is_named_in_full_or_by_what_tells_it_apart(
    asked: str | None, found: str
) -> None:
    among = choose.subjects([PLAIN], ("onnxruntime-cpu", "openvino"), EngineOptions())
    assert choose.baseline(among, asked) == found


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("bert/dynamo", "the baseline 'bert/dynamo' names several subjects"),
        ("openvin", "the baseline 'openvin' is not among the subjects"),
    ],
)
def test_a_baseline_that_fits_none_or_several_is_refused(asked: str, problem: str) -> None:
    among = choose.subjects([PLAIN], ("onnxruntime-cpu", "openvino"), EngineOptions())
    with pytest.raises(UsageError, match=problem) as error:
        choose.baseline(among, asked)
    assert "bert/dynamo@openvino" in error.value.hint
