from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from burnish.core.errors import ModelError
from burnish.store import onnx_files

TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[n, 4] x) => (float[n, 4] y) { a = MatMul(x, w)  y = Add(a, b) }"""
Change = Callable[[TensorProto], None]


def written(folder: Path, change: Change, *, beside: bool) -> Path:
    """Write a model, of which the first weight is changed."""
    proto = onnx.parser.parse_model(TEXT)
    for name, shape in (("w", (4, 4)), ("b", (4,))):
        array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    path = folder / "model.onnx"
    if beside:
        onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
        proto = onnx.load(path, load_external_data=False)
    change(proto.graph.initializer[0])
    path.write_bytes(proto.SerializeToString())
    return path


def said(key: str, value: str) -> Change:
    """Return a change of what is said of data beside a model."""

    def change(tensor: TensorProto) -> None:
        for each in tensor.external_data:
            if each.key == key:
                each.value = value
                return
        tensor.external_data.add(key=key, value=value)

    return change


def more_floats(tensor: TensorProto) -> None:
    tensor.float_data.extend([1.0] * 16)


def raw_too(tensor: TensorProto) -> None:
    tensor.raw_data = bytes(64)


def in_part(tensor: TensorProto) -> None:
    tensor.segment.begin, tensor.segment.end = 0, 8


@pytest.mark.parametrize(
    ("change", "beside", "problem"),
    [
        (more_floats, False, "tensor 'w' has its numbers twice: in raw_data and float_data"),
        (raw_too, True, "tensor 'w' has its numbers twice: in a file beside it and raw_data"),
        (in_part, False, "tensor 'w' is a segment of a tensor only"),
        (said("offset", "-4"), True, "lies beside it at the offset '-4', which is none"),
        (said("length", "many"), True, "lies beside it at the length 'many', which is none"),
        (said("checksum", "0" * 40), True, "w.bin is not what it was when the model was written"),
    ],
)
def test_what_readers_could_take_for_different_numbers_is_refused(
    tmp_path: Path, change: Change, beside: bool, problem: str
) -> None:
    with pytest.raises(ModelError) as refused:
        onnx_files.read(written(tmp_path, change, beside=beside))
    assert problem in refused.value.problem


def test_a_checksum_that_is_right_is_taken_until_the_file_changes(tmp_path: Path) -> None:
    path = written(tmp_path, lambda _: None, beside=True)
    own = hashlib.sha1((tmp_path / "w.bin").read_bytes()).hexdigest()
    proto = onnx.load(path, load_external_data=False)
    said("checksum", own.upper())(proto.graph.initializer[0])
    path.write_bytes(proto.SerializeToString())
    onnx_files.read(path)
    data = bytearray((tmp_path / "w.bin").read_bytes())
    data[5] ^= 1
    (tmp_path / "w.bin").write_bytes(data)
    with pytest.raises(ModelError, match="its checksum is another"):
        onnx_files.read(path)


@pytest.mark.parametrize("beside", [False, True])
def test_what_is_held_once_is_read(tmp_path: Path, beside: bool) -> None:
    model = onnx_files.read(written(tmp_path, lambda _: None, beside=beside))
    assert len(model.graph.initializers) == 2
