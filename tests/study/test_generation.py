from __future__ import annotations

import dataclasses

import pytest

from burnish.core.errors import CheckFailedError
from burnish.study.export import require_generation
from burnish.study.export_report import GenerationCheck

SAME = GenerationCheck((1, 2, 3), (1, 2, 3), 3, 0.0, 1.0, 0.0)


def _parted(regret: float) -> GenerationCheck:
    return dataclasses.replace(SAME, written=(1, 4, 4), agreeing=2, largest_regret=regret)


def test_the_same_tokens_pass() -> None:
    require_generation(SAME, arithmetic="f32")


def test_in_f32_any_other_token_fails() -> None:
    with pytest.raises(CheckFailedError, match="1 of 3 tokens before they part") as raised:
        require_generation(_parted(1e-9), arithmetic="f32")
    assert raised.value.hint == "try the other --exporter; --no-generation skips this check"


def test_with_fewer_bits_a_tie_may_be_broken_either_way() -> None:
    require_generation(_parted(0.005), arithmetic="f16")
    message = "it prefers a token that PyTorch holds 0.5 below its own"
    with pytest.raises(CheckFailedError, match=message):
        require_generation(_parted(0.5), arithmetic="f16")
