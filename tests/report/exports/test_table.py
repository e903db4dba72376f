from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest

from burnish.core import records
from burnish.report.exports import table
from burnish.report.graph.picture import Picture
from sample_picture import US, changed_picture, diamond, sample_picture


def test_the_csv_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(table.as_csv(changed_picture()), suffix="csv")


def test_the_markdown_is_as_it_was_accepted(golden: Callable[..., None]) -> None:
    golden(table.as_markdown(sample_picture()), suffix="md")


def test_the_json_is_a_document_that_reads_back() -> None:
    found = table.table(sample_picture())
    assert records.decode(table.NodeTable, records.encode(found)) == found
    assert '"kind": "node-table"' in table.as_json(sample_picture())


def test_seconds_of_all_rows_add_up_to_the_work() -> None:
    rows = list(csv.DictReader(io.StringIO(table.as_csv(sample_picture()))))
    assert sum(float(row["seconds"] or 0) for row in rows) == pytest.approx(69 * US)
    assert rows[-1]["node"] == "unattributed"


def test_every_node_has_a_row_also_without_times() -> None:
    picture = Picture("sample", diamond())
    assert len(table.table(picture).rows) == 7
    assert table.as_markdown(picture).endswith("7 nodes, no trace.\n")
    assert "unattributed" not in table.as_csv(picture)


def test_a_long_table_says_what_it_leaves_out() -> None:
    assert "5 more nodes not shown" in table.as_markdown(sample_picture(), most=2)
