"""A branch that is always taken replaces its If; others stay."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.pipeline import optimize
from rewriting import Graph, checked, op_types, samples


def branch(name: str, op_type: str | None, x: ir.Value) -> ir.Graph:
    """Return a body that applies an operator to an outer value, twice it, or gives it back."""
    weight = ir.Value(
        name=f"{name}_weight", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([]),
        const_value=ir.Tensor(np.array(2.0, np.float32), name=f"{name}_weight"),
    )  # fmt: skip
    if op_type is None:
        node = ir.node("Identity", [x], name=f"{name}_node")
    else:
        node = ir.node(op_type, [x, weight], name=f"{name}_node")
    node.outputs[0].name = f"{name}_out"
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    initializers = [] if op_type is None else [weight]
    return ir.Graph([], node.outputs, nodes=[node], initializers=initializers, name=name)


def build(condition: bool | None) -> ir.Model:
    g = Graph()
    x = g.input("x", [2, 3])
    told = g.input("told", [], ir.DataType.BOOL)
    chosen = told if condition is None else g.constant(np.array(condition))
    inner = g.op("Neg", x)
    bodies = {"then_branch": branch("yes", "Mul", inner), "else_branch": branch("no", None, inner)}
    return g.model(g.op("If", chosen, **bodies))


@pytest.mark.parametrize(("condition", "left"), [(True, ["Neg", "Mul"]), (False, ["Neg"])])
def test_a_constant_condition_chooses(condition: bool, left: list[str]) -> None:
    feeds = {"x": samples(2, 3), "told": np.array(True)}
    assert op_types(checked(build(condition), feeds).model) == left


def test_a_condition_that_is_told_stays() -> None:
    result = optimize(build(None))
    assert op_types(result.model) == ["Neg", "If"]


def test_a_branch_that_gives_an_input_back_is_copied() -> None:
    g = Graph()
    x = g.input("x", [2, 3])
    bodies = {"then_branch": branch("yes", None, x), "else_branch": branch("no", "Mul", x)}
    model = g.model(g.op("If", g.constant(np.array(True)), **bodies))
    result = checked(model, {"x": samples(2, 3)})
    assert "If" not in op_types(result.model)
    assert [output.name for output in result.model.graph.outputs] == ["out0"]


def test_the_step_can_be_disabled() -> None:
    from burnish.rewrite.options import OptimizeOptions

    result = optimize(build(True), OptimizeOptions(disable=("choose-branches",)))
    assert "If" in op_types(result.model)


def sizes_compared(names: tuple[str, str], *, negated: bool, shift: int = 0) -> ir.Model:
    g = Graph()
    one, other = (g.input(f"i{n}", [name, 3]) for n, name in enumerate(names))
    zero = np.array(0, np.int64)
    left = g.op("Gather", g.op("Shape", g.op("Neg", one)), zero)
    right = g.op("Add", g.op("Gather", g.op("Shape", other), zero), np.array(shift, np.int64))
    told = g.op("Equal", left, right)
    told = g.op("Not", told) if negated else told
    inner = g.op("Abs", one)
    bodies = {"then_branch": branch("yes", "Mul", inner), "else_branch": branch("no", None, inner)}
    return g.model(g.op("If", told, **bodies), g.op("Relu", other))


@pytest.mark.parametrize(
    ("negated", "shift", "taken"),
    [(False, 0, True), (True, 0, False), (False, 1, False), (True, 1, True)],
)
def test_sizes_that_are_always_or_never_equal_choose(
    negated: bool, shift: int, taken: bool
) -> None:
    model = sizes_compared(("batch", "batch"), negated=negated, shift=shift)
    result = checked(model, {"i0": samples(2, 3), "i1": samples(2, 3)})
    assert "If" not in op_types(result.model)
    assert ("Mul" in op_types(result.model)) == taken


def test_sizes_that_may_be_equal_do_not_choose() -> None:
    assert "If" in op_types(optimize(sizes_compared(("batch", "other"), negated=False)).model)
