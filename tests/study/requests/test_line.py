"""A request is a command line: what is said of it is what a parser makes of that again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.cli.commands import COMMANDS, found, made
from burnish.cli.request import built
from burnish.core.backends import targets
from burnish.store.stored import StoredModel
from burnish.study.requests.judging import BenchCommand, RunCommand, VerifyCommand
from burnish.study.requests.line import joined, line
from burnish.study.requests.looking import ProfileCommand
from burnish.study.requests.option import Positional, RequestField, fields
from burnish.study.requests.several import one_count, one_precision
from burnish.study.requests.vocabulary import one_engine

WORDS = st.text("abcxyz_09 '\"", min_size=1, max_size=8).filter(
    lambda word: word.strip() == word and "," not in word
)
NAMES = st.lists(st.text("abcxyz-", min_size=1, max_size=6).filter(lambda w: w[0] != "-"),
                 min_size=1, max_size=3, unique=True).map(tuple)  # fmt: skip
SHAPE = st.dictionaries(
    st.text("abc", min_size=1, max_size=4), st.integers(1, 512), min_size=1, max_size=3
)
COUNTS = st.lists(st.integers(1, 99), min_size=1, max_size=3, unique=True).map(tuple)
SINGLE = (one_engine, one_count, one_precision)
BY_METAVAR: dict[str, st.SearchStrategy[Any]] = {
    "NAME,…": NAMES,
    "TIME": st.integers(0, 900).map(float),
    "TYPE": st.sampled_from(["f32", "f16", "bf16"]),
    "PRECISION,…": st.lists(
        st.sampled_from(["fp32", "fp16", "bf16", "int8"]), min_size=1, max_size=2, unique=True
    ).map(tuple),
    "SIZE,…": COUNTS,
    "NUMBER,…": COUNTS,
    "TOKENS,…": COUNTS,
    "SHARE": st.floats(0.01, 0.5),
    "SIZE": st.integers(1, 2**40),
    "OLD=NEW,…": st.just({"a": "b"}),
    "|".join(targets()): st.sampled_from(targets()),
}


def values(field: RequestField) -> st.SearchStrategy[Any]:
    """Return values that a field may have, as a user may give them."""
    said = field.said
    if isinstance(said, Positional):
        return st.lists(WORDS, min_size=1, max_size=3).map(tuple) if said.many else WORDS
    if said.metavar == "NAME=SIZE,…":
        one = isinstance(field.default, dict)
        return SHAPE if one else st.lists(SHAPE, min_size=1, max_size=2).map(tuple)
    if said.metavar in BY_METAVAR:
        some = BY_METAVAR[said.metavar]
        return some.map(lambda names: names[0]) if said.read in SINGLE else some
    if isinstance(said.kind, tuple):
        return st.sampled_from(said.kind)
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans() if "/" in field.flags[0] else st.just(True),
        int: st.integers(1, 99),
        float: st.integers(0, 99).map(float),
        Path: WORDS.map(lambda word: Path(f"{word}.new" if said.writes == "file" else word)),
        str: WORDS,
    }
    some = kinds[said.kind]
    listed = said.repeated and said.read is None
    return st.lists(some, min_size=1, max_size=2).map(tuple) if listed else some


@pytest.mark.parametrize("name", [name for name in COMMANDS if " " not in name])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_the_line_of_a_request_asks_the_same(name: str, data: st.DataObject) -> None:
    kind = found("study.requests", COMMANDS[name].request)
    given_ = {
        field.name: data.draw(values(field), label=field.name)
        for field in fields(kind)
        if field.required or (data.draw(st.booleans()) and _is_plain(field))
    }
    request = kind(**given_)
    command, *words = shlex.split(line(request))[1:]
    assert command == name
    context = made(name).make_context(name, words)
    assert built(kind, context) == request


def _is_plain(field: RequestField) -> bool:
    """Return whether a path of the field may be anything: nothing is written or looked at."""
    return isinstance(field.said, Positional) or not field.said.writes


def test_models_are_named_by_their_files_and_what_is_not_given_is_not_said() -> None:
    model = StoredModel(Path("a b.onnx"), "a")
    compiled = StoredModel(Path("c.onnx"), "c", compiled=Path("folder"))
    assert line(BenchCommand([model, compiled])) == "burnish bench 'a b.onnx' folder"
    assert line(VerifyCommand("a", budget=30.0), "--bisect") == "burnish verify a --bisect"
    assert line(ProfileCommand("a", engine="onnxruntime-cpu")) == "burnish profile a"


def test_switches_are_said_both_ways() -> None:
    said = line(RunCommand("a", output="out", trial=False, allow_fallback=True))
    assert said == "burnish run a --output out --no-trial --allow-fallback"


def test_words_that_are_missing_are_left_out() -> None:
    assert joined("bench", "a", None, Path("b c")) == "burnish bench a 'b c'"
