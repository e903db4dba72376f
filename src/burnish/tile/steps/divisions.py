"""Division and remainder in a nest's indices: where they are, and how many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from burnish.tile.graph import TileOp
from burnish.tile.index import Div, Fetch, Index, Mod, flatten
from burnish.tile.steps.tidy import Tensors


@dataclass(frozen=True, slots=True)
class Divisions:
    """The divisions and remainders of a nest, each as often as it is written."""

    addresses: tuple[Div | Mod, ...]
    """Those in row-major addresses and in conditions: what has to be computed."""
    dimensions: tuple[Div | Mod, ...]
    """Those in the single dimensions: what stands in the way of seeing how nests fit."""

    @property
    def weight(self) -> tuple[int, int]:
        """Return how many there are, what has to be computed first."""
        return len(self.addresses), len(self.dimensions)


def divisions(op: TileOp, tensors: Tensors) -> Divisions:
    """Return the divisions and remainders in the indices of a nest."""
    guarded = (guard.index for read in op.reads for guard in read.guards)
    others = (*guarded, *op.coordinates)
    places = [_address(read.index, tensors[read.tensor].shape) for read in op.reads]
    single = [index for read in op.reads for index in read.index]
    return Divisions(tuple(_inside([*places, *others])), tuple(_inside([*single, *others])))


@lru_cache(maxsize=100_000)
def _address(index: tuple[Index, ...], shape: tuple[int, ...]) -> Index:
    return flatten(index, shape)


def _inside(indices: Iterable[Index]) -> Iterator[Div | Mod]:
    for index in indices:
        for atom, _ in index.terms:
            match atom:
                case Div(of, _) | Mod(of, _):
                    yield atom
                    yield from _inside([of])
                case Fetch(_, inner, _):
                    yield from _inside(inner)
