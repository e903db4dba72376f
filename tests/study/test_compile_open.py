"""Compiling for every size up to one, and without Winograd's method, as a user asks for it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.codegen.open_size import ClosedSizeError
from burnish.core.errors import UsageError
from burnish.runtime.folder import read
from burnish.study import compiling
from burnish.study.requests.rewriting import CompileCommand
from codegen.models import mlp, model, reference, save, weights


def asked(path: Path, folder: Path, **more: object) -> CompileCommand:
    return CompileCommand(path, output=folder, threads=1, samples=1, **more)  # type: ignore[arg-type]


def test_a_folder_takes_every_size_up_to_the_one_given_and_is_proven_at_several(
    tmp_path: Path,
) -> None:
    path = save(mlp(), tmp_path / "mlp.onnx")
    report = compiling.answer(asked(path, tmp_path / "c", shape={"batch": 8}, up_to="batch"))
    assert report.parity is not None
    assert report.parity.passed
    assert len(report.parity.samples) == 5
    assert any(note.startswith("batch is open up to 8") for note in report.notes)
    assert "--up-to batch" in read(tmp_path / "c").command(tmp_path / "c")
    with burnish.load(tmp_path / "c", threads=1) as loaded:
        for size in (8, 5, 1):
            x = np.random.default_rng(size).standard_normal((size, 8)).astype(np.float32)
            expected = reference(mlp(), {"x": x})["y"]
            np.testing.assert_allclose(loaded.run({"x": x})["y"], expected, rtol=1e-4, atol=1e-5)


def test_a_size_that_cannot_stay_open_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    text = "turn (float[batch, 8] x) => (float[8, batch] y) { y = Transpose(x) }"
    path = save(model(text), tmp_path / "turn.onnx")
    with pytest.raises(ClosedSizeError, match="batch cannot stay open: 'y' has it in an") as raised:
        compiling.answer(asked(path, tmp_path / "c", shape={"batch": 8}, up_to="batch"))
    assert not (tmp_path / "c").exists()
    assert "--shape batch=1 --shape batch=8 --threads 1" in (raised.value.hint or "")
    assert "--up-to" not in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("more", "problem", "hint"),
    [
        ({"shape": {"batch": 1}}, "--shape gives no greatest batch of at least 2", "batch=32"),
        ({}, "--shape gives no greatest batch of at least 2", "batch=32"),
        ({"shape": {"words": 4}}, "gives no greatest batch", "--shape words=4,batch=32"),
        ({"target": "sm_90", "shape": {"batch": 4}}, "not with --target sm_90", "leave --up-to"),
        (
            {"data": Path("x.npz"), "shape": {"batch": 4}},
            "not with --data",
            "leave --up-to batch out",
        ),
    ],
)
def test_an_open_size_needs_a_greatest_and_goes_with_kernels_for_cpus(
    more: dict[str, object], problem: str, hint: str, tmp_path: Path
) -> None:
    path = save(mlp(), tmp_path / "mlp.onnx")
    with pytest.raises(UsageError, match=problem) as raised:
        compiling.answer(asked(path, tmp_path / "c", up_to="batch", **more))
    assert hint in (raised.value.hint or "")


def test_without_winograd_sums_are_as_the_model_has_them(tmp_path: Path) -> None:
    text = """wide (float[1, 64, 28, 28] x) => (float[1, 64, 28, 28] y)
    { y = Conv <pads = [1, 1, 1, 1]> (x, w) }"""
    path = save(model(text, weights(("w", (64, 64, 3, 3)))), tmp_path / "wide.onnx")
    constants = {}
    for winograd in (True, False):
        folder = tmp_path / f"c{winograd}"
        report = compiling.answer(asked(path, folder, tune=False, winograd=winograd))
        constants[winograd] = report.plans[0].constants_bytes
        assert ("--no-winograd" in read(folder).command(folder)) != winograd
    assert constants[False] == 64 * 64 * 9 * 4
    assert constants[True] > constants[False]
