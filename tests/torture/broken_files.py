"""Files that are no models, or whose data beside them is not as the model says, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from onnx import TensorProto, numpy_helper

from torture.protobuf_mutations import NOT_UTF8, bytes_of
from torture.seed_models import small

Content = bytes | Callable[[Path], None]
"""A file's bytes, or what writes `m.onnx` and more into a folder."""


def named() -> dict[str, Content]:
    """Return all of them."""
    return {**_files(), **_beside()}


def _files() -> dict[str, Content]:
    whole = small()["attention"]
    data = whole.SerializeToString()
    return {
        "empty file": b"",
        "one byte": b"\x08",
        "half": data[: len(data) // 2],
        "but the last byte": data[:-1],
        "twice": data + data,
        "text": b"hello\n" * 10,
        "zeros": b"\0" * 1000,
        "text proto": str(whole).encode(),
        "a group that never ends": data + b"\x0b" * 500,
        "deep messages": _deep(2000),
        "folder": lambda folder: (folder / "m.onnx").mkdir(),
        "text proto by suffix": _under("m.textproto", str(whole).encode()),
        "text proto cut": _under("m.textproto", str(whole).encode()[:700]),
        "JSON proto cut": _under(
            "m.onnxjson", b'{"irVersion": "9", "graph": {"node": [' + b"[" * 9
        ),
        "onnxtxt cut": _under("m.onnxtxt", b'<ir_version: 9, opset_import: ["" : 17]> g (float'),
        "fifo": _fifo,
    }


def _deep(levels: int) -> bytes:
    data = b""
    for _ in range(levels):
        # AttributeProto.g (6) in NodeProto.attribute (5) in GraphProto.node (1)
        for number in (6, 5, 1):
            data = bytes([number << 3 | 2]) + _length(len(data)) + data
    return b"\x08\x09" + b"\x3a" + _length(len(data)) + data + b"\x42\x02\x10\x11"


def _length(size: int) -> bytes:
    out = b""
    while True:
        size, low = size >> 7, size & 0x7F
        out += bytes([low | (0x80 if size else 0)])
        if not size:
            return out


def _under(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(data) and None


def _fifo(folder: Path) -> None:
    os.mkfifo(folder / "m.onnx")


def _beside() -> dict[str, Content]:
    """Return models with data in files beside them that are not as the model says."""
    whole = {"location": "w.data", "offset": "0", "length": "16"}
    cases: dict[str, Mapping[str, str]] = {
        "external: fine": whole,
        "external: offset -16": {**whole, "offset": "-16"},
        "external: offset 2**63": {**whole, "offset": str(2**63)},
        "external: offset 3": {**whole, "offset": "3", "length": "16"},
        "external: offset is text": {**whole, "offset": "first"},
        "external: length -1": {**whole, "length": "-1"},
        "external: length 2**70": {**whole, "length": str(2**70)},
        "external: length is text": {**whole, "length": "1e3"},
        "external: no location": {"offset": "0", "length": "16"},
        "external: no entries": {},
        "external: empty location": {**whole, "location": ""},
        "external: absolute": {**whole, "location": "/etc/passwd"},
        "external: above": {**whole, "location": "../w.data"},
        "external: a folder": {**whole, "location": "."},
        "external: NUL": {**whole, "location": "w\0.data"},
        "external: long": {**whole, "location": "w" * 5000},
        "external: itself": {**whole, "location": "m.onnx"},
        "external: a device": {**whole, "location": "/dev/zero"},
        "external: not UTF-8": {**whole, "location": NOT_UTF8},
        "external: escapes": {**whole, "location": "\x1b[31mw.data"},
        "external: a fifo": {**whole, "location": "fifo"},
    }
    return {name: _external(entries) for name, entries in cases.items()}


def _external(entries: Mapping[str, str]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        model = small()["chain"]
        tensor = numpy_helper.from_array(np.arange(4, dtype=np.float32), "w")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=value)
        model.graph.initializer[0].CopyFrom(tensor)
        (folder / "m.onnx").write_bytes(bytes_of(model))
        (folder / "w.data").write_bytes(bytes(18))
        os.mkfifo(folder / "fifo")

    return write
