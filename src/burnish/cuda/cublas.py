"""Products of matrices by NVIDIA's library cuBLASLt, straight from its shared object."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.cuda.driver import DriverError
from burnish.cuda.library import LibraryProduct

NAMES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")
"""The library by the versions whose numbers below are known; the loader looks for them itself."""
BESIDE = ("nvidia/*/lib", "torch/lib")
"""Where packages of Python bring it, seen from a folder of packages."""

_TYPES = {"f16": 2, "bf16": 14, "f32": 0}
"""Element types, and from here on all numbers, are cuBLASLt's own (cublasLt.h, library_types.h)."""
_SUM_IN_F32 = 68
_TURN_FIRST, _EPILOGUE, _OFFSETS = 3, 7, 8
_PLAIN, _WITH_OFFSETS = 1, 4
_MOST_WORKSPACE, _ALIGNMENTS = 1, (5, 6, 7, 8)
_NO_WORKSPACE = ctypes.c_size_t(0)
"""Memory that it may use besides: with 32 MiB an H200 was no faster by more than 1 %."""
_ALIGNED_BYTES = 16
"""What every matrix begins at a multiple of: inputs are no better aligned."""
_STATUS = {
    1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH",
    13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED",
}  # fmt: skip


class _Algorithm(ctypes.Structure):
    """How a product would be formed, as the library tells: `cublasLtMatmulHeuristicResult_t`."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace_bytes", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A product that the library knows: what it is, its matrices, and how it is formed."""

    how: ctypes.c_void_p
    left: ctypes.c_void_p
    right: ctypes.c_void_p
    result: ctypes.c_void_p
    algorithm: _Algorithm


@dataclass(slots=True)
class Cublas:
    """The library on one card, whose context must be current whenever it is called."""

    code: Any
    """The shared object."""
    _handle: ctypes.c_void_p = field(default_factory=ctypes.c_void_p)
    _known: dict[LibraryProduct, _Prepared] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._call("Create", ctypes.byref(self._handle))

    def knows(self, product: LibraryProduct) -> bool:
        """Say whether the library forms a product on this card."""
        try:
            self._found(product)
        except DriverError:
            return False
        return True

    def multiply(self, product: LibraryProduct, addresses: Sequence[int], stream: int) -> None:
        """Put a product in line; `addresses` are those of the kernel in whose place it is."""
        known = self._found(product)
        if product.offsets is not None:
            offsets = ctypes.c_void_p(addresses[product.offsets])
            self._set("MatmulDesc", known.how, _OFFSETS, offsets)
        place = [ctypes.c_void_p(address) for address in addresses]
        one, more = ctypes.c_float(1.0), ctypes.c_float(product.added is not None)
        result = place[product.result]
        self._call(
            "Matmul", self._handle, known.how, ctypes.byref(one),
            # what lies row by row is, column by column, its transpose: so sides change places
            place[product.right], known.right, place[product.left], known.left,
            ctypes.byref(more), result if product.added is None else place[product.added],
            known.result, result, known.result, ctypes.byref(known.algorithm),
            ctypes.c_void_p(), _NO_WORKSPACE, ctypes.c_void_p(stream),
        )  # fmt: skip

    def _found(self, product: LibraryProduct) -> _Prepared:
        if product not in self._known:
            self._known[product] = self._prepared(product)
        return self._known[product]

    def _prepared(self, product: LibraryProduct) -> _Prepared:
        """Return a product as the library wants to be asked for it, with its first algorithm."""
        rows, columns, terms = product.rows, product.columns, product.terms
        how = self._made("MatmulDesc", ctypes.c_int(_SUM_IN_F32), ctypes.c_int(_TYPES["f32"]))
        self._set("MatmulDesc", how, _TURN_FIRST, ctypes.c_int(product.turned))
        epilogue = _PLAIN if product.offsets is None else _WITH_OFFSETS
        self._set("MatmulDesc", how, _EPILOGUE, ctypes.c_int(epilogue))
        right = (terms, columns) if product.turned else (columns, terms)
        layouts = [
            self._layout(product.dtype, *shape) for shape in (right, (terms, rows), (columns, rows))
        ]
        preference = self._made("MatmulPreference")
        self._set("MatmulPreference", preference, _MOST_WORKSPACE, _NO_WORKSPACE)
        for matrix in _ALIGNMENTS:
            self._set("MatmulPreference", preference, matrix, ctypes.c_uint32(_ALIGNED_BYTES))
        found, count = _Algorithm(), ctypes.c_int()
        self._call(
            "MatmulAlgoGetHeuristic", self._handle, how, *layouts, layouts[2], preference,
            ctypes.c_int(1), ctypes.byref(found), ctypes.byref(count),
        )  # fmt: skip
        if not count.value:
            raise DriverError("cublasLtMatmulAlgoGetHeuristic", "CUBLAS_STATUS_NOT_SUPPORTED")
        return _Prepared(how, layouts[1], layouts[0], layouts[2], found)

    def _layout(self, dtype: str, rows: int, columns: int) -> ctypes.c_void_p:
        """Return a matrix whose columns lie one after the other."""
        return self._made(
            "MatrixLayout", ctypes.c_int(_TYPES[dtype]), ctypes.c_uint64(rows),
            ctypes.c_uint64(columns), ctypes.c_int64(rows),
        )  # fmt: skip

    def _made(self, kind: str, *arguments: Any) -> ctypes.c_void_p:  # noqa: ANN401  (as ctypes')
        made = ctypes.c_void_p()
        self._call(f"{kind}Create", ctypes.byref(made), *arguments)
        return made

    def _set(self, kind: str, of: ctypes.c_void_p, attribute: int, value: Any) -> None:  # noqa: ANN401
        self._call(
            f"{kind}SetAttribute", of, ctypes.c_int(attribute), ctypes.byref(value),
            ctypes.c_size_t(ctypes.sizeof(value)),
        )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:  # noqa: ANN401  (as ctypes')
        status = getattr(self.code, f"cublasLt{name}")(*arguments)
        if status:
            known = f"CUBLAS_STATUS_{_STATUS.get(status, status)}"
            raise DriverError(f"cublasLt{name}", known)


def open_cublas() -> Cublas | None:
    """Return the library for the card whose context is current; None: there is none that works."""
    code = shared_object()
    try:
        return None if code is None else Cublas(code)
    except (DriverError, AttributeError):  # it finds no card, or is not what its name says
        return None


def shared_object() -> Any:  # noqa: ANN401  (ctypes has no type for one)
    """Return the library; None: there is none that this process can load."""
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _candidates() -> Iterator[str]:
    """Yield where the library may be: where the loader looks, then beside packages of Python."""
    yield from NAMES
    for folder in map(Path, dict.fromkeys(sys.path)):
        for place in BESIDE:
            for name in NAMES[:2]:
                yield from map(str, sorted(folder.glob(f"{place}/{name}")))
