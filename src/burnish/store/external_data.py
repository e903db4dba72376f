"""Weights that lie in files beside a model: found, checked without reading them, and written."""

from __future__ import annotations

import itertools
import mmap
import re
import shlex
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.core.hashing import file_key

STAYS_INSIDE_BYTES = 1024
"""Smaller tensors stay in the model, where shape inference can see them."""
_SINGLE_FILE_LIMIT_BYTES = 2**30
"""A protobuf ends at 2 GiB, and writing one needs its size in memory twice."""
_LARGE_BYTES = 2**20
_LONGEST_SHOWN = 200
_PAGE = 4096
_LINE = 64


def attach(tensors: Iterable[ir.ExternalTensor], path: Path) -> None:
    """Tell the external tensors of a fresh model where they are, and check that they are there."""
    folder = path.absolute().parent
    for tensor in tensors:
        tensor.base_dir = str(folder)
        _check(tensor, path, folder)


def external_tensors(model: ir.Model) -> Iterator[ir.ExternalTensor]:
    """Yield every tensor of a model whose data lies outside of it."""
    for tensor in _tensors(model):
        if isinstance(tensor, ir.ExternalTensor):
            yield tensor


def let_go(tensor: ir.TensorProtocol | None) -> None:
    """Give back the memory in which a tensor that lies in a file was read; it stays readable."""
    if not isinstance(tensor, ir.ExternalTensor) or tensor.raw is None:
        return
    if hasattr(mmap, "MADV_DONTNEED"):
        offset = tensor.offset or 0
        start = offset // mmap.PAGESIZE * mmap.PAGESIZE
        tensor.raw.madvise(mmap.MADV_DONTNEED, start, offset + tensor.nbytes - start)


def files(model: ir.Model) -> tuple[Path, ...]:
    """Return the data files of a model, each once, by name."""
    return tuple(sorted({Path(tensor.path) for tensor in external_tensors(model)}))


def is_wanted(model: ir.Model) -> bool:
    """Return whether the weights go to a file of their own: they came from one, or are many."""
    tensors = [value.const_value for value in _initialized(model)]
    if any(isinstance(tensor, ir.ExternalTensor) for tensor in tensors):
        return True
    return sum(map(_bytes, tensors)) > _SINGLE_FILE_LIMIT_BYTES


def unload(model: ir.Model, folder: Path, stem: str) -> dict[str, str]:
    """Move the weights of `model`, which is changed, into a file of `folder`; return its key.

    The file's name holds its content's key: whatever moment a crash comes at, a model finds
    either the weights it was written with, or none.
    """
    values = [value for value in _initialized(model) if _moves(value.const_value)]
    if not values:
        return {}
    draft = folder / "weights"
    with draft.open("wb") as stream:
        offsets = _write_each_once(values, stream)
    key = file_key(draft)
    name = f"{stem}.{key[:12]}.data"
    draft.rename(folder / name)
    for value in values:
        tensor = value.const_value
        assert tensor is not None
        value.const_value = ir.ExternalTensor(
            name, offsets[_identity(tensor)], tensor.nbytes, tensor.dtype,
            shape=ir.Shape(tensor.shape.numpy()), name=value.name or "",
            doc_string=tensor.doc_string, base_dir=str(folder),
        )  # fmt: skip
    return {name: key}


def inline_the_rest(model: ir.Model, kept: str) -> None:
    """Bring all external tensors of `model`, which is changed, inside; but not those in `kept`."""
    for value in _initialized(model):
        tensor = value.const_value
        if isinstance(tensor, ir.ExternalTensor) and tensor.base_dir != kept:
            value.const_value = _in_memory(tensor)
    for node in _nodes(model):
        for name, attribute in node.attributes.items():
            node.attributes[name] = _inlined(attribute)


def outdated(path: Path, model: ir.Model | None) -> tuple[Path, ...]:
    """Return the data files that belong to the model at `path` alone: no other names them."""
    if model is None:
        return ()
    ours = re.compile(rf"{re.escape(path.name)}\.data|{re.escape(path.stem)}\.[0-9a-f]{{12}}\.data")
    folder = path.absolute().parent
    found = [f for f in files(model) if f.parent == folder and ours.fullmatch(f.name)]
    others = [f for f in folder.glob("*.onnx*") if f.name != path.name and f not in found]
    return tuple(file for file in found if not any(_names(other, file) for other in others))


def _names(model: Path, file: Path) -> bool:
    """Say whether a model may keep data in a file: whether the name occurs in it anywhere."""
    if not model.is_file() or not model.stat().st_size:
        return False
    with model.open("rb") as stream:
        content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        return content.find(file.name.encode()) >= 0


def remove(old: tuple[Path, ...], *, new: tuple[Path, ...], user: ir.Model) -> None:
    """Delete data files that were replaced; tensors of `user` in them stay readable."""
    doomed = set(old) - set(new)
    for tensor in external_tensors(user):
        if Path(tensor.path) in doomed:
            tensor.numpy()
    for file in doomed:
        file.unlink(missing_ok=True)


