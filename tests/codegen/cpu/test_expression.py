"""Expressions as vector code mean what the NumPy judge says they mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llvmlite import ir

from burnish.codegen.cpu.compile import assembly
from burnish.codegen.cpu.expression import EMITTERS, emit, refusal
from burnish.codegen.cpu.target import TARGETS as ALL_TARGETS
from burnish.codegen.cpu.target import InstructionSet
from burnish.core.errors import ModelError
from burnish.tile.expr import Accumulated, Argument, Call, Constant, Expr, call, cast
from burnish.tile.functions import FUNCTIONS
from burnish.tile.graph import Read, TileOp
from burnish.tile.index import Axis, at
from burnish.tile.reference import evaluate_op
from codegen.cpu.element_kernels import TARGETS, evaluate, on_each_target, text, widths

SIZE = 37

_JOINING = ("add", "subtract", "multiply", "minimum", "maximum")
_FLAT = ("tanh", "sigmoid", "erf")


def judged(expr: Expr, arrays: list[np.ndarray]) -> np.ndarray:
    axis = Axis("i", SIZE)
    reads = tuple(Read(f"x{place}", (at(axis),)) for place in range(len(arrays)))
    op = TileOp(output="y", spatial=(axis,), reads=reads, body=expr)
    return evaluate_op(op, {f"x{place}": array for place, array in enumerate(arrays)})


def largest(expr: Expr) -> Expr:
    """Return what bounds all that is met while evaluating: no term takes away from another."""
    match expr:
        case Call("multiply", arguments, dtype):
            return Call("multiply", tuple(map(largest, arguments)), dtype)
        case Call("where", (_, yes, no), _):
            return call("add", largest(yes), largest(no))
        case Call(_, (x,), dtype):
            return call("add", largest(x), Constant(1.0, dtype))
        case Call(_, (x, y), _):
            return call("add", largest(x), largest(y))
        case _:
            return call("add", call("absolute", expr), Constant(1.0, expr.dtype))


def expressions() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        st.builds(Argument, st.integers(0, 1), st.just("f32")),
        st.builds(Constant, st.floats(-2, 2, width=32), st.just("f32")),
    )
    # of exact operands only: of computed ones the last bit would decide
    conditions = st.builds(call, st.sampled_from(("less", "less_equal", "equal")), leaves, leaves)

    def calls(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        return st.one_of(
            st.builds(call, st.sampled_from(_JOINING), inner, inner),
            st.builds(call, st.sampled_from(_FLAT), inner),
            st.builds(call, st.just("where"), conditions, inner, inner),
        )

    return st.recursive(leaves, calls, max_leaves=10)


def test_every_function_has_an_emitter() -> None:
    assert EMITTERS.keys() == FUNCTIONS.keys()


@settings(max_examples=60, deadline=None)
@given(expr=expressions(), seed=st.integers(0, 1000), target=st.sampled_from(TARGETS))
def test_a_random_expression_is_what_the_judge_says(
    expr: Expr, seed: int, target: InstructionSet
) -> None:
    random = np.random.default_rng(seed)
    arrays = [random.normal(size=SIZE).astype(np.float32) for _ in range(2)]
    found, wanted = evaluate(expr, arrays, target), judged(expr, arrays)
    assert np.all(np.abs(found - wanted) <= 3e-6 * judged(largest(expr), arrays))


@on_each_target
def test_gelu_is_what_the_judge_says(target: InstructionSet) -> None:
    x = Argument(0, "f32")
    erf = call("erf", call("multiply", x, Constant(0.5**0.5, "f32")))
    half = call("multiply", x, Constant(0.5, "f32"))
    gelu = call("multiply", half, call("add", erf, Constant(1.0, "f32")))
    values = np.linspace(-6, 6, SIZE, dtype=np.float32)
    for width in widths(target):
        found = evaluate(gelu, [values], target, width)
        np.testing.assert_allclose(found, judged(gelu, [values]), rtol=1e-6, atol=5e-7)


@on_each_target
def test_16_bit_floats_are_computed_in_f32_and_rounded(target: InstructionSet) -> None:
    x = np.linspace(-4, 4, SIZE).astype(np.float16)
    found = evaluate(call("exp", Argument(0, "f16")), [x], target)
    wanted = np.exp(x.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_max_ulp(found, wanted, maxulp=1)


def test_products_are_fused_into_sums() -> None:
    x, y, z = (Argument(place, "f32") for place in range(3))
    expr = call("add", call("multiply", x, y), z)
    listing = assembly(text(expr, 3, 16), ALL_TARGETS["avx512"])
    assert "vfmadd" in listing
    assert "vmulps" not in listing


def test_bounds_by_constants_take_one_instruction_each() -> None:
    x = Argument(0, "f32")
    low = call("maximum", x, Constant(0.0, "f32"))
    clipped = call("minimum", low, Constant(6.0, "f32"))
    listing = assembly(text(clipped, 1, 8), ALL_TARGETS["avx2"])
    assert (listing.count("vmaxps"), listing.count("vminps")) == (1, 1)
    assert "vcmp" not in listing


def test_equal_parts_that_are_one_object_are_written_once() -> None:
    part: Expr = call("tanh", Argument(0, "f32"))
    for _ in range(12):
        part = call("add", part, part)
    asked: list[Expr] = []
    builder = _builder()

    def leaf(part: Expr) -> ir.Value:
        asked.append(part)
        return ir.Constant(ir.FloatType(), 1.0)

    emit(builder, part, 1, leaf)
    assert len(asked) == 1


def test_leaves_are_asked_for_with_their_types() -> None:
    expr = call("add", cast(Argument(0, "i32"), "f32"), Accumulated("f32"))
    given_ = {"i32": ir.IntType(32), "f32": ir.FloatType()}
    value = emit(_builder(), expr, 1, lambda part: ir.Constant(given_[part.dtype], 1))
    assert str(value.type) == "float"


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        (call("exp", Argument(0, "i64")), "exp of i64"),
        (call("subtract", Argument(0, "bool"), Argument(1, "bool")), "subtract of bool"),
        (call("bit_not", Argument(0, "f32")), "bit_not of f32"),
        (Call("cast", (Argument(0, "f32"),), "f8e5m2"), "element type f8e5m2"),
        (cast(call("sqrt", Argument(0, "i32")), "f32"), "sqrt of i32"),
    ],
)
def test_what_has_no_meaning_is_refused(expr: Expr, reason: str) -> None:
    assert refusal(expr) == reason
    with pytest.raises(ModelError, match=f"generated kernels have no {reason}") as caught:
        emit(_builder(), expr, 4, lambda part: pytest.fail("nothing is written"))
    assert caught.value.hint == "leave the node to ONNX Runtime"


def test_what_can_be_written_is_not_refused() -> None:
    assert refusal(call("exp", Argument(0, "f16"))) is None


def _builder() -> ir.IRBuilder:
    function = ir.Function(ir.Module(), ir.FunctionType(ir.VoidType(), []), "f")
    return ir.IRBuilder(function.append_basic_block())
