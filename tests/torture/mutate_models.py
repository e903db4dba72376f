"""Mutants of models: the catalogue of known defects, then random ones without end, by seed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import onnx

from torture import broken_models, seed_models
from torture.protobuf_mutations import bytes_of, damaged, mutate

MODEL = "m.onnx"
"""What a mutant's file is called in its folder, unless its writer chose another name."""
_LARGE_BYTES = 200_000


class Mutant(NamedTuple):
    """A damaged input: the bytes of its file, or what writes it, with what lies beside it."""

    name: str
    content: bytes | Callable[[Path], None]

    def write(self, folder: Path) -> None:
        """Write it into an empty folder."""
        if isinstance(self.content, bytes):
            (folder / MODEL).write_bytes(self.content)
        else:
            self.content(folder)


def mutants(seed: int, first: int = 0) -> Iterator[Mutant]:
    """Yield mutants of models without end, from the `first` on: equal seeds give equal ones.

    The catalogue comes in an order of its own for each seed, with a random one after each.
    """
    named = [Mutant(name, content) for name, content in broken_models.named().items()]
    random.Random(seed).shuffle(named)
    for number, is_named in turns(len(named), first):
        yield named[number] if is_named else _mutant(seed, number)


def turns(named: int, first: int) -> Iterator[tuple[int, bool]]:
    """Yield from the `first` turn on whose it is: the named ones', or the random ones' after each.

    All are counted from 0, either kind by itself.
    """
    for turn in itertools.count(first):
        if turn < 2 * named:
            yield turn // 2, turn % 2 == 0
        else:
            yield turn - named, False


def _mutant(seed: int, number: int) -> Mutant:
    chance = random.Random(f"{seed}/{number}")
    names, models = _seeds()
    # small ones are cheaper to run, and show as much
    large = chance.random() < 0.03
    name = chance.choice([n for n in names if (models[n].ByteSize() > _LARGE_BYTES) == large])
    model = onnx.ModelProto()
    model.CopyFrom(models[name])
    done = [mutate(model, chance) for _ in range(chance.choice((1, 1, 1, 2, 3, 5)))]
    data = bytes_of(model)
    if chance.random() < 0.1:
        word, data = damaged(data, chance)
        done.append(word)
    return Mutant(f"{seed}/{number} {name}: {', '.join(done)}", data)


@cache
def _seeds() -> tuple[list[str], dict[str, onnx.ModelProto]]:
    models = {**seed_models.small(), **dict(seed_models.found())}
    return sorted(models), models
