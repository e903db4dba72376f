"""What `burnish run` makes of its options."""

from __future__ import annotations

import pytest

from burnish.cli import run


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ((), "cpu"),
        (("--engine", "onnxruntime-cpu"), "cpu"),
        (("--engine", "onnxruntime-cuda"), "cuda"),
        (("--engine", "onnxruntime-cuda,tensorrt"), "cuda"),
        (("--engine", "onnxruntime-cuda,onnxruntime-cpu"), "cpu"),
        (("--engine", "onnxruntime-cuda", "--target", "cpu"), "cpu"),
        (("--target", "cuda"), "cuda"),
    ],
)
def test_a_model_is_rewritten_for_where_it_will_run(words: tuple[str, ...], target: str) -> None:
    context = run.command.make_context("run", ["m.onnx", "-o", "out", *words])
    asked = {name: value for name, value in context.params.items() if name != "model"}
    with context.scope():
        assert run._options(asked).optimize.target == target
