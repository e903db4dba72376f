"""Inputs that tell two models apart: odd sizes, every kind of mask, rare ids, far values.

Each way of varying an input is tried by itself first, then several at once, at random. Sizes
and values that stand in the graphs come before those that are only generally telling.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar

import numpy as np

from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS, TensorSpec
from burnish.feeds import joint_sizes
from burnish.feeds.bind import BoundSizes
from burnish.feeds.far_values import (
    ADDED,
    INDICES,
    INTEGERS,
    MASKS,
    NEAR,
    NUMBERS,
    STEPS,
    counted,
    masked,
    numbered,
)  # fmt: skip
from burnish.feeds.feed import Feeds
from burnish.feeds.make import Maker
from burnish.feeds.roles import Role

T = TypeVar("T")

_BASE: Mapping[str, Sequence[int]] = {
    "batch": (2, 1), "sequence": (6, 16, 128), "past": (3,), "frames": (12, 48, 100),
    "points": (4,), "size": (5, 8, 4, 16, 2, 1, 64), "height": (24, 32, 64, 96, 128, 224),
    "width": (40, 32, 64, 96, 128, 224), "samples": (400, 1600, 16_000),
}  # fmt: skip
"""Sizes of dimensions that are not varied, by what they mean: the first that a model takes."""

_TELLING = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129)
_PICTURES = ("height", "width", "samples")
"""What is varied around its base first: most models refuse pictures of a few pixels."""
_SMALL_SIDES = (1, 2, 3, 4, 6, 8)
"""Sides at which what is left of a shrunk picture is one pixel, where a model takes them."""
_ROWS = ("batch", "points")
"""What there may be none of: an empty batch, no box found."""
_MOST_ROWS = 9
"""The largest batch that is tried without a reason."""
_MOST_SIZES = 36
_FARTHEST = 1024
"""The largest number of a graph that is taken for a size: scores of as many keys as queries, in
f64 and for every head, still have room."""
_MOST_FAR = 8
_MOST_ELEMENTS = 1 << 20
"""Of all inputs together: larger ones cost more than they tell."""
_MOST_SWEEPS = 80
_LARGEST = 1e4
"""Beyond this a number of the graph is no input's: models write -1e9 for what must not be seen."""
_PAST_NUMBERS = ("10 times larger", "100 times smaller", "zero", "mostly zero")
"""What keys and values of the past may be: they were computed by a model."""
_INDEXING = (Role.TOKENS, Role.INTEGERS, Role.TOKEN_TYPES, Role.TIMESTEP, Role.LENGTHS)


@dataclass(frozen=True, slots=True)
class Suspicions:
    """Numbers that may matter, for instance because they stand where two graphs differ."""

    integers: tuple[int, ...] = ()
    """From constants and attributes: sizes, limits, divisors; the most telling first."""
    reals: tuple[float, ...] = ()
    rows: tuple[int, ...] = ()
    """Rows in which tables of the same name and shape differ."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to feed a model."""

    kind: str
    bindings: Mapping[str, int] = field(default_factory=dict)
    mask: str = "right"
    numbers: str = "plain"
    ids: str = "plain"
    seed: int = 0


