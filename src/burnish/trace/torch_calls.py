"""The operators that a PyTorch program called, as its timeline tells them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from burnish.core.whole import whole
from burnish.trace.events import Span


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """One call of an operator of PyTorch."""

    span: int
    """Where in the trace it is."""
    operator: str
    modules: tuple[str, ...]
    """The names of the modules around it, outermost first."""
    shapes: tuple[tuple[int, ...], ...]
    """Of its tensors; empty when they were not recorded."""


class CallTree:
    """The operators of one timeline, each with those that it called in turn."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._inner: dict[int | None, list[int]] = defaultdict(list)
        for index, span in enumerate(spans):
            if span.category == "node":
                self._inner[self._outer(index)].append(index)

    def runs(self) -> tuple[int, ...]:
        """Return the inferences in which operators were called."""
        return tuple(sorted({self._spans[i].run for i in self._inner[None]} - {-1}))

    def outermost(self, run: int, known: Collection[str]) -> list[OperatorCall]:
        """Return the outermost calls of an inference whose operators are known, in order."""
        roots = [index for index in self._inner[None] if self._spans[index].run == run]
        return [call for root in roots for call in self._first_known(root, known)]

    def within(self, call: OperatorCall, known: Collection[str]) -> list[OperatorCall]:
        """Return the next calls inside of one whose operators are known, in order."""
        return [
            found for inner in self._inner[call.span] for found in self._first_known(inner, known)
        ]

    def _first_known(self, index: int, known: Collection[str]) -> Iterator[OperatorCall]:
        if self._spans[index].name in known:
            yield self._call(index)
            return
        for inner in self._inner[index]:
            yield from self._first_known(inner, known)

    def _call(self, index: int) -> OperatorCall:
        span = self._spans[index]
        modules = []
        at = span.parent
        while at is not None:
            if self._spans[at].category == "module":
                modules.append(self._spans[at].name)
            at = self._spans[at].parent
        return OperatorCall(index, span.name, tuple(reversed(modules)), shapes_of(span))

    def _outer(self, index: int) -> int | None:
        at = self._spans[index].parent
        while at is not None and self._spans[at].category != "node":
            at = self._spans[at].parent
        return at


def shapes_of(span: Span) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of an operator's inputs, scalars left out."""
    written = str(span.attributes.get("shapes", ""))
    shapes = (part.split("x") for part in written.split(";") if part)
    found = ([whole(dim) for dim in shape] for shape in shapes)
    return tuple(
        tuple(dim for dim in shape if dim is not None) for shape in found if None not in shape
    )
