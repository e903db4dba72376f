"""How often the judge of roundings errs: engines that are wrong and pass, right ones that do not.

An engine is one model run in another way, so that its meaning is not in question: only its numbers
tell. `python -m tests.torture.rates` prints a table, by type and by error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, helper, numpy_helper

from burnish.closeness.tolerance import ROUNDING
from burnish.core.array_types import array_type, name_of
from burnish.core.arrays import Array
from burnish.core.tensors import FLOATS
from burnish.feeds.distinguish import Suspicions
from burnish.feeds.feed import Feeds
from burnish.meaning.evaluate import Evaluator, Otherwise
from burnish.meaning.numbers import Reals, Value
from burnish.parity.arithmetic import arithmetic_by_output, quantised_values
from burnish.parity.examine import ExaminedInputs, Examiner, JudgingTerms
from burnish.parity.pairing import Pairing
from burnish.parity.report import JudgedSample
from burnish.parity.structure import Structure
from burnish.parity.tolerances import Tolerances
from burnish.parity.truth import Truth
from torture.bases.kinds import KINDS, Kind

TYPES = ("f32", "tf32", "f16", "bf16", "bf16 of f32", "int8")
PATIENCE = 64.0
"""That of another engine: the greatest there is."""


class Rounded(Reals):
    """Numbers as a device has them: each result rounded to the type that the model declares."""

    def __init__(self, factors: str = "", *, cut: bool = False) -> None:
        """Round the factors of products to `factors` besides; `cut`: towards zero."""
        self._factors, self._cut = factors, cut

    def rounded(self, value: Value, dtype: str) -> Value:
        """Return the nearest number of the type."""
        if dtype not in ("f32", "f16", "bf16"):
            return value
        with np.errstate(over="ignore"):
            kept = np.asarray(value).astype(np.float32).astype(array_type(dtype))
        found = kept.astype(np.float64)
        return shortened(found, "bf16") if self._factors == "bf16" else found

    def product(self, left: Value, right: Value, dtype: str) -> Value:
        """Return the products of what is left of the factors."""
        if self._factors and dtype in FLOATS:
            left, right = (shortened(each, self._factors, cut=self._cut) for each in (left, right))
        return super().product(left, right, dtype)


def recurrent(numbers: Rounded) -> Otherwise:
    """Return what runs an LSTM, step by step, of which every result is rounded."""

    def run(node: ir.Node, given: list[Array | None]) -> tuple[Array, ...]:
        assert node.op_type == "LSTM"
        dtype = name_of(np.asarray(given[0]))
        x, w, r, b = (np.asarray(each, np.float64) for each in given[:4])
        hidden = np.zeros((x.shape[1], r.shape[2]))
        cell, found = hidden, []
        halves = np.split(b[0], 2)
        for step in x:
            sums = [
                numbers.rounded(numbers.product(left, right[0].T, "f32"), dtype) + half
                for left, right, half in ((step, w, halves[0]), (hidden, r, halves[1]))
            ]
            gates = np.split(numbers.rounded(sums[0] + sums[1], dtype), 4, axis=1)
            i, o, f = (numbers.rounded(1 / (1 + np.exp(-each)), dtype) for each in gates[:3])
            c = numbers.rounded(np.tanh(gates[3]), dtype)
            cell = numbers.rounded(numbers.rounded(f * cell, dtype) + i * c, dtype)
            hidden = numbers.rounded(o * np.tanh(cell), dtype)
            found.append(hidden)
        return (np.stack(found)[:, None].astype(np.float32).astype(array_type(dtype)),)

    return run


def shortened(value: Value, kind: str, *, cut: bool = False) -> Value:
    """Return numbers with as many bits as a type has."""
    fractions, powers = np.frexp(value)
    steps = fractions / ROUNDING[kind]
    return np.ldexp((np.trunc(steps) if cut else np.rint(steps)) * ROUNDING[kind], powers)


def in_type(model: onnx.ModelProto, dtype: int) -> onnx.ModelProto:
    """Return a model all of whose numbers have another type."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    kind = helper.tensor_dtype_to_np_dtype(dtype)
    for each in made.graph.initializer:
        if each.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(each).astype(kind)
            each.CopyFrom(numpy_helper.from_array(array, each.name))
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.elem_type = dtype
    return made


