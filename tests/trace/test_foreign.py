"""Recordings that cannot be read are named, with the command that makes them readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.trace.foreign import is_called_so
from burnish.trace.formats import read_any


@pytest.mark.parametrize(
    ("name", "data", "problem", "hint"),
    [
        ("a.nsys-rep", b"x", "a report of Nsight Systems", "nsys export --type sqlite"),
        ("a.ncu-rep", b"x", "a report of Nsight Compute", "burnish profile MODEL --ncu"),
        ("a.pftrace", b"\n\x04\x40", "a trace of Perfetto", "traceconv json"),
        ("a.json.xz", b"\xfd7zXZ\x00", "packed by xz", "first: xz -dk"),
        ("a.json.zip", b"PK\x03\x04", "packed by zip", "first: unzip"),
        ("a.json", b"\xff\xfe{\x00", "text in UTF-16", "iconv -f UTF-16"),
        ("a.json", b"", "is empty", "record it again"),
        ("a.jsonl", b"{}", "in no known trace format", "named-tracks"),
    ],
)
def test_what_no_reader_knows_is_named_with_what_to_do(
    tmp_path: Path, name: str, data: bytes, problem: str, hint: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ModelError, match=problem) as caught:
        read_any(path)
    assert hint in caught.value.hint


def test_files_are_called_as_recordings_are_or_as_models_are() -> None:
    assert all(map(is_called_so, map(Path, ("t.json", "t.json.gz", "t.sqlite", "t.nsys-rep"))))
    assert not any(map(is_called_so, map(Path, ("m.onnx", "m.onnx.gz", "m.pb", "m.zip", "m"))))
