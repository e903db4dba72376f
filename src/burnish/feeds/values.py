"""Fill an input with values that suit its role."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Padding
from burnish.feeds.roles import Role
from burnish.feeds.uses import Counts, Purpose
from burnish.feeds.words import texts

DEFAULT_VOCABULARY = 1000
_TOKEN_TYPES = 2
_TIMESTEPS = 1000
_GENERIC = 10


@dataclass(frozen=True, slots=True)
class Request:
    """What is known about an input that is to be filled."""

    spec: TensorSpec
    shape: tuple[int, ...]
    rows: int | None
    """How many rows the smallest table has that the input indexes; None: no table was found."""
    random: np.random.Generator
    padding: Padding
    past: int
    sequence: int
    purpose: Purpose
    words: tuple[str, ...] = ()
    """Text that stands in the model."""


@dataclass(frozen=True, slots=True)
class Filled:
    """Values, and what had to be guessed to make them."""

    array: Array
    note: str | None = None


def fill(request: Request) -> Filled:
    """Return values for an input, in its element type."""
    purpose = request.purpose
    if purpose.choices:
        # always the first: sizes that fit one way to go seldom fit another
        filled = Filled(np.full(request.shape, purpose.choices[0]))
    elif purpose.is_share:
        filled = Filled(np.asarray(0.5 * request.random.random(request.shape)))
    elif purpose.counts is not None:
        filled = Filled(_COUNTS[purpose.counts](request.shape))
    else:
        filled = _FILLERS[purpose.role](request)
    return Filled(filled.array.astype(array_type(request.spec.dtype)), filled.note)


def _but_the_last(shape: tuple[int, ...]) -> Array:
    """Return ones, and last -1: all the rest, to whatever is reshaped."""
    ones = np.ones(shape, np.int64)
    ones.reshape(-1)[-1:] = -1
    return ones


_COUNTS: Mapping[Counts, Callable[[tuple[int, ...]], Array]] = {
    "none": lambda shape: np.zeros(shape, np.int64),
    "one": lambda shape: np.ones(shape, np.int64),
    "few": lambda shape: np.full(shape, 3, np.int64),
    "all": lambda shape: np.full(shape, 2**31 - 1, np.int64),
    "each": lambda shape: np.arange(np.prod(shape, dtype=int)).reshape(shape),
    "rest": _but_the_last,
}


def _past(request: Request) -> Filled:
    return Filled(0.5 * request.random.standard_normal(request.shape))


def _normal(request: Request) -> Filled:
    values = request.random.standard_normal(request.shape)
    if request.spec.dtype[0] == "c":
        return Filled(values + 1j * request.random.standard_normal(request.shape))
    return Filled(values)


def _image(request: Request) -> Filled:
    if request.spec.dtype == "u8":
        return Filled(request.random.integers(0, 256, request.shape))
    return _normal(request)


def _full_mask(request: Request) -> Filled:
    return Filled(np.ones(request.shape, np.int64))


def _mask(request: Request) -> Filled:
    rows = request.shape[0] if len(request.shape) > 1 else 1
    length = request.shape[-1]
    if request.padding == "none" or 0 in request.shape:
        return _full_mask(request)
    steps = np.arange(length)
    lengths = _lengths_of(rows, length, request.random)[:, None]
    kept = steps < lengths if request.padding == "right" else steps >= length - lengths
    middle = (1,) * (len(request.shape) - 2)
    spread = kept.reshape(rows, *middle, length) if len(request.shape) > 1 else kept[0]
    return Filled(np.broadcast_to(spread, request.shape), _note_on_one_row(request, rows))


def _note_on_one_row(request: Request, rows: int) -> str | None:
    batch = request.spec.shape[0]
    if rows > 1 or isinstance(batch, int):
        return None
    return (
        f"{request.spec.name} has one row, which is full; padded rows come with --shape {batch}=2"
    )


def _lengths_of(rows: int, length: int, random: np.random.Generator) -> np.ndarray:
    """Return a length for each row: the first is full, no other is, none is empty."""
    lengths = random.integers(1, max(length, 2), rows)
    lengths[:1] = length
    return lengths


def _lengths(request: Request) -> Filled:
    rows = int(np.prod(request.shape))
    lengths = _lengths_of(rows, max(request.sequence, 1), request.random)
    return Filled(lengths.reshape(request.shape))


def _past_length(request: Request) -> Filled:
    name, total = request.spec.name.lower(), request.past + request.sequence
    # ONNX Runtime's GroupQueryAttention takes the index of the last key, not their number.
    size = total - 1 if "seqlens_k" in name else total if "total" in name else request.past
    return Filled(np.full(request.shape, size))


def _positions(request: Request) -> Filled:
    length = request.shape[-1]
    positions = request.past + np.arange(length)
    note = None
    if request.rows is not None and positions.size and positions[-1] >= request.rows:
        positions %= max(request.rows, 1)
        note = f"{request.spec.name}: the model has {request.rows} positions, so they repeat"
    return Filled(np.broadcast_to(positions, request.shape), note)


def _timestep(request: Request) -> Filled:
    return Filled(request.random.integers(0, _TIMESTEPS, request.shape))


def _token_types(request: Request) -> Filled:
    return _integers_below(request, request.rows or _TOKEN_TYPES)


def _tokens(request: Request) -> Filled:
    note = f"{request.spec.name}: no embedding table found, token ids are below"
    return _bounded(request, DEFAULT_VOCABULARY, note)


def _integers(request: Request) -> Filled:
    note = f"{request.spec.name}: nothing tells what it holds, so integers below"
    return _bounded(request, _GENERIC, note)


def _bounded(request: Request, default: int, note: str) -> Filled:
    if request.rows is not None:
        return _integers_below(request, request.rows)
    return Filled(_integers_below(request, default).array, f"{note} {default}")


def _integers_below(request: Request, limit: int) -> Filled:
    """Return indices of a table of so many rows; of one without any, none is right."""
    dtype = request.spec.dtype
    bits = int(dtype.lstrip("iu")) - (dtype[0] == "i")
    return Filled(request.random.integers(0, min(max(limit, 1), 2**bits - 1), request.shape))


def _flags(request: Request) -> Filled:
    return Filled(request.random.integers(0, 2, request.shape))


def _text(request: Request) -> Filled:
    made = texts(request.shape, request.words, request.random)
    return Filled(made, f"{request.spec.name}: its text is made up")


_FILLERS: Mapping[Role, Callable[[Request], Filled]] = {
    Role.PAST: _past,
    Role.FULL_MASK: _full_mask,
    Role.MASK: _mask,
    Role.TOKEN_TYPES: _token_types,
    Role.POSITIONS: _positions,
    Role.PAST_LENGTH: _past_length,
    Role.TIMESTEP: _timestep,
    Role.LENGTHS: _lengths,
    Role.TOKENS: _tokens,
    Role.USE_CACHE: _full_mask,
    Role.IMAGE: _image,
    Role.FEATURES: _normal,
    Role.FLAG: _flags,
    Role.INTEGERS: _integers,
    Role.TEXT: _text,
}