def _check(tensor: ir.ExternalTensor, path: Path, folder: Path) -> None:
    about = f"{path}: tensor {tensor.name!r} lies in {_shortened(tensor.location)!r}"
    try:
        file = Path(tensor.path)
        file.stat()
    except FileNotFoundError:
        pass
    except (TypeError, ValueError, OSError) as error:
        raise ModelError(
            f"{about}, which cannot be a file ({_shortened(error)})",
            hint="export the model again: its file contradicts itself",
        ) from error
    if not file.resolve().is_relative_to(folder.resolve()):
        raise ModelError(
            f"{about}, which is outside of the model's folder {folder}",
            hint="put both into one folder, links followed:"
            f" cp -L {_quoted(path, file)} NEW_FOLDER/",
        )
    if not file.is_file():
        raise ModelError(
            f"{about}, which does not exist in {folder}",
            hint=f"copy {tensor.location} from where the model came from to {folder}",
        )
    _check_extent(tensor, file, about)


def _quoted(*places: Path) -> str:
    return shlex.join(map(str, places))


def _shortened(text: object) -> str:
    return str(text) if len(str(text)) < _LONGEST_SHOWN else f"{str(text)[:_LONGEST_SHOWN]}…"


def _check_extent(tensor: ir.ExternalTensor, file: Path, about: str) -> None:
    hint = f"copy {tensor.location} again from where the model came from"
    if tensor.length is not None and tensor.length not in (0, tensor.nbytes):
        raise ModelError(
            f"{about} with {tensor.length:,} bytes, its type and shape need {tensor.nbytes:,}",
            hint="export the model again: its file contradicts itself",
        )
    status = file.stat()
    needed = (tensor.offset or 0) + tensor.nbytes
    if status.st_size < needed:
        raise ModelError(
            f"{about}, which is too short: expected at least {needed:,} bytes,"
            f" found {status.st_size:,}",
            hint=hint,
        )
    if status.st_nlink > 1:
        copy = file.with_name(f"{file.name}.copy")
        raise ModelError(
            f"{about}, which has {status.st_nlink} hard links (onnx-ir refuses to read such files)",
            hint="replace the link by a copy:"
            f" cp {_quoted(file, copy)} && mv {_quoted(copy, file)}",
        )


def _tensors(model: ir.Model) -> Iterator[ir.TensorProtocol]:
    for value in _initialized(model):
        if value.const_value is not None:
            yield value.const_value
    for node in _nodes(model):
        for attribute in node.attributes.values():
            if attribute.is_ref():
                continue
            if attribute.type is ir.AttributeType.TENSOR:
                yield attribute.as_tensor()
            elif attribute.type is ir.AttributeType.TENSORS:
                yield from attribute.as_tensors()


def _initialized(model: ir.Model) -> Iterator[ir.Value]:
    graphs = itertools.chain(
        model.graphs(), *(function.subgraphs() for function in model.functions.values())
    )
    for graph in graphs:
        yield from graph.initializers.values()


def _nodes(model: ir.Model) -> Iterator[ir.Node]:
    yield from model.graph.all_nodes()
    for function in model.functions.values():
        yield from function.all_nodes()


def _bytes(tensor: ir.TensorProtocol | None) -> int:
    """Return how large a tensor is; text, which has no size in bytes, stays inside anyway."""
    return 0 if tensor is None or tensor.dtype is ir.DataType.STRING else tensor.nbytes


def _moves(tensor: ir.TensorProtocol | None) -> bool:
    return _bytes(tensor) > STAYS_INSIDE_BYTES


def _write_each_once(values: list[ir.Value], stream: BinaryIO) -> dict[Hashable, int]:
    """Write the tensors of `values`; return where each begins."""
    offsets: dict[Hashable, int] = {}
    for value in values:
        tensor = value.const_value
        assert tensor is not None
        if _identity(tensor) in offsets:
            continue
        unit = _PAGE if tensor.nbytes >= _LARGE_BYTES else _LINE
        offset = -(-stream.tell() // unit) * unit
        stream.seek(offset)
        _copy(tensor, stream)
        offsets[_identity(tensor)] = offset
        if stream.tell() - offset != tensor.nbytes:
            raise ValueError(f"{value.name}: wrote {stream.tell() - offset} of {tensor.nbytes} B")
    return offsets


def _identity(tensor: ir.TensorProtocol) -> Hashable:
    """Return something that is equal for tensors which are the same bytes in the same place."""
    if isinstance(tensor, ir.ExternalTensor):
        return (tensor.path, tensor.offset or 0, tensor.nbytes)
    return id(tensor)


def _copy(tensor: ir.TensorProtocol, stream: BinaryIO) -> None:
    if isinstance(tensor, ir.ExternalTensor) and not Path(tensor.path).exists():
        stream.write(tensor.tobytes())  # its file was replaced, but is still mapped
    elif hasattr(tensor, "tofile"):
        tensor.tofile(stream)
    else:
        stream.write(tensor.tobytes())


def _in_memory(tensor: ir.ExternalTensor) -> ir.TensorProtocol:
    return ir.Tensor(
        tensor.numpy().copy(), dtype=tensor.dtype, name=tensor.name, doc_string=tensor.doc_string
    )


def _inlined(attribute: ir.Attr) -> ir.Attr:
    if attribute.is_ref():
        return attribute
    if attribute.type is ir.AttributeType.TENSOR:
        tensor = attribute.as_tensor()
        if isinstance(tensor, ir.ExternalTensor):
            return ir.AttrTensor(attribute.name, _in_memory(tensor))
    if attribute.type is ir.AttributeType.TENSORS:
        tensors = attribute.as_tensors()
        return ir.AttrTensors(
            attribute.name,
            [_in_memory(t) if isinstance(t, ir.ExternalTensor) else t for t in tensors],
        )
    return attribute
