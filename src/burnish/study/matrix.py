"""From what was asked to the groups of a matrix: cells that take turns with each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from burnish.bench.choose import alike_labels
from burnish.bench.measure import GENERATE
from burnish.core.precisions import precision_named
from burnish.feeds.feed import Padding
from burnish.feeds.make import Maker
from burnish.store import onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.several import counts, element_types, numbers
from burnish.study.requests.vocabulary import Place, Sizes, shapes

_LENGTHS = ("sequence", "frames", "points", "samples")
"""What `--sequence` means, by what a model's axes mean: the first that it has."""


@dataclass(frozen=True, slots=True)
class CellGroup:
    """Models that should compute the same, at one size, in one type, on so many threads.

    It has what `feeds_of` asks of a request.
    """

    models: tuple[StoredModel, ...]
    shape: Sizes
    precision: str
    """Empty: the models' own."""
    threads: int | None
    data: Place | None
    seed: int
    padding: Padding
    generate: int | None = None
    """How many tokens a call writes; 0: it is one run; None: nobody asked."""
    apart: str = ""
    """What tells it from the other groups: `batch=8,sequence=128 fp16`."""
    alike: frozenset[str] = frozenset()
    """Labels that several models of the whole matrix have: these are called by their files."""

    def label(self, subject: str) -> str:
        """Return the name of a subject of this group, unlike that of any other group."""
        return f"{subject} {self.apart}".rstrip()


def groups(
    asked: BenchCommand, models: Sequence[StoredModel]
) -> tuple[tuple[CellGroup, ...], tuple[str, ...]]:
    """Return every combination of what was asked for, and what does not apply to a model."""
    found: list[CellGroup] = []
    notes: list[str] = []
    for family in families(models):
        sizes, told = sizes_of(asked, family[0])
        notes += told
        for shape, precision, threads, tokens in itertools.product(
            sizes,
            element_types(asked.precision or ()) or ("",),
            counts(asked.threads or ()) or (None,),
            numbers(asked.generate) or (None,),
        ):
            fed = (asked.data, asked.seed, asked.padding)
            found.append(CellGroup(family, shape, precision, threads, *fed, tokens))
    alike = alike_labels(models)
    return tuple(replace(one, alike=alike) for one in _told_apart(found)), (
        tuple(dict.fromkeys(notes))
    )


def families(models: Sequence[StoredModel]) -> tuple[tuple[StoredModel, ...], ...]:
    """Return the models in sets that are compared: variants of one name, and files that fit them.

    A file of no store belongs to the first set whose inputs and outputs it has.
    """
    found: list[list[StoredModel]] = []
    for model in models:
        place = next((family for family in found if _belongs(model, family)), None)
        if place is None:
            found.append([model])
        else:
            place.append(model)
    return tuple(map(tuple, found))


def _belongs(model: StoredModel, family: Sequence[StoredModel]) -> bool:
    named = [one.name for one in family if one.variant]
    if model.variant and named:
        return model.name in named
    return _names(model) == _names(family[0])


def _names(model: StoredModel) -> tuple[frozenset[str], frozenset[str]]:
    found: Interface = onnx_files.interface(onnx_files.look(model.onnx))
    inputs, outputs = ({spec.name for spec in part} for part in (found.inputs, found.outputs))
    return frozenset(inputs), frozenset(outputs)


def sizes_of(asked: BenchCommand, model: StoredModel) -> tuple[list[Sizes], list[str]]:
    """Return the sizes to measure, each once, and which of those asked for a model lacks."""
    wanted = {
        "batch": (("batch",), counts(asked.batch)),
        "sequence": (_LENGTHS, counts(asked.sequence)),
        "past-length": (("past",), numbers(asked.past_length)),
    }
    if model.sizes:
        return list(model.sizes), []
    known = symbols(model) if any(sizes for _, sizes in wanted.values()) else {}
    axes: list[list[Sizes]] = [list(shapes(asked.shape)) or [{}]]
    notes: list[str] = []
    for option, (meanings, sizes) in wanted.items():
        names = next((known[meaning] for meaning in meanings if meaning in known), ())
        if sizes and not names:
            notes.append(f"--{option} says nothing of {model.label}, which has no such dimension")
        elif sizes:
            axes.append([dict.fromkeys(names, size) for size in sizes])
    every = [_merged(parts) for parts in itertools.product(*axes)]
    return [dict(pairs) for pairs in dict.fromkeys(tuple(one.items()) for one in every)], notes


def symbols(model: StoredModel) -> dict[str, tuple[str, ...]]:
    """Return the symbolic dimensions of a model's inputs by what they mean."""
    meanings = Maker(onnx_files.look(model.onnx)).bound({}).meanings
    found: dict[str, tuple[str, ...]] = {}
    for symbol, meaning in meanings.items():
        found[meaning] = (*found.get(meaning, ()), symbol)
    return found


def _merged(parts: Sequence[Sizes]) -> dict[str, int]:
    return {name: size for part in parts for name, size in part.items()}


def _told_apart(found: Sequence[CellGroup]) -> Iterator[CellGroup]:
    """Give each group the words in which it differs from others."""
    facets: Mapping[str, list[str]] = {
        "shape": [",".join(f"{name}={size}" for name, size in one.shape.items()) for one in found],
        "precision": [precision_named(one.precision) for one in found],
        "threads": [f"threads={one.threads}" for one in found],
        "generate": [f"{GENERATE}={one.generate}" for one in found],
    }
    telling = [words for words in facets.values() if len(set(words)) > 1]
    for index, group in enumerate(found):
        yield replace(group, apart=" ".join(words[index] for words in telling).strip())
