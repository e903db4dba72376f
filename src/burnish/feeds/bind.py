"""Give every symbolic dimension of a model's inputs a size."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.core.tensors import TensorSpec
from burnish.feeds import dimension
from burnish.feeds.roles import Role, role_of
from burnish.store.interface import ANY_RANK


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A dimension that is called one of `names`, or has one of `words` in its name."""

    name: str
    names: tuple[str, ...]
    words: tuple[str, ...]
    size: int


_TOTAL = "total"
_SIZE = "size"
"""What a dimension is taken for whose name and place say nothing."""
_PARTS = ("past", "sequence")
"""What a total length is the sum of, as far as the model has them."""
_MEANINGS = (
    _Meaning(_TOTAL, (), ("total",), 128),
    _Meaning("past", (), ("past", "cache", "kv_len"), 16),
    _Meaning("batch", ("n", "b", "bs"), ("batch",), 1),
    _Meaning("height", ("h",), ("height",), 224),
    _Meaning("width", ("w",), ("width",), 224),
    _Meaning("channels", ("c",), ("channel",), 3),
    _Meaning("sequence", ("s", "t", "l"), ("seq", "token", "length", "_len", "text"), 128),
    _Meaning("frames", ("f",), ("frame", "time"), 100),
    _Meaning("samples", (), ("sample",), 16_000),
    _Meaning("choices", (), ("choice",), 2),
    _Meaning("points", (), ("point", "box", "roi"), 8),
    _Meaning("images", (), ("num_images", "image_count"), 1),
    _Meaning("beams", (), ("beam",), 1),
    _Meaning(_SIZE, (), (), 8),
)
"""The first that fits wins: `past_sequence_length` is a past, `batch_length` a batch."""
_BY_NAME = {meaning.name: meaning for meaning in _MEANINGS}

_ANONYMOUS = re.compile(
    r"[sud]_?\d+|unk_*\d+|dim_?\d+|axis_?\d+|.*_dim_\d+|.*__d\d+|.*dynamic_?(axes|dim).*\d+"
    r"|symbol\w*\d+|\?|None|-1",
    re.IGNORECASE,
)
"""Names that exporters invent: they say nothing, only the dimension's place does."""
_SOUND = ("wave", "audio", "speech", "signal", "pcm", "sound")
"""In the names of inputs that are samples of a sound, along their last axis."""
_MOST_GUESSED = 1 << 22
"""Elements of one input beyond which a size that nothing tells is 1: a guess must not cost much."""


@dataclass(frozen=True, slots=True)
class BoundSizes:
    """The sizes of all symbols, and the inputs' shapes that follow."""

    sizes: Mapping[str, int]
    meanings: Mapping[str, str]
    """What each symbol was taken for: `batch`, `sequence`, `past` …"""
    shapes: Mapping[str, tuple[int, ...]]
    notes: tuple[str, ...]

    def size_of(self, meaning: str) -> int | None:
        """Return the size of the first symbol with this meaning."""
        found = (self.sizes[name] for name, known in self.meanings.items() if known == meaning)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class _Occurrence:
    symbol: str
    spec: TensorSpec
    index: int


def bind(
    inputs: Sequence[TensorSpec], asked: Mapping[str, int], *, longest: int | None = None
) -> BoundSizes:
    """Return sizes for all symbols: what is asked for, else what name or place suggest.

    Sequences that are not asked for are kept at `longest` or below, the past included.
    """
    _refuse_unknown_rank(inputs)
    occurrences = list(_occurrences(inputs))
    symbols = dict.fromkeys(occurrence.symbol for occurrence in occurrences)
    for name in asked:
        if name not in symbols:
            raise UsageError(
                f"--shape {name}: no input has such a dimension", hint=suggestion(name, symbols)
            )
    has_past = any(role_of(spec) is Role.PAST for spec in inputs)
    places = {symbol: [o for o in occurrences if o.symbol == symbol] for symbol in symbols}
    meanings = {s: _meaning(s, places[s], has_past=has_past) or _SIZE for s in symbols}
    followed = {meanings[s]: size for s, size in reversed([*asked.items()]) if s in meanings}
    sizes = {s: asked[s] if s in asked else _default(s, meanings[s], followed) for s in symbols}
    free = {s: meaning for s, meaning in meanings.items() if s not in asked}
    _lessen(sizes, free, inputs)
    notes = [note for s in free for note in _note(s, meanings[s], sizes[s], places[s])]
    notes += _shorten(sizes, free, meanings, longest)
    _add_up(sizes, free, meanings)
    return BoundSizes(sizes, meanings, _shapes(inputs, sizes), tuple(notes))


def _refuse_unknown_rank(inputs: Sequence[TensorSpec]) -> None:
    for spec in inputs:
        if ANY_RANK in spec.shape:
            raise ModelError(
                f"input {spec.name!r}: the model does not say how many dimensions it has",
                hint="pass inputs of your own with --data FILE.npz",
            )


def _occurrences(inputs: Sequence[TensorSpec]) -> Iterator[_Occurrence]:
    for spec in inputs:
        for index, dim in enumerate(spec.shape):
            if isinstance(dim, str):
                for symbol in dimension.atoms(dim):
                    yield _Occurrence(symbol, spec, index)


