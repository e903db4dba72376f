"""Guess what a file is that turned out not to be an ONNX model."""

from __future__ import annotations

from pathlib import Path

EXPORT = "export it to ONNX first"

_BEGINNINGS = (
    (b"PK\x03\x04", "it starts like a zip archive (a PyTorch file?)", EXPORT),
    (b"\x80", "it starts like a Python pickle (a PyTorch file?)", EXPORT),
    (b"\x89HDF", "it starts like an HDF5 file (a Keras model?)", EXPORT),
    (b"GGUF", "it starts like a GGUF file (llama.cpp)", EXPORT),
    (b"version https://git-lfs", "it is a Git LFS pointer, not the file itself", "git lfs pull"),
    (b"\x1f\x8b", "it starts like a gzip archive", "unpack it with gunzip first"),
    (b"<", "it starts like a web page or XML", "download or export the model again"),
    (b"{", "it starts like JSON text", "pass the .onnx file itself"),
)
_ANYWHERE = (
    (b"TFL3", "it looks like a TensorFlow Lite model", EXPORT),
    (b"ORTM", "it looks like an ONNX Runtime .ort file", "pass the .onnx file it was made from"),
)


def guess(path: Path) -> tuple[str, str]:
    """Return what the beginning of a file looks like, and what to do about it."""
    with path.open("rb") as stream:
        head = stream.read(64)
    for beginning, finding, hint in _BEGINNINGS:
        if head.startswith(beginning):
            return finding, hint
    for mark, finding, hint in _ANYWHERE:
        if mark in head[:16]:
            return finding, hint
    if head[8:10] == b'{"':
        return "it starts like a safetensors file", EXPORT
    if head[:1] == b"\x08":
        return "it starts like ONNX but is cut short or damaged", "copy or download it again"
    return f"its first bytes are {head[:8].hex(' ')}", "copy or download it again"