class Varied:
    """Makes the inputs of variants."""

    def __init__(
        self,
        maker: Maker,
        suspicions: Suspicions,
        asked: Mapping[str, int],
        works: Callable[[Feeds], bool],
        usual: Mapping[str, int] | None = None,
    ) -> None:
        """Take what is known; dimensions in `asked` are never varied.

        `works` says whether a model takes some inputs; it takes those of the `usual` sizes.
        """
        self._usual = usual or {}
        self._maker, self._suspicions, self._asked = maker, suspicions, asked
        self._meanings = {
            symbol: meaning
            for symbol, meaning in maker.bound(asked).meanings.items()
            if symbol not in asked and meaning in _BASE
        }
        self._base = self._working(works)

    def variants(self, *, seed: int, random: int) -> Iterator[Variant]:
        """Yield ways to feed the model: one thing varied at a time, then `random` mixtures."""
        sized, joined = self._sized(), self._joined()
        # In turns, so that a search that is cut short has tried something of everything.
        ways = (sized, self._masked(), self._valued(), self._indexed(), self._swept(), joined)
        for number, variant in enumerate(_in_turns(*ways)):
            yield dataclasses.replace(variant, seed=seed + number)
        generator = np.random.default_rng(seed)
        drawn_sizes = [*sized, *joined]

        def drawn(kinds: Mapping[str, object]) -> str:
            return str(generator.choice(list(kinds)))

        for number in range(random):
            yield Variant(
                f"mixture {number + 1}",
                drawn_sizes[int(generator.integers(len(drawn_sizes)))].bindings,
                mask=drawn(dict.fromkeys(self._masks())),
                numbers=drawn(NUMBERS),
                ids=drawn({**INTEGERS, **INDICES}),
                seed=seed + 10_000 + number,
            )
        yield from self._empty()

    def feeds(self, variant: Variant) -> Feeds:
        """Return the inputs of a variant."""
        sizes = {**variant.bindings, **self._asked}
        plain = self._maker.make(sizes, seed=variant.seed)
        bound = self._maker.bound(sizes)
        random = np.random.default_rng([variant.seed, 77])
        arrays = {
            spec.name: self._varied(plain.arrays[spec.name], spec, variant, bound, random)
            for spec in self._maker.inputs
        }
        return Feeds(arrays, plain.bindings)

    def _working(self, works: Callable[[Feeds], bool]) -> dict[str, int]:
        """Return small sizes that the model takes, for all dimensions that may be chosen."""
        room = max((self._maker.longest or 1 << 30) - _BASE["past"][0], 1)
        most = max((len(_BASE[meaning]) for meaning in self._meanings.values()), default=1)
        base: dict[str, int] = {}
        for attempt in range(most):
            base = {
                symbol: min(_BASE[meaning][min(attempt, len(_BASE[meaning]) - 1)], room)
                for symbol, meaning in self._meanings.items()
            }
            if self._fits(base) and works(self.feeds(Variant("base", base))):
                return base
        known = {**self._maker.bound(self._asked).sizes, **self._usual}
        return known if self._meanings else base

    def _sized(self) -> list[Variant]:
        """Return variants of one size each: those that stand in the graphs first."""
        found = [Variant(_said(self._base) or "usual", self._base)]
        ways = [
            [
                Variant(f"{symbol}={size}", {**self._base, symbol: size})
                for size in self._sizes(symbol, meaning)[:_MOST_SIZES]
            ]
            for symbol, meaning in self._meanings.items()
        ]
        found += _in_turns(*ways)
        for symbol, size in self._alone():
            ones = {s: 1 for s, meaning in self._meanings.items() if meaning not in _PICTURES}
            single = {**ones, symbol: size}
            found.append(Variant(_said(single), {**self._base, **single}))
        swapped = self._swapped_picture()
        found += [Variant(_said(swapped), swapped)] if swapped else []
        return [variant for variant in found if self._fits(variant.bindings)]

    def _far(self) -> Iterator[dict[str, int]]:
        """Yield sizes just beyond the large numbers of the graphs, others being one or two."""
        few = {s: min(self._base[s], 2) for s, m in self._meanings.items() if m not in _PICTURES}
        numbers = [n for n in self._suspicions.integers if n <= _FARTHEST]
        for symbol, meaning in self._meanings.items():
            if meaning in ("past", "sequence") and self._maker.longest is not None:
                continue
            beyond = [n for n in numbers if n >= self._limit(meaning)]
            for number in beyond[:_MOST_FAR]:
                yield {**few, symbol: number + 1}

    def _joined(self) -> list[Variant]:
        """Return variants of large sizes and of several at once, beyond numbers of the graphs."""
        numbers = self._suspicions.integers
        longest = self._maker.longest
        ways = _in_turns(
            list(joint_sizes.multiplied(self._meanings, numbers, longest)),
            list(joint_sizes.alike([*self._meanings], numbers)),
            list(joint_sizes.joined([*self._meanings], numbers)),
        )
        within = [sizes for sizes in ways if self._is_within(sizes)]
        chosen = _in_turns(list(self._far()), within)
        found = [Variant(_said(sizes), {**self._base, **sizes}) for sizes in chosen]
        return [variant for variant in found if self._fits(variant.bindings)]

    def _is_within(self, sizes: Mapping[str, int]) -> bool:
        limits = {symbol: self._limit(self._meanings[symbol]) for symbol in sizes}
        return all(size <= limits[symbol] for symbol, size in sizes.items())

    def _empty(self) -> Iterator[Variant]:
        """Yield inputs without any row: last, for some models do not survive them."""
        for symbol, meaning in self._meanings.items():
            if meaning in _ROWS:
                yield Variant(f"{symbol}=0", {**self._base, symbol: 0})

    def _alone(self) -> Iterator[tuple[str, int]]:
        """Yield suspected sizes, to be tried with all other dimensions at one."""
        symbols = [s for s, meaning in self._meanings.items() if meaning not in _PICTURES]
        if len(symbols) < 2:
            return
        for symbol in symbols:
            for number in self._suspicions.integers[:12]:
                if 1 < number <= self._limit(self._meanings[symbol]):
                    yield symbol, number

    def _swapped_picture(self) -> dict[str, int]:
        """Return sizes in which pictures are as high as they were wide."""
        sides = {m: s for s, m in self._meanings.items() if m in ("height", "width")}
        if len(sides) < 2:
            return {}
        base = self._base
        turned = {
            sides["height"]: base[sides["width"]],
            sides["width"]: 2 * base[sides["height"]],
        }
        return {**base, **turned}

    def _sizes(self, symbol: str, meaning: str) -> list[int]:
        base = self._base[symbol]
        near = [
            size
            for number in self._suspicions.integers
            for size in (number, number + 1, number - 1, 2 * number, 3 * number)
        ]
        around = [base + 1, base + 2, base + 3, base - 1, 3 * base // 2, 2 * base, 2 * base + 1]
        usual = [size for size in _TELLING if meaning != "batch" or size <= _MOST_ROWS]
        past = [0] if meaning == "past" else []
        small = _SMALL_SIDES if meaning in ("height", "width") else ()
        pictured = meaning in _PICTURES
        chosen = (*around, *near, *small) if pictured else (*past, *_in_turns(near, usual))
        limit = self._limit(meaning)
        kept = [size for size in chosen if size in past or 1 <= size <= limit]
        return list(dict.fromkeys(kept))

    def _limit(self, meaning: str) -> int:
        longest = self._maker.longest
        if meaning == "batch":
            return 64
        if meaning == "past" and longest is not None:
            return max(longest - _BASE["sequence"][0], 0)
        if meaning in ("past", "sequence"):
            return 512 if longest is None else longest
        return 20_000 if meaning == "samples" else 512

    def _fits(self, bindings: Mapping[str, int]) -> bool:
        shapes = self._maker.bound({**bindings, **self._asked}).shapes.values()
        return sum(math.prod(shape) for shape in shapes) <= _MOST_ELEMENTS

    def _has(self, *roles: Role) -> bool:
        return any(self._maker.purpose(spec.name).role in roles for spec in self._maker.inputs)

    def _masked(self) -> list[Variant]:
        if not self._has(Role.MASK, Role.FULL_MASK):
            return []
        rows = {symbol: 4 for symbol, meaning in self._meanings.items() if meaning == "batch"}
        return [
            Variant(f"mask {kind}", {**self._base, **rows}, mask=kind) for kind in self._masks()
        ]

    def _masks(self) -> list[str]:
        """Return kinds of masks; those that are added only where some mask is a number."""
        added = any(
            self._maker.purpose(spec.name).role is Role.MASK and spec.dtype in FLOATS
            for spec in self._maker.inputs
        )
        return [*MASKS, *(f"{kind}{ADDED}" for kind in MASKS if added)]

    def _valued(self) -> list[Variant]:
        if not any(spec.dtype in FLOATS for spec in self._maker.inputs):
            return []
        reals = self._suspicions.reals
        plausible = [each for each in reals if 0 < abs(each) <= _LARGEST]
        told = (f"{word}{each!r}" for each in plausible for word in (NEAR, STEPS))
        kinds = [*NUMBERS, *told]
        return [Variant(f"numbers {kind}", self._base, numbers=kind) for kind in kinds]

    def _indexed(self) -> list[Variant]:
        """Return variants of integers, those that index tables among them."""
        if not any(spec.dtype[0] in "iu" for spec in self._maker.inputs):
            return []
        kinds = [*INDICES, *(kind for kind in INTEGERS if kind not in INDICES), "shuffled"]
        kinds = ["changed rows", *kinds] if self._suspicions.rows else kinds
        kinds += [f"{NEAR}{number}" for number in self._suspicions.integers]
        return [Variant(f"ids {kind}", self._base, ids=kind) for kind in kinds]

    def _swept(self) -> list[Variant]:
        """Return variants that together pick every row of the tables that inputs index."""
        wide = {**self._base, **self._widest()}
        sweeps = (f"sweep {number}" for number in range(self._sweeps(wide)))
        return [Variant(f"ids {kind}", wide, ids=kind) for kind in sweeps]

    def _widest(self) -> dict[str, int]:
        sizes = {"batch": 8, "sequence": min(64, self._limit("sequence"))}
        return {s: sizes[meaning] for s, meaning in self._meanings.items() if meaning in sizes}

    def _sweeps(self, bindings: Mapping[str, int]) -> int:
        """Return in how many runs each row of the largest table can be picked once."""
        bound = self._maker.bound({**bindings, **self._asked})
        needed = 0
        for spec in self._maker.inputs:
            rows = self._maker.rows(spec.name, bound)
            if (
                spec.dtype[0] in "iu"
                and rows is not None
                and self._maker.purpose(spec.name).role in _INDEXING
            ):
                places = max(math.prod(bound.shapes[spec.name]), 1)
                needed = max(needed, -(-rows // places))
        return min(needed, _MOST_SWEEPS)

    def _varied(
        self,
        array: Array,
        spec: TensorSpec,
        variant: Variant,
        bound: BoundSizes,
        random: np.random.Generator,
    ) -> Array:
        role = self._maker.purpose(spec.name).role
        if role in (Role.MASK, Role.FULL_MASK):
            return masked(array, variant.mask, random)
        if role is Role.POSITIONS and variant.ids == "shuffled":
            return random.permuted(array, axis=-1)
        if role in _INDEXING and spec.dtype[0] in "iu" and variant.ids != "plain":
            return self._chosen(array, variant.ids, self._maker.rows(spec.name, bound), random)
        if role in (Role.FEATURES, Role.IMAGE) and spec.dtype in FLOATS:
            return numbered(array, variant.numbers, random)
        if role is Role.PAST and variant.numbers in _PAST_NUMBERS:
            return numbered(array, variant.numbers, random)
        if role is Role.FLAG and variant.ids in ("first", "last", "one"):
            return np.full_like(array, variant.ids != "first")
        return array

    def _chosen(
        self, array: Array, kind: str, rows: int | None, random: np.random.Generator
    ) -> Array:
        if kind == "changed rows":
            known = [row for row in self._suspicions.rows if rows is None or row < rows] or [0]
            return random.choice(known, array.shape).astype(array.dtype)
        return counted(array, kind, rows, random)


def _in_turns(*ways: Sequence[T]) -> list[T]:
    """Return one of each, then the next of each, until all are used up."""
    return [one for turn in zip_longest(*ways) for one in turn if one is not None]


def _said(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={size}" for name, size in sizes.items())
