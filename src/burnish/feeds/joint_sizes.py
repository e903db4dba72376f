"""Sizes of several dimensions at once: some errors show only where two of them come together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product

Sizes = dict[str, int]

_TRIVIAL = 2
"""Numbers up to this are axes and steps more often than sizes."""
_MOST_NUMBERS = 4
_LONG = 128
"""A length at which a few rows make many tokens."""
_MOST_TOKENS = 2048


def telling_numbers(numbers: Sequence[int]) -> list[int]:
    """Return what stands in graphs and may be a size, the most telling first."""
    return list(dict.fromkeys(number for number in numbers if number > _TRIVIAL))


def alike(symbols: Sequence[str], numbers: Sequence[int]) -> Iterator[Sizes]:
    """Yield sizes that are the same for all dimensions: squares, as many rows as tokens."""
    beyond = (number + 1 for number in telling_numbers(numbers)[: 2 * _MOST_NUMBERS])
    for size in (1, 4, *beyond):
        yield dict.fromkeys(symbols, size)


def joined(symbols: Sequence[str], numbers: Sequence[int]) -> Iterator[Sizes]:
    """Yield pairs of dimensions, each just beyond a number of the graphs, or one of the two one.

    What the most telling numbers give comes first.
    """
    beyond = [number + 1 for number in telling_numbers(numbers)[:_MOST_NUMBERS]]
    sizes = [*beyond[:1], 1, *beyond[1:]]
    for first, second in sorted(product(range(len(sizes)), repeat=2), key=sum):
        for one, other in combinations(symbols, 2):
            if (sizes[first], sizes[second]) != (1, 1):
                yield {one: sizes[first], other: sizes[second]}


def multiplied(
    meanings: Mapping[str, str], numbers: Sequence[int], longest: int | None
) -> Iterator[Sizes]:
    """Yield rows of many tokens each, as many tokens in all as a number of the graphs, or more."""
    rows = [symbol for symbol, meaning in meanings.items() if meaning == "batch"]
    lengths = [symbol for symbol, meaning in meanings.items() if meaning == "sequence"]
    if not rows or not lengths:
        return
    long = min(longest or _LONG, _LONG)
    large = [n for n in telling_numbers(numbers) if _LONG < n <= _MOST_TOKENS]
    for number in large[:_MOST_NUMBERS]:
        yield {**dict.fromkeys(rows, number // long + 1), **dict.fromkeys(lengths, long)}
