"""Recorded inputs and outputs of a model, in the layout of ONNX's backend tests.

A folder `test_data_set_N` holds `input_0.pb`, `input_1.pb` … and `output_0.pb` …, each one tensor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import google.protobuf.message
import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError
from burnish.core.files import Kind, folder_written_beside, foreign_entry
from burnish.core.tensors import TensorSpec
from burnish.store.element_types import DATA_TYPES, SHORT_NAMES
from burnish.store.interface import Interface

Part = Literal["input", "output"]

MARK = "written by burnish"
"""The description of tensors in files that we wrote: others' recorded data is never replaced."""

_DATA_FIELDS = frozenset(
    f"{kind}_data" for kind in ("raw", "float", "int32", "int64", "uint64", "double", "string")
)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Tensors that were fed to a model and what it gave; outputs may be missing."""

    inputs: Arrays
    outputs: Arrays


def read(folder: Path, interface: Interface) -> DataSet:
    """Return the tensors of a `test_data_set_N` folder, by the model's names.

    A file's number is the tensor's place in the model's order; where the name inside the file
    is one of the model's, the name wins.
    """
    if not folder.is_dir():
        raise ModelError(
            f"{folder}: no such folder", hint="burnish inputs MODEL -o FOLDER writes one"
        )
    return DataSet(
        _named(folder, "input", interface.inputs), _named(folder, "output", interface.outputs)
    )


def write(folder: Path, data_set: DataSet, interface: Interface) -> None:
    """Write a `test_data_set_N` folder; one that burnish wrote is replaced as a whole."""
    kind = RECORDED if data_set.outputs else INPUTS
    with folder_written_beside(folder, kind) as fresh:
        for index, spec in enumerate(interface.inputs):
            if spec.name in data_set.inputs:
                _write(fresh / f"input_{index}.pb", spec, data_set.inputs[spec.name])
        for index, spec in enumerate(interface.outputs):
            if spec.name in data_set.outputs:
                _write(fresh / f"output_{index}.pb", spec, data_set.outputs[spec.name])


def is_own_file(path: Path) -> bool:
    """Say whether a tensor's file is one that burnish wrote."""
    try:
        return bool(onnx.TensorProto.FromString(path.read_bytes()).doc_string == MARK)
    except (OSError, google.protobuf.message.DecodeError):
        return False


def _kind(name: str, *parts: Part) -> Kind:
    names = re.compile(rf"({'|'.join(parts)})_\d+\.pb")

    def refusal(folder: Path) -> str | None:
        def is_known(name: str) -> bool:
            return bool(names.fullmatch(name)) and is_own_file(folder / name)

        return foreign_entry(folder, is_known)

    return Kind(name, refusal)


RECORDED = _kind("a data set", "input", "output")
INPUTS = _kind("a data set of inputs alone", "input")
"""What inputs alone may replace: never outputs that were recorded."""


def _named(folder: Path, kind: Part, specs: Sequence[TensorSpec]) -> dict[str, Array]:
    names = [spec.name for spec in specs]
    found: dict[str, Array] = {}
    for index, path in _numbered(folder, kind):
        tensor = _tensor(path)
        if tensor.name in names:
            name = tensor.name
        elif index < len(names):
            name = names[index]
        else:
            raise ModelError(
                f"{path}: the model has no {kind} {index}; it has {len(names)}: {', '.join(names)}",
                hint=f"remove {path.name}, or use the data set of this model",
            )
        if name in found:
            raise ModelError(
                f"{path}: a second file for the {kind} {name!r}",
                hint=f"keep one file for each of: {', '.join(names)}",
            )
        found[name] = _array(tensor, path)
    return found


def _numbered(folder: Path, kind: Part) -> list[tuple[int, Path]]:
    pattern = re.compile(rf"{kind}_(\d+)\.pb")
    matches = ((pattern.fullmatch(path.name), path) for path in folder.iterdir())
    return sorted((int(match[1]), path) for match, path in matches if match)


def _tensor(path: Path) -> onnx.TensorProto:
    hint = "burnish reads dense tensors only; record the data again"
    try:
        proto = onnx.TensorProto.FromString(path.read_bytes())
    except google.protobuf.message.DecodeError as error:
        raise ModelError(
            f"{path}: is not a tensor (a sequence, an optional or a damaged file?)", hint=hint
        ) from error
    # The bytes of a sequence or an optional parse as a tensor whose one segment they are.
    known = proto.data_type in [int(data_type) for data_type in SHORT_NAMES]
    if proto.HasField("segment") or not known:
        raise ModelError(
            f"{path}: is not a tensor with a known element type (a sequence or an optional?)",
            hint=hint,
        )
    return proto


def _array(proto: onnx.TensorProto, path: Path) -> Array:
    refusal = ModelError(
        f"{path}: its data does not fill its shape {list(proto.dims)}", hint="record it again"
    )
    fields = {field.name for field, _ in proto.ListFields()}
    if 0 not in proto.dims and not fields & _DATA_FIELDS:
        raise refusal
    try:
        array: Array = ir.serde.deserialize_tensor(proto).numpy()
    except (ValueError, ir.serde.SerdeError) as error:
        raise refusal from error
    return array


def _write(path: Path, spec: TensorSpec, array: Array) -> None:
    if spec.dtype == "str":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.flat]
        proto = onnx.helper.make_tensor(spec.name, onnx.TensorProto.STRING, array.shape, texts)
    else:
        data_type = DATA_TYPES[spec.dtype]
        contiguous = np.ascontiguousarray(array).reshape(array.shape)
        proto = ir.serde.serialize_tensor(ir.Tensor(contiguous, dtype=data_type, name=spec.name))
    proto.doc_string = MARK
    path.write_bytes(proto.SerializeToString())
