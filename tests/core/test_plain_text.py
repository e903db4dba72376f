"""Nothing that is shown moves the cursor, hides something, or pretends to be another line."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.plain_text import encodable, encodable_json, plain, plain_lines, upright


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("encoder/layer.0", "encoder/layer.0"),
        ("größe × µ 層", "größe × µ 層"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\nburnish: b", "a\\nburnish: b"),
        ("a\rb\tc\x00\x7f\x9b", "a\\rb\\tc\\x00\\x7f\\x9b"),
        ("\u202egnp.exe\u2066", "\\u202egnp.exe\\u2066"),
        ("half \ud800", "half \\ud800"),
        ("non\xa0breaking", "non\xa0breaking"),
    ],
)
def test_what_does_not_show_is_written_out(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(st.text())
def test_plain_text_is_one_line_that_shows(text: str) -> None:
    shown = plain(text)
    assert shown.splitlines() in ([], [shown])
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert plain(shown) == shown


def test_lines_stay_lines() -> None:
    assert plain_lines("a\n\x1bb\n") == "a\n\\x1bb\n"


@given(st.text(), st.sampled_from(["ascii", "latin-1", "utf-8", "cp1252"]))
def test_text_fits_any_encoding(text: str, encoding: str) -> None:
    encodable(text, encoding).encode(encoding)


def test_our_own_signs_are_spelled_where_they_lack() -> None:
    assert encodable("1.28× – 93 µs … ≤ 2", "ascii") == "1.28x - 93 us ... <= 2"
    assert encodable("1.28×", "utf-8") == "1.28×"


JSON = st.recursive(
    st.none() | st.text(), lambda some: st.lists(some) | st.dictionaries(st.text(), some)
)


@given(JSON, st.sampled_from(["ascii", "utf-8"]))
def test_json_says_the_same_in_any_encoding(data: object, encoding: str) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    shown = encodable_json(text, encoding)
    assert json.loads(shown) == json.loads(text)
    assert plain_lines(shown) == shown
    shown.encode(encoding)


def test_nothing_turns_what_follows_around() -> None:
    assert upright("a\u202eb\u2069c שלום") == "a\ufffdb\ufffdc שלום"
