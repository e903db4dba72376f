"""Whatever is wrong with JSON or TOML is one error that says where."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core import documents
from burnish.core.errors import ModelError

DEEP = "[" * 100_000


def test_good_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": [1, "é"]}', encoding="utf-8")
    (tmp_path / "a.toml").write_text('a = ["é"]', encoding="utf-8")
    assert documents.read_json(tmp_path / "a.json", hint="h") == {"a": [1, "é"]}
    assert documents.read_toml(tmp_path / "a.toml", hint="h") == {"a": ["é"]}


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (b'{"a" 1}', "is not JSON (Expecting ':' delimiter: line 1 column 6 (char 5))"),
        (b'{"a": "\xff"}', "is not JSON (byte 7 is no UTF-8)"),
        (DEEP.encode(), "is not JSON (it is nested too deeply)"),
        (b"9" * 5000, "is not JSON (Exceeds the limit (4300 digits)"),
    ],
)
def test_json_that_makes_no_sense(tmp_path: Path, text: bytes, finding: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text)
    with pytest.raises(ModelError) as caught:
        documents.read_json(path, hint="write it again")
    assert caught.value.problem.startswith(f"{path}: {finding}")
    assert caught.value.hint == "write it again"


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        (b"a = ", "is not TOML (Invalid value (at end of document))"),
        (b'a = "\xff"', "is not TOML (byte 5 is no UTF-8)"),
        (b"a = " + DEEP.encode(), "is not TOML (it is nested too deeply)"),
    ],
)
def test_toml_that_makes_no_sense(tmp_path: Path, text: bytes, finding: str) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(text)
    with pytest.raises(ModelError) as caught:
        documents.read_toml(path, hint="write it again")
    assert caught.value.problem == f"{path}: {finding}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be read \(No such file or directory\)"):
        documents.read_json(tmp_path / "none.json", hint="h")


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for parse in (documents.parse_json, documents.parse_toml):
        with contextlib.suppress(ModelError):
            parse(data, "x", hint="h")
