from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.report.exports.by_suffix import WRITERS, Look, writer_for
from sample_picture import sample_picture


@pytest.mark.parametrize("ending", WRITERS)
def test_every_ending_is_written(ending: str) -> None:
    assert writer_for(Path(f"a{ending}")) is WRITERS[ending]
    assert len(WRITERS[ending](sample_picture(), Look())) > 100


def test_the_longest_ending_is_meant() -> None:
    assert writer_for(Path("a.NETRON.json")) is WRITERS[".netron.json"]
    assert writer_for(Path("netron.json")) is WRITERS[".json"]


def test_an_unknown_ending_is_told_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match=r"a\.png: its ending says no format") as caught:
        writer_for(Path("out/a.png"))
    assert ".svg, .html" in caught.value.hint
