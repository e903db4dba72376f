"""What `burnish run` makes of its options."""

from __future__ import annotations

import pytest

from burnish.cli.commands import made
from burnish.cli.request import built
from burnish.study.requests.judging import RunCommand
from burnish.study.rewriting import options_of_run


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
    context = made("run").make_context("run", ["m.onnx", "-o", "out", *words])
    assert options_of_run(built(RunCommand, context)).target == target
