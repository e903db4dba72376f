"""Memory that libraries hand to each other without copying it: DLPack, read and written.

A capsule holds a C structure and who must be told when it is no longer needed. Whoever takes one
renames it, so that it is taken once.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_uint8, c_uint16, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, ClassVar

from burnish.core.tensors import BITS

CPU = 1
"""DLPack's number for memory of the host."""

_NAME, _USED = b"dltensor", b"used_dltensor"
_CODES = {"i": 0, "u": 1, "f": 2, "bf": 4, "c": 5, "bool": 6}
_KINDS = {code: letters for letters, code in _CODES.items()}

Capsule = Any
"""A `PyCapsule`."""


class _Device(ctypes.Structure):
    _fields_: ClassVar = [("type", c_int32), ("id", c_int32)]


class _Kind(ctypes.Structure):
    _fields_: ClassVar = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_: ClassVar = [
        ("data", c_void_p), ("device", _Device), ("ndim", c_int32), ("dtype", _Kind),
        ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("byte_offset", c_uint64),
    ]  # fmt: skip


class _Managed(ctypes.Structure):
    pass


_Deleter = ctypes.CFUNCTYPE(None, POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter)]

_python = ctypes.pythonapi
_Destructor = ctypes.CFUNCTYPE(None, c_void_p)
_new = ctypes.PYFUNCTYPE(ctypes.py_object, c_void_p, c_char_p, _Destructor)(
    ("PyCapsule_New", _python)
)
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_char_p)(
    ("PyCapsule_IsValid", _python)
)
_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(
    ("PyCapsule_GetPointer", _python)
)
_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, c_char_p)(
    ("PyCapsule_SetName", _python)
)
# the destructor gets a capsule that is about to end: it must not be counted as an object again
_is_valid_at_end = ctypes.PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(
    ("PyCapsule_IsValid", _python)
)
_pointer_at_end = ctypes.PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", _python))


@dataclass(frozen=True, slots=True)
class Lent:
    """Memory that somebody lends, as long as `release` is not called."""

    address: int
    dtype: str
    """Our short name; empty: an element type that we have none for."""
    shape: tuple[int, ...]
    contiguous: bool
    device: tuple[int, int]
    release: Callable[[], None]


@dataclass(frozen=True, slots=True)
class LentMemory:
    """Memory that is to be lent."""

    address: int
    dtype: str
    shape: tuple[int, ...]
    device: tuple[int, int]


def take(capsule: Capsule) -> Lent:
    """Return what a capsule holds; from now on it is ours to release."""
    if not _is_valid(capsule, _NAME):
        raise ValueError("was taken before, or is no DLPack capsule")
    managed = ctypes.cast(_pointer(capsule, _NAME), POINTER(_Managed))
    _rename(capsule, _USED)
    tensor = managed.contents.tensor
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = tuple(tensor.strides[axis] for axis in range(tensor.ndim)) if tensor.strides else None

    def release() -> None:
        if managed.contents.deleter:
            managed.contents.deleter(managed)

    return Lent(
        address=(tensor.data or 0) + tensor.byte_offset,
        dtype=_name(tensor.dtype),
        shape=shape,
        contiguous=strides is None or _is_contiguous(shape, strides),
        device=(tensor.device.type, tensor.device.id),
        release=release,
    )


def lend(piece: LentMemory, keep: object) -> Capsule:
    """Return a capsule of some memory; `keep` lives until whoever took it is done with it."""
    managed = _Managed()
    rank = len(piece.shape)
    shape, strides = (c_int64 * rank)(*piece.shape), (c_int64 * rank)(*_strides(piece.shape))
    tensor = managed.tensor
    tensor.data, tensor.ndim = piece.address, rank
    tensor.device = _Device(*piece.device)
    tensor.dtype = _kind(piece.dtype)
    tensor.shape, tensor.strides = shape, strides
    managed.deleter = _DELETE
    address = ctypes.addressof(managed)
    _LENT[address] = (managed, shape, strides, keep)
    return _new(address, _NAME, _END)


_LENT: dict[int, tuple[object, ...]] = {}
"""What others may still read, by the address of its structure."""


def _on_delete(managed: Any) -> None:  # noqa: ANN401  (a pointer)
    _LENT.pop(ctypes.addressof(managed.contents), None)


def _on_end(capsule: int) -> None:
    if _is_valid_at_end(capsule, _NAME):  # nobody took it
        _LENT.pop(_pointer_at_end(capsule, _NAME), None)


_DELETE, _END = _Deleter(_on_delete), _Destructor(_on_end)
"""As C calls them; they must live as long as anything may be lent."""


def _kind(dtype: str) -> _Kind:
    letters = "bool" if dtype == "bool" else dtype.rstrip("0123456789")
    if letters not in _CODES:
        raise ValueError(f"elements of type {dtype} cannot be lent")
    return _Kind(_CODES[letters], BITS[dtype], 1)


def _name(kind: _Kind) -> str:
    letters = _KINDS.get(kind.code, "")
    name = letters if letters == "bool" else f"{letters}{kind.bits}"
    return name if name in BITS and kind.lanes == 1 else ""


def _strides(shape: tuple[int, ...]) -> list[int]:
    """Return how many elements apart neighbours along each dimension are."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    pairs = zip(shape, strides, _strides(shape), strict=True)
    return 0 in shape or all(size == 1 or found == usual for size, found, usual in pairs)
