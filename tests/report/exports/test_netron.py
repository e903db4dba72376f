from __future__ import annotations

from collections.abc import Callable

from burnish.report.exports.netron import attachment
from burnish.report.graph.picture import Picture
from sample_picture import diamond, sample_picture


def test_the_attachment_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(attachment(sample_picture()), suffix="json")


def test_a_graph_without_times_has_no_metrics() -> None:
    assert '"metrics": []' in attachment(Picture("sample", diamond()))
