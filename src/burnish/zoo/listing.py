"""The zoo as a list: records only."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.zoo.entry import MODELS

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class ZooModel:
    """A model that can be exported, and what can be chosen about it."""

    name: str
    family: str
    parameters: int
    inputs: str
    summary: str
    idea: str
    choices: tuple[str, ...]
    """Options that it follows beyond batch, precision, small and seed."""


@dataclass(frozen=True, slots=True)
class ZooListing:
    """All models of the zoo, by family and name."""

    models: tuple[ZooModel, ...]


def list_zoo() -> ZooListing:
    """Return every model, those of one family together."""
    found = [describe(name) for name in MODELS]
    return ZooListing(tuple(sorted(found, key=lambda model: (model.family, model.name))))


def describe(name: str) -> ZooModel:
    """Return what is known of one model."""
    entry = MODELS[name]
    return ZooModel(
        name=entry.name,
        family=entry.family,
        parameters=entry.parameters,
        inputs=entry.inputs,
        summary=entry.summary,
        idea=entry.idea,
        choices=tuple(sorted(entry.understands)),
    )
