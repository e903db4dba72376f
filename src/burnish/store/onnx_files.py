"""Read and write ONNX files, with the weights that lie beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import google.protobuf.json_format
import google.protobuf.message
import google.protobuf.text_format
import onnx
import onnx.parser
import onnx_ir as ir

from burnish.core import settings
from burnish.core.errors import ModelError
from burnish.core.files import Kind, written_beside
from burnish.core.hashing import file_key, value_key
from burnish.core.remembered import Remembered
from burnish.core.tensors import Dim, TensorSpec
from burnish.store import (
    expansion,
    external_data,
    first_bytes,
    held_once,
    history,
    mending,
    runtime_limits,
    sparse,
    versions,
    well_formed,
)
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES
from burnish.store.history import History
from burnish.store.interface import ANY_RANK, Interface

__all__ = [
    "DATA_TYPES", "SHORT_NAMES", "Interface", "content_key", "files", "interface", "look", "read",
    "size_bytes", "write",
]  # fmt: skip

_PROTOBUF_LIMIT_BYTES = 2**31 - 1
_PARSE_ERRORS = (
    google.protobuf.message.DecodeError,
    google.protobuf.text_format.ParseError,
    google.protobuf.json_format.ParseError,
    onnx.parser.ParseError,
    UnicodeDecodeError,
    RecursionError,
)
_UNEXPECTED = (
    ir.serde.SerdeError, ValueError, TypeError, LookupError, AssertionError, AttributeError,
    NotImplementedError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What ONNX IR raises, under its own name or not, for a graph that it cannot make."""


_MODELS: Remembered[ir.Model] = Remembered(8, most_bytes=1 << 30)
_KEYS: Remembered[str] = Remembered(64)


def read(path: Path) -> ir.Model:
    """Return the model at `path` to work on: a copy of the graph, whose weights all share."""
    kept = look(path)
    copy = kept.clone()
    copy.meta.update(kept.meta)  # what was mended is told by whoever reads it
    return copy


def look(path: Path) -> ir.Model:
    """Return the model at `path` to look at: others look at the same one, so nobody changes it.

    Weights in files beside it are mapped, not read. That it can be followed, that its functions
    end, and that all its data is there in full is checked, so that nothing fails half-way later.
    While its files stay as they are, that is done once.
    """

    def make() -> tuple[ir.Model, tuple[Path, ...]]:
        model, beside = _read(path)
        return model, (path, *sorted({Path(tensor.path) for tensor in beside}))

    return _MODELS.of((path, Path.cwd(), settings.read().max_nodes), make)


def _read(path: Path) -> tuple[ir.Model, tuple[ir.ExternalTensor, ...]]:
    """Return a model, and those of its tensors that lie in files beside it."""
    proto = _parsed(path)
    held_once.require_once(proto, path)
    sparse.make_dense(proto.graph, path)
    model = _deserialized(proto, path)
    _state_opset(model)
    beside = well_formed.checked(model, path)
    mending.state_output_types(model, proto)
    expansion.check(model, path, most_nodes=settings.read().max_nodes)
    external_data.attach(beside, path)
    held_once.require_checksums(proto, path)
    return model, beside


def write(
    model: ir.Model,
    path: Path,
    *,
    history: History,
    accept: Callable[[Path], None] = lambda _draft: None,
    kind: Kind | None = None,
) -> str:
    """Write `model`, which stays as it is, so that the installed ONNX Runtime can load it.

    What is returned is the key of its content.

    `history` goes into the metadata, after any that is there. Weights go to a file beside the
    model if they came from one or are large. A model at `path`, even the one that `model` was
    read from, is replaced with its data file in one go. `accept` is shown the finished draft
    before that; if it raises, nothing is replaced and no draft is left. `kind`: what may be
    replaced where the user has not named this very file.
    """
    copy = _stamped(versions.fitted(model), history)
    old = external_data.outdated(path, _previous(path))
    beside: dict[str, str] = {}
    with written_beside(path, kind) as folder:
        if external_data.is_wanted(copy):
            beside = external_data.unload(copy, folder, path.stem)
        external_data.inline_the_rest(copy, kept=str(folder))
        onnx.save(_serialized(copy, path), folder / path.name)
        accept(folder / path.name)
        key = _joint_key(file_key(folder / path.name), beside)
        new = tuple(
            path.absolute().parent / file.name
            for file in folder.iterdir()
            if file.name != path.name
        )
    external_data.remove(old, new=new, user=model)
    _KEYS.keep((path, path.absolute().parent), key, (path, *new))
    return key


def _refusal(path: Path) -> str | None:
    try:
        model = onnx.load(path, load_external_data=False)
    except _PARSE_ERRORS:
        return "it is no model"
    return None if history.is_marked(model) else "it does not tell of burnish"


OWN = Kind("a model", _refusal)
"""Models that say in their metadata what burnish did to them."""


def interface(model: ir.Model) -> Interface:
    """Return what a model takes and gives; inputs with a default value need not be fed."""
    defaults = model.graph.initializers
    inputs = [value for value in model.graph.inputs if value.name not in defaults]
    return Interface(
        tuple(_spec(value, "input") for value in inputs),
        tuple(_spec(value, "output") for value in model.graph.outputs),
    )


