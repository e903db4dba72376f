"""Events are read one by one, whole or damaged, whichever way the pieces fall."""

from __future__ import annotations

import gzip
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from burnish.trace import chunks
from burnish.trace.json_events import EventStream

EVENTS = [{"ph": "X", "name": f"op {at} „ü“", "ts": at} for at in range(40)]


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def taken(path: Path) -> tuple[list[object], EventStream]:
    stream = EventStream(path)
    return list(stream), stream


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("piece", [3, 7, 64, 1 << 20])
def test_events_and_what_stands_beside_them_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, piece: int
) -> None:
    monkeypatch.setattr(chunks, "_CHUNK_BYTES", piece)
    whole = {"schemaVersion": 12, "traceEvents": EVENTS, "traceName": "t"}
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps(whole, indent=indent).encode()))
    events, stream = taken(path)
    assert events == EVENTS
    assert stream.facts == {"schemaVersion": 12, "traceName": "t"}
    assert stream.notes == []


def test_a_bare_list_is_read_too(tmp_path: Path) -> None:
    assert taken(written(tmp_path / "t.json", json.dumps(EVENTS)))[0] == EVENTS


def test_decimals_keep_every_digit(tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", '[{"ph": "X", "ts": 1713954880775517.123}]')
    assert taken(path)[0] == [{"ph": "X", "ts": Decimal("1713954880775517.123")}]


def test_a_damaged_event_is_left_out_and_counted_with_its_place(tmp_path: Path) -> None:
    text = '{"traceEvents": [{"ph": "X", "ts": 1},\n{"ph": "X" "ts": 2},\n{"ph": "X", "ts": 3}]}'
    events, stream = taken(written(tmp_path / "t.json", text))
    assert [event["ts"] for event in events] == [1, 3]  # type: ignore[index]
    assert stream.notes == [
        (
            "1 event cannot be read and left out, the first at character 39 in line 2"
            " (Expecting ',' delimiter)"
        )
    ]


@given(st.integers(1, 1500))
def test_a_file_that_ends_early_gives_what_came_before(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    text = json.dumps({"traceEvents": EVENTS})
    cut = min(length, len(text) - 1)
    path = written(tmp_path_factory.mktemp("cut") / "t.json", text[:cut])
    events, stream = taken(path)
    assert events == EVENTS[: len(events)]
    assert any(note.startswith("the file ends early, at character") for note in stream.notes)


def test_what_is_no_trace_says_where_it_stops_making_sense(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        taken(written(tmp_path / "t.json", "hello"))
    assert caught.value.problem == (
        f"{tmp_path / 't.json'}: cannot be read as a trace, it stops making sense at character 0 in"
        " line 1 (it starts with neither { nor [)"
    )
    assert caught.value.hint == (
        "record it again, and let the program that writes it end by itself"
    )


def test_names_without_values_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="a name and a value are expected"):
        taken(written(tmp_path / "t.json", '{"schemaVersion" 1}'))
    with pytest.raises(ModelError, match="Expecting value"):
        taken(written(tmp_path / "t.json", '{"schemaVersion": x}' + " " * 10))
