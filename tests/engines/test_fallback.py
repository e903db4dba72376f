"""What was not obtained is an error, or a note if that is allowed."""

from __future__ import annotations

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.engines.base import Availability, EngineOptions
from burnish.engines.fallback import accepted, level_notes, no_cuda_graph, precision_notes, require

STRICT = EngineOptions(precision="f16", cuda_graph=True, graph_level="basic")
LENIENT = EngineOptions(precision="f16", cuda_graph=True, graph_level="basic", allow_fallback=True)


@pytest.mark.parametrize(
    ("check", "problem", "hint"),
    [
        (lambda options: accepted("it is slower", options), "it is slower",
         "accept it with --allow-fallback"),
        (lambda options: precision_notes(options, "f32"),
         "precision f16 was asked for, the arithmetic is f32",
         "give it a model in f16, or accept it with --allow-fallback"),
        (lambda options: no_cuda_graph(options, "openvino"),
         "engine openvino captures no CUDA graph",
         "use --engine onnxruntime-cuda, or accept it with --allow-fallback"),
    ],
)  # fmt: skip
def test_a_difference_raises_unless_it_is_allowed(check, problem: str, hint: str) -> None:  # noqa: ANN001
    with pytest.raises(MissingCapabilityError) as caught:
        check(STRICT)
    assert (caught.value.problem, caught.value.hint) == (problem, hint)
    assert check(LENIENT) == (problem,)


def test_what_was_asked_for_needs_no_note() -> None:
    options = EngineOptions()
    assert precision_notes(options, "f32") == no_cuda_graph(options, "x") == ()
    assert precision_notes(EngineOptions(precision="f16"), "f16") == level_notes(options, "x") == ()


def test_an_engine_with_one_graph_level_says_so_and_goes_on() -> None:
    expected = ("graph level basic was asked for, openvino always optimises fully",)
    assert level_notes(STRICT, "openvino") == expected


class _Absent:
    name = "absent"

    def availability(self) -> Availability:
        return Availability(ok=False, reason="it is not installed", remedy="pip install absent")


def test_an_engine_that_is_not_here_says_how_to_get_it() -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        require(_Absent())
    assert caught.value.problem == "engine absent cannot be used: it is not installed"
    assert caught.value.hint == "pip install absent"
