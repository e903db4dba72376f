"""Judge a replacement by its meaning, on a part of a graph that holds it beside the original."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir

from burnish.core.arrays import Arrays
from burnish.core.budget import Budget
from burnish.core.closing import Closing
from burnish.meaning.evaluate import Evaluator
from burnish.meaning.field import PrimeField
from burnish.meaning.node import NotEvaluatedError
from burnish.parity.compare import compare_tensor
from burnish.parity.comparison import flat
from burnish.parity.meanings import Meanings
from burnish.parity.noise import Tensors
from burnish.parity.one_node import NodeRunner
from burnish.parity.roundings import Roundings
from burnish.parity.settled import settled_numbers
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Meant, Truth
from burnish.study.check_feeds import CheckSample

_LONGEST_S = 10.0
"""How long one part may be evaluated."""
_SEEDS = (1, 2)
"""Draws of field elements: two make an accident of one in 10^17 for parts of small degree."""


class PartMeaning(Closing):
    """A part whose first outputs are the original's, and whose others are the replacement's."""

    def __init__(
        self, part: ir.Model, before: Sequence[str], after: Sequence[str], weights: Sequence[str]
    ) -> None:
        self._before, self._after = before, after
        self._runner = NodeRunner(dict(part.opset_imports))
        self._budget = Budget(_LONGEST_S)
        copy = flat(part.clone())
        # Which constants are made from which is not known here: any may be rounded anew.
        made = {value.name or "" for value in settled_numbers(copy)}
        loose = {*weights, *copy.graph.initializers, *made}
        self._truth = Truth(
            copy, None, self._runner, weights=weights, loose=(loose, ()), budget=self._budget
        )
        self._exact = Evaluator(part.clone(), weights=weights)
        self._truths: dict[int, Tensors | None] = {}
        self._explained: dict[str, float] = {}

    def close(self) -> None:
        """Close the sessions of single nodes."""
        self._runner.close()

    @property
    def is_known(self) -> bool:
        """Return whether meaning could be judged on some sample."""
        return any(tensors is not None for tensors in self._truths.values())

    def difference(self, given: Sequence[CheckSample]) -> str:
        """Return how the two differ in meaning, on any sample; empty: they do not."""
        for number, sample in enumerate(given):
            tensors = self._truths[number] = self._truth.of_reference(sample.arrays)
            if tensors is None:
                continue
            found = self._differing(sample.arrays, tensors)
            if found:
                return f"{found} in real numbers ({sample.title})"
        return ""

    def is_proven(self, given: Sequence[CheckSample]) -> bool:
        """Return whether the two are equal in a finite field, on the first sample."""
        for seed in _SEEDS:
            numbers = PrimeField(seed)
            try:
                found = self._exact.outputs(given[0].arrays, numbers, budget=self._budget)
            except (NotEvaluatedError, ArithmeticError, LookupError, ValueError, TypeError):
                return False
            for old, new in self._pairs():
                sides = numbers.array(found[old].value), numbers.array(found[new].value)
                if sides[0].shape != sides[1].shape or (sides[0] != sides[1]).any():
                    return False
        return True

    def rounding(self, number: int, sample: CheckSample, results: Arrays) -> str:
        """Return how far what was run is off, beyond what the original is; empty: it is not."""
        tensors = self._truths.get(number)
        for old, new in self._pairs():
            if tensors is None:
                diff = compare_tensor("result", results[old], results[new], Tolerances())
            else:
                judging = Roundings(
                    self._truth, Tolerances(), sample.arrays, tensors, {old: results[old]},
                    run_written=lambda _: {}, run_alike=lambda _: {},
                )  # fmt: skip
                diff = judging.diff(old, tensors[old], results[new], hopeless=False)
            if not diff.passed:
                return diff.reason
        return ""

    def _differing(self, arrays: Arrays, tensors: Tensors) -> str:
        outputs = [Meant(old, tensors[old], new, tensors[new]) for old, new in self._pairs()]
        judging = Meanings(self._truth, arrays, outputs, Tolerances(), self._explained)
        return next((diff.reason for diff in judging.diffs() if not diff.passed), "")

    def _pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self._before, self._after, strict=True)
