"""Exports of the zoo without what the zoo makes anew, restored byte for byte where they are needed.

    python benchmarks/referred.py pack STORE FOLDER        # FOLDER/NAME.tar.xz of each that is new
    python benchmarks/referred.py make FOLDER/NAME.tar.xz STORE

An export takes minutes of a processor, its weights are most of its bytes, and the zoo draws them
from a seed. So what is a parameter, a buffer or an input of the module (as it lies in memory, or a
matrix the other way round) is kept as its name, and all else as it is. `make` builds the module
and joins the pieces; a file that is not what it was, by its checksum (another version of PyTorch
may draw otherwise), is said to be none, and nothing is left behind. What the module computed from
its recorded inputs is left out: it is as large as an image, and compared when a model is exported.
`weightless.py` draws weights like those that were there, which is enough where results are not
looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import ModelProto, TensorProto
from weightless import added, tensors

from burnish.core.errors import BurnishError
from burnish.core.files import folder_written_beside
from burnish.store.exported import folder_of
from burnish.store.layout import SOURCE_FILE
from burnish.zoo import factory
from burnish.zoo.entry import BuiltModel, NetworkOptions

LEAST_BYTES = 512
"""Fewer are kept as they are."""
AS_IT_LIES, TURNED = "", "turned"
TOLD = "told.json"
LEFT_OUT = "output_*.pb"
LARGEST_BYTES = 2 * 2**20
"""What takes more room is exported where it is needed: a call carries 64 MiB in all."""


class OtherExportError(Exception):
    """What was joined is not what was taken apart."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a file, one behind the other."""

    bytes: int
    name: str = ""
    """The tensor that they are; empty: they are kept."""
    way: str = AS_IT_LIES


Kept = tuple[list[Piece], bytes]
"""The pieces of a file, and the bytes of those that are kept."""


def digest(data: bytes | memoryview) -> str:
    """Return what equal bytes have in common."""
    return hashlib.sha256(data).hexdigest()


def raw(tensor: Any, way: str) -> bytes:  # noqa: ANN401  (of torch)
    """Return the bytes of a tensor as it lies, or turned round."""
    import torch

    turned = tensor.detach().t() if way == TURNED else tensor.detach()
    data: bytes = turned.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    return data


def made(built: BuiltModel) -> dict[str, Any]:
    """Return all tensors that building a model makes, by names that are the same every time."""
    module = {f"module.{name}": each for name, each in built.module.state_dict().items()}
    inputs = {f"input.{name}": each for name, each in built.inputs.items()}
    second = {f"second.{name}": each for name, each in built.second_inputs.items()}
    return {**module, **inputs, **second}


def references(built: Mapping[str, Any]) -> dict[str, Piece]:
    """Return what each tensor would be instead of bytes, by their digest."""
    found: dict[str, Piece] = {}
    for name, tensor in built.items():
        for way in (AS_IT_LIES, TURNED) if tensor.dim() == 2 else (AS_IT_LIES,):
            data = raw(tensor, way)
            if len(data) >= LEAST_BYTES:
                found.setdefault(digest(data), Piece(len(data), name, way))
    return found


def taken_apart(data: bytes, spans: Sequence[tuple[int, int]], known: Mapping[str, Piece]) -> Kept:
    """Return the pieces of a file whose tensors lie in spans, and what is kept of its bytes."""
    pieces: list[Piece] = []
    kept = bytearray()
    last = 0
    for first, size in sorted(spans):
        reference = known.get(digest(memoryview(data)[first : first + size]))
        if reference is None or first < last:
            continue
        if first > last:
            pieces.append(Piece(first - last))
            kept += data[last:first]
        pieces.append(reference)
        last = first + size
    pieces.append(Piece(len(data) - last))
    return pieces, bytes(kept + data[last:])


def joined(pieces: Sequence[Piece], kept: bytes, built: Mapping[str, Any]) -> bytes:
    """Return the file that was taken apart."""
    found, place = [], 0
    for piece in pieces:
        if piece.name:
            if piece.name not in built:
                raise OtherExportError(f"the model has no {piece.name}")
            found.append(raw(built[piece.name], piece.way))
        else:
            found.append(kept[place : place + piece.bytes])
            place += piece.bytes
    return b"".join(found)


def spans_of(path: Path) -> list[tuple[int, int]]:
    """Return where tensors lie in a file of an export: first byte and bytes of each."""
    data = path.read_bytes()
    if path.suffix == ".pb":
        return list(_inside(data, [TensorProto.FromString(data)]))
    if path.suffix == ".onnx":
        model = onnx.load(str(path), load_external_data=False)
        return list(_inside(data, tensors(model.graph)))
    return [
        span
        for model in sorted(path.parent.glob("*.onnx"))
        for span in _beside(onnx.load(str(model), load_external_data=False), path.name)
    ]


