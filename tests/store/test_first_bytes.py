from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.store import onnx_files

CASES = [
    (b"PK\x03\x04rest", r"a zip archive \(a PyTorch file\?\)", "export it to ONNX first"),
    (b"\x80\x02}q\x00", r"a Python pickle \(a PyTorch file\?\)", "export it to ONNX first"),
    (b"\x89HDF\r\n", r"an HDF5 file \(a Keras model\?\)", "export it to ONNX first"),
    (b"GGUF\x03\0\0\0", r"a GGUF file", "export it to ONNX first"),
    (b"\x1c\0\0\0TFL3\0\0", "a TensorFlow Lite model", "export it to ONNX first"),
    (b"\x1c\0\0\0ORTM\0\0", r"an ONNX Runtime \.ort file", "pass the .onnx file it was made from"),
    (b'\x40\0\0\0\0\0\0\0{"a":1}', "a safetensors file", "export it to ONNX first"),
    (b"version https://git-lfs.github.com/spec/v1", "a Git LFS pointer", "git lfs pull"),
    (b"\x1f\x8b\x08", "a gzip archive", "unpack it with gunzip first"),
    (b"<!DOCTYPE html>", "a web page or XML", "download or export the model again"),
    (b'{"a": 1}', "JSON text", "pass the .onnx file itself"),
    (b"\x07garbage!", "its first bytes are 07 67 61 72", "copy or download it again"),
    (b"\x08\x0a\x3a\xff\xff", "like ONNX but is cut short", "copy or download it again"),
]


@pytest.mark.parametrize(("content", "finding", "hint"), CASES)
def test_a_file_that_is_no_model_is_recognised(
    tmp_path: Path, content: bytes, finding: str, hint: str
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=f"is not an ONNX model; .*{finding}") as error:
        onnx_files.read(path)
    assert error.value.hint == hint
