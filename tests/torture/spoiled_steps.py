"""Ask `optimize`'s check of each step about replacements with errors planted in them.

python -m tests.torture.spoiled_steps MODEL.onnx … [--most 9]

Each rule's replacement of each form is spoilt in turn, and the graph is left as it was. A line
each; exit code 1 if an error was kept, or a replacement without one was not. What changes no number
is no error, and is not planted: constants that are infinite, zero, limits, defaults or equal to
what they change places with. What is kept may still be none: where both are proven to be equal, as
with an attribute that is not read, that is said; where nothing that a model is fed shows it, as
with a mask that is always zero, a line says that it was found on its own.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.infer.constants import constant_tensor
from burnish.rewrite.facts import FLOATS, Facts
from burnish.rewrite.match import Proposal
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import optimize
from burnish.rewrite.rule import Refusal
from burnish.store import onnx_files
from burnish.study.check import region_check

_SWITCHES = ("is_causal", "unidirectional", "transA", "transB", "interleaved")
_ORDERED = ("Sub", "Div", "MatMul", "Pow", "Less", "Greater")
_FACTORS = {"× 1.01": 1.01, "× 0": 0.0}
_LIMIT = 1e9
"""Numbers beyond this say what masks: a hundredth more says the same."""
_DEFAULTS = {("Slice", 4): 1.0, ("Conv", 2): 0.0}
"""What inputs stand for that are left out."""
APART = "on its own it differs, and not with what leads to it"


@dataclass(frozen=True, slots=True)
class Plant:
    """An error in a replacement, and how it is taken out again."""

    title: str
    put_in: Callable[[], None]
    take_out: Callable[[], None]


@dataclass(frozen=True, slots=True)
class AskedStep:
    """What the check said of one replacement with one error."""

    rule: str
    error: str
    """Empty: none."""
    kept: bool
    said: str
    proven: bool = False
    """Whether it was kept because it is equal in a finite field: what was planted is no error."""

    @property
    def is_right(self) -> bool:
        """Return whether it was judged as it is."""
        return self.kept == (not self.error) or self.proven


def plants(proposal: Proposal) -> Iterator[Plant]:
    """Yield the errors that can be planted in a replacement."""
    for node in proposal.nodes:
        yield from _attributes(node)
        yield from _constants(node, set(proposal.match.nodes))
        yield from _inputs(node)


def _attributes(node: ir.Node) -> Iterator[Plant]:
    for name, held in list(node.attributes.items()):
        for word, other in _others(name, held):
            put_in, take_out = (partial(_set, node, name, each) for each in (other, held))
            yield Plant(f"{node.op_type}.{name} {word}", put_in, take_out)


def _others(name: str, held: ir.Attr) -> Iterator[tuple[str, ir.Attr]]:
    match held.type:
        case ir.AttributeType.FLOAT if held.as_float() and np.isfinite(held.as_float()):
            by = 10.0 if "eps" in name else 1.02
            yield f"× {by:g}", ir.AttrFloat32(name, held.as_float() * by)
        case ir.AttributeType.INT if name in _SWITCHES:
            yield "switched", ir.AttrInt64(name, 1 - held.as_int())
        case ir.AttributeType.INT if name.endswith("num_heads"):
            yield "doubled", ir.AttrInt64(name, 2 * held.as_int())
        case ir.AttributeType.INTS if name == "perm" and len(held.as_ints()) > 1:
            *rest, last, end = held.as_ints()
            yield "of the last two swapped", ir.AttrInt64s(name, [*rest, end, last])


def _set(node: ir.Node, name: str, held: ir.Attr) -> None:
    node.attributes[name] = held


def _constants(node: ir.Node, old: set[ir.Node]) -> Iterator[Plant]:
    """Yield factors of constants that nothing of the original reads."""
    for number, value in enumerate(node.inputs):
        array = None if value is None else _array(value)
        if value is None or array is None or value.dtype not in FLOATS or value.is_graph_input():
            continue
        if value.const_value is None or {user for user, _ in value.uses()} & old:
            continue
        for word, by in _FACTORS.items():
            with np.errstate(invalid="ignore"):
                other = (array * by).astype(array.dtype)
            if np.array_equal(other, array, equal_nan=True) or (by and np.all(array < -_LIMIT)):
                continue
            tensor = ir.Tensor(other, dtype=value.dtype, name=value.name)
            put_in, take_out = (partial(_fill, value, each) for each in (tensor, value.const_value))
            yield Plant(f"{node.op_type} constant {number} {word}", put_in, take_out)


def _fill(value: ir.Value, tensor: ir.TensorProtocol) -> None:
    value.const_value = tensor


def _inputs(node: ir.Node) -> Iterator[Plant]:
    held = list(node.inputs)
    put_back = partial(_feed, node, held)
    if len(held) > 2 and not _are_same(held[1], held[2]):
        other = [held[0], held[2], held[1], *held[3:]]
        yield Plant(f"{node.op_type} inputs 1, 2 swapped", partial(_feed, node, other), put_back)
    if len(held) > 2 and held[-1] is not None and not _is_default(node):
        without = [*held[:-1], None]
        yield Plant(f"{node.op_type} last input dropped", partial(_feed, node, without), put_back)
    if len(held) == 2 and node.op_type in _ORDERED and not _are_same(*held):
        yield Plant(f"{node.op_type} sides swapped", partial(_feed, node, held[::-1]), put_back)


def _is_default(node: ir.Node) -> bool:
    """Return whether the last input is what it stands for where it is left out."""
    number = len(node.inputs) - 1
    value, default = node.inputs[number], _DEFAULTS.get((node.op_type, number))
    array = None if value is None else _array(value)
    return array is not None and default is not None and bool(np.all(array == default))


def _feed(node: ir.Node, values: Sequence[ir.Value | None]) -> None:
    for number, value in enumerate(values):
        node.replace_input_with(number, value)


def _are_same(one: ir.Value | None, other: ir.Value | None) -> bool:
    """Return whether it makes no difference which of two is read, as of two sizes that are 1."""
    if one is other or one is None or other is None:
        return one is other
    arrays = _array(one), _array(other)
    if arrays[0] is None or arrays[1] is None or one.dtype != other.dtype:
        return False
    return np.array_equal(arrays[0], arrays[1])


def _array(value: ir.Value) -> Array | None:
    tensor = constant_tensor(value)
    return None if tensor is None or tensor.dtype == ir.DataType.STRING else tensor.numpy()


def asked_about_steps(model: ir.Model, *, most: int = 9) -> list[AskedStep]:
    """Return what is said of each rule's replacement of each form, with and without errors."""
    found: list[AskedStep] = []
    seen: set[tuple[str, ...]] = set()

    def check(proposal: Proposal, facts: Facts) -> Refusal | None:
        form = (proposal.rule, *(node.op_type for node in proposal.nodes))
        if form not in seen:
            seen.add(form)
            found.append(_asked(proposal, facts, ""))
            for plant in [*plants(proposal)][:most]:
                plant.put_in()
                try:
                    found.append(_asked(proposal, facts, plant.title))
                finally:
                    plant.take_out()
        return None

    optimize(model, OptimizeOptions(), check=check)
    return found


def _asked(proposal: Proposal, facts: Facts, error: str) -> AskedStep:
    with region_check() as check:
        refusal = check(proposal, facts)
    if refusal is not None:
        return AskedStep(proposal.rule, error, kept=False, said=refusal.reason)
    untried = [each.reason for each in check.unchecked.values()]
    apart = [each.difference for each in check.outcomes.values() if each.difference]
    said = [*untried, *(f"{APART}: {each}" for each in apart)]
    proven = any(each.proven for each in check.outcomes.values() if not each.difference)
    return AskedStep(proposal.rule, error, kept=True, said="; ".join(said), proven=proven)


def command_line() -> int:
    """Print a line for each error."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture.spoiled_steps", description=__doc__
    )
    parser.add_argument("model", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=9)
    given = parser.parse_args()
    wrong = 0
    for path in given.model:
        for each in asked_about_steps(onnx_files.read(path), most=given.most):
            wrong += not each.is_right
            word = ("proven" if each.proven else "kept") if each.kept else "found"
            what = f"{path.stem}: {each.rule}: {each.error or 'no error'}"
            print(f"{what:<76} {word:<7} {'' if each.is_right else '!'} {each.said}", flush=True)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(command_line())
