"""Engines that are wrong are found by what they give, and right ones are not refused.

A part of `python -m tests.torture.rates`, whose table stands in docs/verifying.md.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import pytest

from torture.bases.kinds import Kind, cnn, lstm, mlp, transformer, unet
from torture.rates import Judging, verdicts

LAYER, BIAS, CHANNEL, ONE, AXIS = (
    "layer × 1.05", "a bias × 1.05", "channel of zeros", "one wrong bias", "axis off by one",
)  # fmt: skip
NORM, ROOT, TANH = "gamma and beta swapped", "no 1/√d", "tanh for erf"


@functools.cache
def kind_of(make: Callable[[], Kind]) -> Kind:
    """Return a model, which is made once."""
    return make()


@pytest.mark.parametrize(
    ("make", "arithmetic", "errors"),
    [
        (mlp, "f32", (LAYER, BIAS, ONE)),
        (mlp, "tf32", (LAYER, BIAS, CHANNEL)),
        (mlp, "f16", (LAYER, BIAS, ONE)),
        (mlp, "bf16", (LAYER, CHANNEL, ONE, AXIS)),
        (mlp, "bf16 of f32", (LAYER, CHANNEL)),
        (mlp, "int8", (LAYER, CHANNEL, ONE)),
        (cnn, "tf32", (LAYER, NORM)),
        (cnn, "f16", (BIAS, "epsilon")),
        (cnn, "bf16", (LAYER, AXIS)),
        (cnn, "int8", (CHANNEL, NORM)),
        (transformer, "f32", (TANH,)),
        (transformer, "f16", (LAYER, ONE)),
        (transformer, "bf16", (LAYER, ROOT)),
        (lstm, "f16", (LAYER, BIAS)),
        (lstm, "bf16", (CHANNEL,)),
        (unet, "tf32", (LAYER, ONE)),
        (unet, "int8", (LAYER, BIAS)),
    ],
)
def test_wrong_engines_are_found_and_right_ones_are_not_refused(
    make: Callable[[], Kind], arithmetic: str, errors: tuple[str, ...]
) -> None:
    found = list(verdicts(kind_of(make), arithmetic, errors))
    assert [each.error for each in found if not each.is_right] == []
    assert {each.error for each in found} == {"", *errors}


def test_what_is_said_of_an_engine_that_is_off_everywhere_a_little() -> None:
    judging = Judging(kind_of(mlp), "bf16")
    (diff,) = judging.judged(judging.computed(kind_of(mlp).planted(LAYER))).diffs
    assert not diff.passed
    assert "(root mean square), roundings by" in diff.reason
    assert diff.severity > 1