def _meaning(symbol: str, places: Sequence[_Occurrence], *, has_past: bool) -> str | None:
    if not _ANONYMOUS.fullmatch(symbol):
        named = _meaning_by_name(symbol)
        # `N` is how many, wherever it stands: a batch only where rows are counted
        is_letter = len(symbol) == 1 and named == "batch" and all(o.index for o in places)
        if not is_letter:
            return named
    # A mask comes last: it may be as long as the tokens, or as the past and the tokens together.
    ordered = sorted(places, key=lambda place: role_of(place.spec) is Role.MASK)
    found = (_meaning_by_place(place, has_past=has_past) for place in ordered)
    return next((meaning for meaning in found if meaning is not None), None)


def _meaning_by_name(symbol: str) -> str | None:
    name = symbol.lower()
    for meaning in _MEANINGS:
        if name in meaning.names or any(word in name for word in meaning.words):
            return meaning.name
    return None


def _meaning_by_place(place: _Occurrence, *, has_past: bool) -> str | None:
    spec, index, role = place.spec, place.index, role_of(place.spec)
    rank = len(spec.shape)
    if role is Role.POSITIONS and rank == 1:
        return "sequence"
    if index == 0:
        return "batch"
    if role is Role.PAST:
        return "past" if rank == 4 and index == 2 else None
    if role is Role.MASK:
        alone = spec.shape[index] == place.symbol
        return _TOTAL if has_past and alone and index == rank - 1 else "sequence"
    if role is Role.IMAGE and rank == 4:
        return _spatial(spec, index)
    if index == rank - 1 and any(word in spec.name.lower() for word in _SOUND):
        return "samples"
    is_integer = spec.dtype[0] in "iu"
    return "sequence" if is_integer and rank == 2 else None


def _spatial(spec: TensorSpec, index: int) -> str | None:
    """Return height or width; channels come last where the last size looks like channels."""
    last = spec.shape[-1]
    first = 1 if isinstance(last, int) and last <= 4 and not isinstance(spec.shape[1], int) else 2
    return {first: "height", first + 1: "width"}.get(index)


def _note(symbol: str, meaning: str, size: int, places: Sequence[_Occurrence]) -> list[str]:
    place = min(places, key=lambda place: place.spec.shape[place.index] != place.symbol)
    where = f"dimension {place.index} of {place.spec.name}"
    if meaning == _SIZE:
        found = f"{symbol} ({where}) is {size}, for nothing tells its size"
        return [f"{found}; bind it with --shape {symbol}=SIZE"]
    if not _ANONYMOUS.fullmatch(symbol):
        return []
    return [f"{symbol} ({where}) is taken for {meaning}; bind it with --shape {symbol}=SIZE"]


def _default(symbol: str, meaning: str, followed: Mapping[str, int]) -> int:
    """Return a size that was not asked for.

    Exporters give one size several nameless symbols, one per input: those follow what was asked
    for another with the same meaning, and so does every batch.
    """
    if meaning in followed and (meaning == "batch" or _ANONYMOUS.fullmatch(symbol)):
        return followed[meaning]
    return _BY_NAME[meaning].size


def _shorten(
    sizes: dict[str, int], free: Mapping[str, str], meanings: Mapping[str, str], longest: int | None
) -> list[str]:
    """Keep sequences within the model's positions; return what was changed."""
    if longest is None:
        return []
    past = next((sizes[s] for s, meaning in meanings.items() if meaning == "past"), 0)
    room = max(longest - past, 1)
    long = [s for s, meaning in free.items() if meaning == "sequence" and sizes[s] > room]
    sizes.update(dict.fromkeys(long, room))
    return [f"{symbol} is {room}, as the model has {longest} positions" for symbol in long]


def _lessen(sizes: dict[str, int], free: Mapping[str, str], inputs: Sequence[TensorSpec]) -> None:
    """Make sizes that nothing tells 1 where an input would be large."""
    for spec in inputs:
        unknown = [dim for dim in spec.shape if isinstance(dim, str) and free.get(dim) == _SIZE]
        fixed = math.prod(dim for dim in spec.shape if isinstance(dim, int))
        if unknown and fixed * _BY_NAME[_SIZE].size ** len(unknown) > _MOST_GUESSED:
            sizes.update(dict.fromkeys(unknown, 1))


def _add_up(sizes: dict[str, int], free: Mapping[str, str], meanings: Mapping[str, str]) -> None:
    """Make every total the sum of the first past and the first sequence."""
    parts = {meaning: sizes[s] for s, meaning in reversed([*meanings.items()]) if meaning in _PARTS}
    for symbol, meaning in free.items():
        if meaning == _TOTAL and parts:
            sizes[symbol] = sum(parts.values())


def _shapes(inputs: Sequence[TensorSpec], sizes: Mapping[str, int]) -> dict[str, tuple[int, ...]]:
    return {
        spec.name: tuple(
            dim if isinstance(dim, int) else _size(spec, dim, sizes) for dim in spec.shape
        )
        for spec in inputs
    }


def _size(spec: TensorSpec, dim: str, sizes: Mapping[str, int]) -> int:
    try:
        size = dimension.evaluate(dim, sizes)
    except dimension.NoSizeError as error:
        raise UsageError(f"input {spec.name!r}: {error.problem}", hint=error.hint) from error
    if size < 0:
        names = dimension.atoms(dim)
        known = ", ".join(f"{name}={sizes[name]}" for name in names)
        raise UsageError(
            f"input {spec.name!r}: the dimension {dim!r} cannot have a size with {known}",
            hint=f"bind other sizes: --shape {','.join(f'{name}=SIZE' for name in names)}",
        )
    return size