def quantised(model: onnx.ModelProto, spans: Mapping[str, float]) -> onnx.ModelProto:
    """Return a model whose products take bytes: pairs of Q and DQ before them."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    weights = {each.name: numpy_helper.to_array(each) for each in made.graph.initializer}
    nodes: list[onnx.NodeProto] = []
    for node in made.graph.node:
        if node.op_type in ("MatMul", "Conv") and node.input[1] in weights:
            for place, span in ((0, spans[node.input[0]] / 127), (1, None)):
                name = node.input[place]
                found = span or float(np.abs(weights[name]).max() / 127)
                terms = [f"{name}.step.{len(nodes)}", f"{name}.zero.{len(nodes)}"]
                for term, array in zip(terms, (np.float32(found), np.int8(0)), strict=True):
                    made.graph.initializer.append(numpy_helper.from_array(np.array(array), term))
                codes, back = f"{name}.codes.{len(nodes)}", f"{name}.back.{len(nodes)}"
                nodes.append(helper.make_node("QuantizeLinear", [name, *terms], [codes]))
                nodes.append(helper.make_node("DequantizeLinear", [codes, *terms], [back]))
                node.input[place] = back
        nodes.append(node)
    kept = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del made.graph.node[:]
    made.graph.node.extend(kept)
    return made


def _spans(kind: Kind) -> dict[str, float]:
    spans = {name: float(np.abs(array).max()) for name, array in kind.feeds.items()}

    def see(value: ir.Value, operand: object) -> None:
        spans[value.name or ""] = float(np.abs(getattr(operand, "value")).max())  # noqa: B009

    Evaluator(ir.from_proto(kind.model)).outputs(kind.feeds, Reals(), watch=see)
    return spans


@dataclass(frozen=True, slots=True)
class Judging:
    """A kind of model in a type of arithmetic, and the judge of engines that run it."""

    kind: Kind
    arithmetic: str

    def written(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return a model of the kind, as it is written in this type."""
        if self.arithmetic in ("f16", "bf16"):
            half = TensorProto.FLOAT16 if self.arithmetic == "f16" else TensorProto.BFLOAT16
            return in_type(model, half)
        return quantised(model, _spans(self.kind)) if self.arithmetic == "int8" else model

    def feeds(self) -> dict[str, Array]:
        """Return inputs in the type of the model."""
        dtype = array_type(self.arithmetic if self.arithmetic in ("f16", "bf16") else "f32")
        return {name: array.astype(dtype) for name, array in self.kind.feeds.items()}

    def computed(self, model: onnx.ModelProto, *, cut: bool = False) -> dict[str, Array]:
        """Return what an engine gives that rounds every value, and factors where it is asked to."""
        factors = self.arithmetic.split()[0] if self.arithmetic in ("tf32", "bf16 of f32") else ""
        written = ir.from_proto(self.written(model))
        numbers = Rounded(factors, cut=cut)
        found = Evaluator(written, otherwise=recurrent(numbers)).outputs(self.feeds(), numbers)
        return {
            name: each.value.astype(np.float32).astype(array_type(each.dtype))
            for name, each in found.items()
        }

    def meant(self, model: onnx.ModelProto) -> dict[str, Array]:
        """Return what a model of the kind gives in real numbers."""
        evaluator = Evaluator(ir.from_proto(self.written(model)))
        return {name: each.value for name, each in evaluator.outputs(self.feeds(), Reals()).items()}

    def judged(self, outputs: Mapping[str, Array], patience: float = PATIENCE) -> JudgedSample:
        """Return how an engine fares that gives these outputs."""
        model = ir.from_proto(self.written(self.kind.model))
        asked = self.arithmetic.split()[0] if self.arithmetic in ("tf32", "bf16 of f32") else None
        names = frozenset(value.name or "" for value in model.graph.outputs)
        tolerances = Tolerances(
            asked, quantised=quantised_values(model), by_tensor=arithmetic_by_output(model)
        )
        own = self.computed(self.kind.model)
        examiner = Examiner(
            JudgingTerms(
                Pairing({name: name for name in names}, ()), tolerances,
                Structure(names, frozenset(), Suspicions()), patience,
            ),
            Truth(model, None, lambda *_: ()),
            run_written=lambda _: own if asked is None else {},
            run_alike=lambda _: {},
        )  # fmt: skip
        return examiner.sample(ExaminedInputs("1", Feeds(self.feeds(), {}), outputs, None))


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one engine fared."""

    error: str
    """What is wrong with it; empty: nothing."""
    passed: bool
    moved: float = 0.0
    """How far the error moves outputs, in root mean squares of what roundings do to them."""

    @property
    def is_right(self) -> bool:
        """Return whether it was judged as it is."""
        return self.passed == (not self.error)


def verdicts(kind: Kind, arithmetic: str, names: Collection[str] = ()) -> Iterator[Verdict]:
    """Yield how the right engine fares, then each that is wrong, or those that are named."""
    judging = Judging(kind, arithmetic)
    right = judging.computed(kind.model)
    yield Verdict("", judging.judged(right).passed)
    if arithmetic == "tf32":
        cut = judging.computed(kind.model, cut=True)
        yield Verdict("", judging.judged(cut).passed)
    truth = judging.meant(kind.model)
    own = _far(right, truth)
    for name in names or kind.plants:
        planted = kind.planted(name)
        found = judging.judged(judging.computed(planted))
        moved = _far(judging.meant(planted), truth)
        yield Verdict(name, found.passed, moved / own if own else np.inf)


def _far(outputs: Mapping[str, Array], truth: Mapping[str, Array]) -> float:
    return max(
        float(np.sqrt(np.mean(np.square(outputs[name].astype(np.float64) - truth[name]))))
        for name in truth
    )


def command_line() -> int:
    """Print how many errors were found, by error and type; return 1 if a right engine was not."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.rates", description=__doc__)
    parser.add_argument("--only", nargs="*", default=TYPES, help="types of arithmetic")
    asked = parser.parse_args()
    found = {
        (kind.name, arithmetic): list(verdicts(kind, arithmetic))
        for kind in (make() for make in KINDS)
        for arithmetic in asked.only
    }
    errors = dict.fromkeys(each.error for every in found.values() for each in every)
    for error in errors:
        print(f"| {error or 'none'} | " + " | ".join(_cell(found, error, t) for t in asked.only))
    missed = [
        f"{kind}, {arithmetic}: {each.error or 'nothing wrong'}, moved {each.moved:.1f} times"
        for (kind, arithmetic), every in found.items()
        for each in every
        if not each.is_right
    ]
    print("\n".join(missed))
    return int(any(not each.error and not each.is_right for v in found.values() for each in v))


def _cell(found: Mapping[tuple[str, str], Sequence[Verdict]], error: str, arithmetic: str) -> str:
    asked = [e for (_, t), every in found.items() if t == arithmetic for e in every
             if e.error == error]  # fmt: skip
    return f"{sum(each.is_right for each in asked)} of {len(asked)}"


if __name__ == "__main__":
    sys.exit(command_line())
