"""All of ONNX's own node tests whose types a card has, through Triton kernels on the card."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from burnish.cuda.nvidia import NvidiaDriver
from tile.node_tests import cases

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(900)]

EVERY = int(os.environ.get("BURNISH_EVERY_NODE_TEST", "1"))
"""One of so many is run; all, unless time on a card is short."""


def test_node_tests_pass_through_triton_kernels_on_the_card(
    card: NvidiaDriver, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    import card_node_tests

    names = [case.name for case in cases()[::EVERY] if case.obstacle is None]
    wrong = card_node_tests.failures(names, tmp_path)
    told = "\n".join(f"{name}: {reason}" for name, reason in sorted(wrong.items()))
    assert not wrong, f"{len(wrong)} of {len(names)} fail on {card.device.name}:\n{told}"
    assert len(names) > 1000 // EVERY
