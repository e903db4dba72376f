"""Which output of one model is to equal which of the other, and what keeps two models apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.core.tensors import TensorSpec
from burnish.store.interface import ANY_RANK, Interface


@dataclass(frozen=True, slots=True)
class Pairing:
    """Outputs that belong together."""

    candidates: Mapping[str, str]
    """Reference output → candidate output; a reference output without one is not here."""
    notes: tuple[str, ...]


def differing_inputs(reference: Interface, candidate: Interface) -> tuple[str, ...]:
    """Return why the two models cannot be fed the same, as sentences; empty when they can."""
    wanted = {spec.name: spec for spec in reference.inputs}
    found = {spec.name: spec for spec in candidate.inputs}
    lacking = [
        f"the candidate lacks the input {spec}" for n, spec in wanted.items() if n not in found
    ]
    more = [f"the reference lacks the input {spec}" for n, spec in found.items() if n not in wanted]
    unlike = [
        f"the input {name!r} is {spec} in the reference and {found[name]} in the candidate"
        for name, spec in wanted.items()
        if name in found and not _alike(spec, found[name])
    ]
    return (*lacking, *more, *unlike)


def differing_outputs(reference: Interface, candidate: Interface) -> tuple[str, ...]:
    """Return why callers who read outputs by their place are given others; empty: they are not."""
    wanted = [spec.name for spec in reference.outputs]
    found = [spec.name for spec in candidate.outputs]
    kept = [name for name in found if name in wanted]
    if kept == wanted or sorted(kept) != sorted(wanted):
        return ()
    place = next(place for place, (a, b) in enumerate(zip(wanted, kept, strict=True)) if a != b)
    there = f"number {place} is {kept[place]!r}, the reference has {wanted[place]!r} there"
    return (f"the candidate gives its outputs in another order: {there}",)


def pair_outputs(reference: Interface, candidate: Interface) -> Pairing:
    """Return the outputs that belong together: by name, and the rest by position.

    The rest is matched only when both have as many left, of the same types and shapes.
    """
    names = {spec.name for spec in candidate.outputs}
    shared = {spec.name: spec.name for spec in reference.outputs if spec.name in names}
    left = [spec for spec in reference.outputs if spec.name not in shared]
    right = [spec for spec in candidate.outputs if spec.name not in shared]
    declared = tuple(_declared_otherwise(reference, candidate))
    if not left:
        return Pairing(shared, (*declared, *(_left_over(spec) for spec in right)))
    if len(left) == len(right) and all(map(_alike, left, right)):
        by_position = {a.name: b.name for a, b in zip(left, right, strict=True)}
        return Pairing({**shared, **by_position}, (*declared, _by_position(left, right)))
    return Pairing(shared, (*declared, *(_left_over(spec) for spec in right)))


def _declared_otherwise(reference: Interface, candidate: Interface) -> Iterator[str]:
    """Yield what is to be said of outputs that the models declare with shapes that exclude another.

    Engines give what they compute, whatever was declared: who reads the declaration is misled.
    """
    found = {spec.name: spec for spec in candidate.outputs}
    for spec in reference.outputs:
        other = found.get(spec.name)
        if other is not None and spec.dtype == other.dtype and not _alike(spec, other):
            yield f"the candidate declares {other}, the reference {spec}: one of them is wrong"


def _alike(first: TensorSpec, second: TensorSpec) -> bool:
    """Return whether two tensors can be the same one; a symbolic size fits any other."""
    if first.dtype != second.dtype:
        return False
    if ANY_RANK in (*first.shape, *second.shape):
        return True
    same_rank = len(first.shape) == len(second.shape)
    pairs = zip(first.shape, second.shape, strict=False)
    return same_rank and all(a == b or isinstance(a, str) or isinstance(b, str) for a, b in pairs)


def _left_over(spec: TensorSpec) -> str:
    return f"the candidate's output {spec.name!r} has no counterpart and was not compared"


def _by_position(left: Sequence[TensorSpec], right: Sequence[TensorSpec]) -> str:
    pairs = ", ".join(f"{a.name} with {b.name}" for a, b in zip(left, right, strict=True))
    return f"the models name their outputs differently; compared by position: {pairs}"