def _inside(
    data: bytes, held: Iterator[TensorProto] | list[TensorProto]
) -> Iterator[tuple[int, int]]:
    """Yield where the bytes of tensors lie in the file that they were read from."""
    last = 0
    for tensor in held:
        size = len(tensor.raw_data)
        if size >= LEAST_BYTES:
            # tensors are mostly written in their order, but those of attributes stand before
            first = data.find(tensor.raw_data, last)
            first = data.find(tensor.raw_data) if first < 0 else first
            last = first + size
            yield first, size


def _beside(model: ModelProto, name: str) -> Iterator[tuple[int, int]]:
    """Yield where tensors of a model lie in a file beside it."""
    for tensor in tensors(model.graph):
        told = {each.key: each.value for each in tensor.external_data}
        if told.get("location") == name:
            yield int(told.get("offset", 0)), int(told["length"])


def built_of(folder: Mapping[str, Any]) -> dict[str, Any]:
    """Return all tensors of the model that an export says it was made from."""
    if folder.get("origin") != "zoo":
        raise OtherExportError("it is of no entry of the zoo")
    return made(factory.build(folder["name"], NetworkOptions(**folder["arguments"])))


def pack(store: Path, folder: Path) -> None:
    """Write the exports of a store, an archive of each; what was written before is not again."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in sorted(store.glob(f"*/*/{SOURCE_FILE}")):
        archive = folder / f"{source.parents[1].name}.tar.xz"
        if archive.is_file() and archive.stat().st_mtime > source.stat().st_mtime:
            continue
        fresh = archive.with_suffix(".new")
        with tarfile.open(fresh, "w:xz", preset=9) as out:
            left, whole = _packed(source.parent, out)
        told = f"{archive.name}: {left >> 10} of {whole >> 10} KiB are kept"
        if (size := fresh.stat().st_size) > LARGEST_BYTES:
            fresh.unlink()
            print(f"{told}, {size >> 10} KiB packed: too large to be carried", flush=True)
            continue
        fresh.replace(archive)
        print(told, flush=True)


def _packed(folder: Path, out: tarfile.TarFile) -> tuple[int, int]:
    """Write the files of an export in pieces; return how many bytes were kept, and had."""
    known = references(built_of(json.loads((folder / SOURCE_FILE).read_text())))
    place = f"{folder.parent.name}/{folder.name}"
    told: dict[str, Any] = {}
    left = whole = 0
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    for path in (each for each in files if not each.match(LEFT_OUT)):
        data, name = path.read_bytes(), str(path.relative_to(folder))
        pieces, kept = taken_apart(data, spans_of(path), known)
        rows = [[piece.bytes, piece.name, piece.way] for piece in pieces]
        told[name] = {"digest": digest(data), "pieces": rows}
        left, whole = left + len(kept), whole + len(data)
        added(out, f"{place}/{name}", kept)
    added(out, f"{place}/{TOLD}", json.dumps(told).encode())
    return left, whole


def make(archive: Path, store: Path) -> Path:
    """Restore the export of an archive into a store; return its folder."""
    with tarfile.open(archive) as given:
        files = ((member.name, given.extractfile(member)) for member in given)
        held = {name: file.read() for name, file in files if file is not None}
    told_at = next((each for each in held if each.endswith(f"/{TOLD}")), None)
    if told_at is None:
        raise OtherExportError(f"{archive} has no {TOLD}")
    place = told_at.removesuffix(f"/{TOLD}")
    built = built_of(json.loads(held[f"{place}/{SOURCE_FILE}"]))
    restored = {
        path: _restored(path, told, held[f"{place}/{path}"], built)
        for path, told in json.loads(held[told_at]).items()
    }
    folder = store / place
    onnx_file = folder / next(path for path in restored if path.endswith(".onnx"))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder_written_beside(folder, folder_of(onnx_file)) as fresh:
        for path, data in restored.items():
            (fresh / path).parent.mkdir(parents=True, exist_ok=True)
            (fresh / path).write_bytes(data)
    return folder


def _restored(path: str, told: Mapping[str, Any], kept: bytes, built: Mapping[str, Any]) -> bytes:
    data = joined([Piece(*each) for each in told["pieces"]], kept, built)
    if digest(data) != told["digest"]:
        raise OtherExportError(f"{path} is not what it was: the zoo draws something else here")
    return data


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1: what was carried cannot be restored here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["pack", "make"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    asked = parser.parse_args(arguments)
    if asked.what == "pack":
        pack(asked.source, asked.target)
        return 0
    try:
        print(f"restored {make(asked.source, asked.target)}", flush=True)
    except (OtherExportError, OSError, tarfile.TarError, BurnishError) as error:
        print(f"{asked.source.name} is not restored: {error}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
