"""Events are read whole or damaged, whichever way the pieces fall."""

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
from burnish.trace.json_events import EventStream, JsonEvent, event_of

WRITTEN = [{"ph": "X", "name": f"op {at} „ü“", "ts": at} for at in range(40)]
EVENTS = [event_of(each) for each in WRITTEN]


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def taken(path: Path) -> tuple[list[JsonEvent], EventStream]:
    stream = EventStream(path)
    return list(stream), stream


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("piece", [3, 7, 64, 1 << 20])
def test_events_and_what_stands_beside_them_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, indent: int | None, piece: int
) -> None:
    monkeypatch.setattr(chunks, "_CHUNK_BYTES", piece)
    whole = {"schemaVersion": 12, "traceEvents": WRITTEN, "traceName": "t"}
    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps(whole, indent=indent).encode()))
    events, stream = taken(path)
    assert events == EVENTS
    assert stream.facts == {"schemaVersion": 12, "traceName": "t"}
    assert stream.notes == []


def test_a_bare_list_is_read_too(tmp_path: Path) -> None:
    assert taken(written(tmp_path / "t.json", json.dumps(WRITTEN)))[0] == EVENTS


def test_decimals_keep_every_digit(tmp_path: Path) -> None:
    path = written(tmp_path / "t.json", '[{"ph": "X", "ts": 1713954880775517.123}]')
    assert [event.ts for event in taken(path)[0]] == [Decimal("1713954880775517.123")]


def test_a_damaged_event_is_left_out_and_counted_with_its_place(tmp_path: Path) -> None:
    text = '{"traceEvents": [{"ph": "X", "ts": 1},\n{"ph": "X" "ts": 2},\n{"ph": "X", "ts": 3}]}'
    events, stream = taken(written(tmp_path / "t.json", text))
    assert [event.ts for event in events] == [1, 3]
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
    text = json.dumps({"traceEvents": WRITTEN})
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


FIELDS = st.fixed_dictionaries(
    {"ph": st.just("X"), "name": st.text(max_size=8), "ts": st.integers(0, 10**15)},
    optional={
        "pid": st.integers(0, 9) | st.just("Spans"),
        "args": st.fixed_dictionaries(
            {},
            optional={
                "correlation": st.integers(0, 99),
                "stream": st.integers(-1, 9) | st.just("7"),
                "Input Dims": st.lists(st.lists(st.integers(1, 9), max_size=3), max_size=3),
                "of others": st.lists(st.fixed_dictionaries({"name": st.integers()}), max_size=3),
            },
        ),
    },
)


@given(st.lists(FIELDS, max_size=12), st.sampled_from([None, 1]), st.integers(20, 400))
def test_events_decoded_together_are_those_read_one_by_one(
    tmp_path_factory: pytest.TempPathFactory,
    events: list[dict[str, object]],
    indent: int | None,
    piece: int,
) -> None:
    path = tmp_path_factory.mktemp("any") / "t.json"
    written(path, json.dumps({"traceEvents": events}, indent=indent))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "_CHUNK_BYTES", piece)
        read, stream = taken(path)
    assert [plain(event) for event in read] == [plain(event_of(event)) for event in events]
    assert stream.notes == []


def plain(event: JsonEvent) -> tuple[object, ...]:
    """Return an event without the blanks inside of what is kept as it was written."""
    facts = event.args
    dims = json.loads(bytes(facts.dims)) if facts is not None and bytes(facts.dims) else None
    told = (facts.correlation, facts.stream) if facts is not None else (None, None)
    return (event.ph, event.name, event.ts, event.pid, *told, dims)
