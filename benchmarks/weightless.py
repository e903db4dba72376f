"""Models without their weights, small enough to be carried where they are to be measured.

    python benchmarks/weightless.py pack FOLDER ARCHIVE.tar.xz     # FOLDER/NAME/…/*.onnx
    python benchmarks/weightless.py make ARCHIVE.tar.xz FOLDER [NAME …]

A tensor of floats that takes room, and that xz cannot shrink to a twelfth, is kept as its shape,
mean, deviation, least and greatest, and drawn anew by these. All else (indices, masks, tables,
zeros) stays as it is, and so does the graph: kernels of such a model take as long as those of the
one it was, and what it computes says nothing.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import GraphProto, ModelProto, TensorProto, numpy_helper

LARGE_BYTES = 4096
"""Tensors of up to so many bytes stay as they are."""
SHRUNK = 12
"""What xz makes so many times smaller is a table or nothing but zeros, and stays."""
HEAD_BYTES = 1 << 16
"""Looked at first: whether the beginning of a tensor shrinks."""
FLOATS = frozenset({TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16})


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is known of a tensor whose numbers were left out."""

    mean: float
    deviation: float
    least: float
    greatest: float

    def numbers(self, tensor: TensorProto, seed: Sequence[int]) -> np.ndarray[Any, Any]:
        """Return numbers like those that were left out."""
        random = np.random.default_rng(seed)
        values = random.standard_normal(tuple(tensor.dims), np.float32)
        values = values * np.float32(self.deviation) + np.float32(self.mean)
        values = np.clip(values, self.least, self.greatest)
        return values.astype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))


def tensors(graph: GraphProto) -> Iterator[TensorProto]:
    """Yield all constants of a graph, and of the graphs inside of its nodes, in a fixed order."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            inner = [attribute.g] if attribute.HasField("g") else []
            for each in (*inner, *attribute.graphs):
                yield from tensors(each)


def drawn_of(tensor: TensorProto) -> Drawn | None:
    """Return what is to be drawn in place of a tensor; None: it stays."""
    if tensor.data_type not in FLOATS:
        return None
    values = numpy_helper.to_array(tensor)
    if values.nbytes <= LARGE_BYTES or _shrinks(values.tobytes()):
        return None
    wide = values.astype(np.float64)
    return Drawn(float(wide.mean()), float(wide.std()), float(wide.min()), float(wide.max()))


def _shrinks(data: bytes) -> bool:
    parts = (data[:HEAD_BYTES], data)
    return all(len(lzma.compress(part, preset=1)) * SHRUNK < len(part) for part in parts)


def without_weights(model: ModelProto) -> dict[int, Drawn]:
    """Take large numbers out of a model; return what is known of each, by its place."""
    found = {}
    for place, tensor in enumerate(tensors(model.graph)):
        drawn = drawn_of(tensor)
        if drawn is None:
            continue
        found[place] = drawn
        kept = TensorProto(data_type=tensor.data_type, dims=tensor.dims, name=tensor.name)
        tensor.CopyFrom(kept)
    return found


def fill(model: ModelProto, drawn: dict[int, Drawn], name: str) -> None:
    """Draw the numbers of a model that were left out; the same ones for the same name."""
    for place, tensor in enumerate(tensors(model.graph)):
        if place in drawn:
            seed = (place, zlib.crc32(name.encode()))
            tensor.raw_data = drawn[place].numbers(tensor, seed).tobytes()


def pack(folder: Path, archive: Path) -> None:
    """Write the models of a folder without their weights."""
    with tarfile.open(archive, "w:xz", preset=9) as out:
        for each in sorted(folder.iterdir()):
            for path in sorted(each.rglob("*.onnx"))[:1]:
                model = onnx.load(str(path))
                drawn = {place: asdict(one) for place, one in without_weights(model).items()}
                added(out, f"{each.name}.json", json.dumps(drawn).encode())
                added(out, f"{each.name}.onnx", model.SerializeToString())
                print(f"{each.name}: {len(drawn)} tensors are drawn")


def make(archive: Path, folder: Path, names: Sequence[str] = ()) -> dict[str, Path]:
    """Write the models of an archive, or those that are named; return where they are."""
    found = {}
    with tarfile.open(archive) as given:
        held = {member.name: member for member in given}
        for name in sorted({Path(each).stem for each in held}):
            if names and name not in names:
                continue
            told, text = (given.extractfile(held[f"{name}.{kind}"]) for kind in ("json", "onnx"))
            if told is None or text is None:
                raise SystemExit(f"{archive}: {name} is no file")
            model = ModelProto.FromString(text.read())
            fill(model, {int(k): Drawn(**v) for k, v in json.load(told).items()}, name)
            found[name] = folder / name / f"{name}.onnx"
            found[name].parent.mkdir(parents=True, exist_ok=True)
            onnx.save(model, str(found[name]))
    return found


def added(out: tarfile.TarFile, name: str, data: bytes) -> None:
    """Write a file into an archive."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    out.addfile(member, io.BytesIO(data))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["pack", "make"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args(arguments)
    if asked.what == "pack":
        pack(asked.source, asked.target)
        return
    for name, path in make(asked.source, asked.target, asked.names).items():
        print(f"{name}: {path}")


if __name__ == "__main__":
    main()
