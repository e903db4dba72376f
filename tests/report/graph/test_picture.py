from __future__ import annotations

import pytest

from burnish.report.graph.picture import Picture, chosen, overlay
from sample_picture import diamond, sample_picture


def test_a_graph_without_times_has_no_overlay() -> None:
    assert overlay(Picture("sample", diamond())) is None


def test_auto_shows_what_can_be_read() -> None:
    assert chosen(sample_picture(), "auto") == chosen(sample_picture(), "simple")


def test_an_unknown_view_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="'best' is none of auto, full"):
        chosen(sample_picture(), "best")