def content_key(path: Path) -> str:
    """Return a key of the content: the file's sha256, and with data files one over all of them."""
    folder = path.absolute().parent

    def make() -> tuple[str, tuple[Path, ...]]:
        every = files(path)
        parts = {str(file.relative_to(folder)): file_key(file) for file in every[1:]}
        return _joint_key(file_key(path), parts), every

    return _KEYS.of((path, folder), make)


def _joint_key(own: str, beside: Mapping[str, str]) -> str:
    """Return the key of a model's file and of those beside it, by name."""
    return value_key([own, dict(beside)]) if beside else own


def files(path: Path) -> tuple[Path, ...]:
    """Return the files of a model: itself, and the weights beside it."""
    return (path, *external_data.files(look(path)))


def size_bytes(path: Path) -> int:
    """Return how much a model takes on disk, the weights beside it included."""
    return sum(file.stat().st_size for file in files(path))


def _parsed(path: Path) -> onnx.ModelProto:
    if not path.exists():
        raise ModelError(f"{path}: no such file", hint="burnish model list shows what is there")
    if path.is_dir():
        raise ModelError(f"{path}: is a folder, not a model", hint="name the .onnx file in it")
    if not path.is_file():
        raise ModelError(
            f"{path}: is not a regular file", hint="copy what it gives to a file first"
        )
    if path.stat().st_size == 0:
        raise ModelError(f"{path}: the file is empty", hint="copy or export it again")
    try:
        proto = onnx.load(path, load_external_data=False)
    except _PARSE_ERRORS as error:
        raise _not_onnx(path) from error
    except OSError as error:
        raise ModelError(
            f"{path}: cannot be read ({error.strerror})", hint="check the file's permissions"
        ) from error
    # A protobuf parser takes almost any bytes for unknown fields: a model has these two.
    if not proto.HasField("graph") or (proto.ir_version >= 3 and not proto.opset_import):
        raise _not_onnx(path)
    return proto


def _deserialized(proto: onnx.ModelProto, path: Path) -> ir.Model:
    try:
        return ir.serde.deserialize_model(proto)
    except _UNEXPECTED as error:
        if mending.mend(proto.graph):
            return _deserialized(proto, path)
        raise ModelError(
            f"{path}: is not a well-formed ONNX graph ({_innermost(error)})", hint=well_formed.HINT
        ) from error


def _state_opset(model: ir.Model) -> None:
    """Give a model that does not say which opset it is of, the one that it is run as."""
    imports = model.opset_imports
    if "" in imports or not imports:
        return
    if "ai.onnx" in imports:
        imports[""] = imports.pop("ai.onnx")
    else:
        opset = imports[""] = runtime_limits.installed().opset
        mending.add_note(model, f"it states no opset, and is taken for {opset}, as it is run")


def _not_onnx(path: Path) -> ModelError:
    finding, hint = first_bytes.guess(path)
    return ModelError(f"{path}: is not an ONNX model; {finding}", hint=hint)


def _previous(path: Path) -> ir.Model | None:
    """Return the model that is about to be replaced, if there is one that can be read."""
    try:
        return read(path)
    except ModelError:
        return None


def _stamped(model: ir.Model, new: History) -> ir.Model:
    model.metadata_props.update(history.metadata(history.appended(model, new)))
    return model


def _serialized(model: ir.Model, path: Path) -> onnx.ModelProto:
    proto = ir.to_proto(model)
    mending.restore(proto)
    if proto.ByteSize() > _PROTOBUF_LIMIT_BYTES:
        raise ModelError(
            f"{path}: {proto.ByteSize():,} bytes remain inside the model after its initializers"
            f" were moved out, and a protobuf holds {_PROTOBUF_LIMIT_BYTES:,}",
            hint="export it again with its weights as initializers, not as Constant nodes",
        )
    return proto


def _spec(value: ir.Value, kind: str) -> TensorSpec:
    name = value.name or ""
    held = _held_type(value) if kind == "output" else None
    if held is not None and held in SHORT_NAMES:
        return TensorSpec(name, SHORT_NAMES[held], (ANY_RANK,))
    if value.type is not None and not isinstance(value.type, ir.TensorType):
        found = type(value.type).__name__.removesuffix("Type").lower()
        raise ModelError(
            f"{kind} {name!r} is of type {found}; burnish feeds and compares dense tensors only",
            hint="export the model with plain tensors as inputs and outputs",
        )
    if value.dtype is None or value.dtype not in SHORT_NAMES:
        raise ModelError(
            f"{kind} {name!r} has the element type {value.dtype}, which burnish does not know",
            hint="export the model again with types for all inputs and outputs",
        )
    return TensorSpec(name, SHORT_NAMES[value.dtype], _dims(value, name))


def _held_type(value: ir.Value) -> ir.DataType | None:
    """Return the type of the numbers in a sequence or a map; None: the value is neither."""
    if isinstance(value.type, ir.SequenceType) and isinstance(value.type.elem_type, ir.TensorType):
        return value.type.elem_type.elem_type
    return mending.kept_element_type(value)


def _dims(value: ir.Value, name: str) -> tuple[Dim, ...]:
    if value.shape is None:
        return (ANY_RANK,)
    return tuple(_dim(dim, f"{name}_dim_{index}") for index, dim in enumerate(value.shape))


def _dim(dim: int | ir.SymbolicDim, otherwise: str) -> Dim:
    if isinstance(dim, int):
        return dim if dim >= 0 else otherwise  # some exporters write -1 for "unknown"
    return dim.value or otherwise


def _innermost(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error).strip().partition("\n")[0] or type(error).__name__
