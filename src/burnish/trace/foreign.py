"""Recordings in forms that no reader knows: what they are, and how to get at them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from burnish.core.errors import ModelError
from burnish.trace.chunks import head as first_bytes

_RECORDED = frozenset({
    ".json", ".jsonl", ".sqlite", ".db", ".nsys-rep", ".qdrep", ".qdstrm", ".ncu-rep", ".pftrace",
    ".perfetto-trace",
})  # fmt: skip
_PACKED = frozenset({".gz", ".xz", ".bz2", ".zst", ".zip"})
_BY_SUFFIX = {
    ".nsys-rep": ("a report of Nsight Systems", "nsys export --type sqlite {}"),
    ".qdrep": ("a report of Nsight Systems", "nsys export --type sqlite {}"),
    ".qdstrm": ("an unfinished report of Nsight Systems", "QdstrmImporter -i {}"),
    ".ncu-rep": ("a report of Nsight Compute, and no timeline", "burnish profile MODEL --ncu"),
    ".pftrace": ("a trace of Perfetto", "traceconv json {} trace.json"),
    ".perfetto-trace": ("a trace of Perfetto", "traceconv json {} trace.json"),
}  # fmt: skip
_BY_BEGIN: tuple[tuple[bytes, str, str], ...] = (
    (b"\xfd7zXZ\x00", "packed by xz", "xz -dk {}"),
    (b"BZh", "packed by bzip2", "bzip2 -dk {}"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "zstd -d {}"),
    (b"PK\x03\x04", "packed by zip", "unzip {}"),
    (b"\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 {} > trace.json"),
    (b"\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 {} > trace.json"),
)  # fmt: skip
_HEAD = 256


def is_called_so(path: Path) -> bool:
    """Return whether a file is named as recordings are; a model in ONNX's form never is."""
    unpacked = path.with_suffix("") if path.suffix in _PACKED else path
    return unpacked.suffix in _RECORDED


def unread(path: Path, known: Callable[[], str]) -> ModelError:
    """Return an error that says what a file is that no reader knows, and what to do with it."""
    head, where = first_bytes(path, _HEAD), shlex.quote(str(path))
    if not head:
        return ModelError(f"{path}: is empty", hint="record it again, or copy it again")
    if (found := _BY_SUFFIX.get(path.suffix)) is not None:
        return ModelError(f"{path}: is {found[0]}", hint=found[1].format(where))
    for begin, what, command in _BY_BEGIN:
        if head.startswith(begin):
            return ModelError(f"{path}: is {what}", hint=f"first: {command.format(where)}")
    return ModelError(
        f"{path}: is in no known trace format (it starts with {head[:24]!r})",
        hint=f"known: {known()}; record one with burnish profile MODEL",
    )
