"""Constants that are asked for before a kernel waits for the one ahead of it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.gpu.bounds import breaches
from burnish.codegen.gpu.kernel import GpuTarget, emit
from burnish.codegen.gpu.launch import WAITS, Launch
from burnish.codegen.gpu.layout import orders_of
from burnish.core.array_types import array_type
from burnish.core.arrays import Array
from burnish.rewrite.static import static
from burnish.tile.expr import Guard
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.lower import lower
from burnish.tile.reference import evaluate
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.gpu.interpreting import interpreted
from codegen.gpu.models import HEAD

LINE = 64
"""Elements of 16 bits that one request brings."""


def product(terms: int, columns: int, *, held: bool = True) -> TileGraph:
    """Return a product of 40 rows with weights that are constant, or given."""
    given = "" if held else f", float16[{terms},{columns}] w"
    text = f"p (float16[40,{terms}] x{given}) => (float16[40,{columns}] y) {{ y = MatMul(x, w) }}"
    proto = onnx.parser.parse_model(HEAD + text)
    if held:
        array = np.ones((terms, columns), np.float16)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, "w"))
    return simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)


def launches(graph: TileGraph, settings: dict[str, int], *, early: bool) -> tuple[Launch, ...]:
    """Return a graph as the kernels of one group."""
    group = Group(graph.ops, graph.outputs)
    return emit(group, Schedule((), settings=settings), graph, GpuTarget(early=early))


def asked(launch: Launch, program: int) -> set[int]:
    """Return the lines that a program asks for, its statements evaluated one by one."""
    lines: set[int] = set()
    place = launch.arguments.index("w")
    scope = {
        "pid": program,
        "tl": SimpleNamespace(arange=np.arange, minimum=np.minimum),
        "fetch": lambda addresses: lines.update((addresses // LINE).tolist()),
        f"t{place}": np.int64(0),
    }
    before = launch.source.split("pid = tl.program_id(0)\n")[1].split(WAITS)[0]
    for statement in (each.strip() for each in before.splitlines()):
        if statement.startswith(("line_", "fetch(")):
            exec(statement, scope)
    return lines


@pytest.mark.parametrize(
    ("terms", "columns", "settings"),
    [
        (96, 128, {"m": 32, "n": 64, "k": 32}),
        (100, 72, {"m": 64, "n": 32, "k": 64}),
        (512, 40, {"m": 32, "n": 32, "k": 64, "split": 4}),
    ],
)
def test_a_program_asks_for_every_line_that_it_multiplies(
    terms: int, columns: int, settings: dict[str, int]
) -> None:
    graph = product(terms, columns)
    launch = launches(graph, settings, early=True)[0]
    found = [asked(launch, program) for program in range(launch.grid[0])]
    assert set().union(*found) == set(range(-(-terms * columns // LINE)))
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    assert not breaches(launch, sizes, all_programs=True)
    if settings["n"] < columns:
        assert all(len(each) < terms * columns // LINE for each in found)


@pytest.mark.parametrize(("held", "early"), [(False, True), (True, False)])
def test_what_others_may_write_is_not_asked_for(held: bool, early: bool) -> None:
    graph = product(96, 128, held=held)
    (launch,) = launches(graph, {"m": 32, "n": 64, "k": 32}, early=early)
    assert "fetch(" not in launch.source


@pytest.mark.parametrize(("rows", "asks"), [(4096, True), (256, False)])
def test_what_is_added_to_sums_is_asked_for_before_they_are_formed(rows: int, asks: bool) -> None:
    text = f"""added (float16[{rows},256] x, float16[256,768] w, float16[{rows},768] r)
        => (float16[{rows},768] y) {{ p = MatMul(x, w) y = Add(p, r) }}"""
    graph = simplify(lower(tuple(ir.from_proto(onnx.parser.parse_model(HEAD + text)).graph)).graph)
    (launch,) = launches(graph, {"m": 128, "n": 128, "k": 64}, early=True)
    before, _, after = launch.source.partition("for step_1 in")
    pointer = f"t{launch.arguments.index('r')}"
    assert (f"fetch({pointer} +" in before) is asks
    assert before.partition(WAITS)[2].count("fetch(") == asks
    assert f"tl.load({pointer} +" in after
    assert not breaches(launch, {name: kind.size for name, kind in graph.tensors.items()})


@pytest.mark.parametrize(("rows", "asks"), [(256, True), (288, False)])
def test_many_programs_with_the_same_weights_do_not_ask_for_them(rows: int, asks: bool) -> None:
    text = f"p (float16[{rows},512] x) => (float16[{rows},256] y) {{ y = MatMul(x, w) }}"
    proto = onnx.parser.parse_model(HEAD + text)
    weights = onnx.numpy_helper.from_array(np.ones((512, 256), np.float16), "w")
    proto.graph.initializer.append(weights)
    graph = simplify(lower(tuple(static(ir.from_proto(proto), {}).graph)).graph)
    (launch,) = launches(graph, {"m": 32, "n": 64, "k": 64}, early=True)
    assert ("fetch(" in launch.source) is asks


def test_an_offset_before_the_tensor_is_cut_off() -> None:
    graph = product(256, 128)
    (op,) = graph.ops
    shifted = tuple(
        replace(
            read,
            index=(read.index[0] - 8, *read.index[1:]),
            guards=(Guard(read.index[0], 8, 256),),
        )
        for read in op.reads
        if read.tensor == "w"
    )
    reads = tuple(shifted[0] if read.tensor == "w" else read for read in op.reads)
    moved = replace(graph, ops=(replace(op, reads=reads),))
    (launch,) = launches(moved, {"m": 64, "n": 64, "k": 64}, early=True)
    assert "tl.maximum(" in launch.source.partition(WAITS)[0]
    sizes = {name: kind.size for name, kind in moved.tensors.items()}
    assert not breaches(launch, sizes, all_programs=True)


def test_few_lines_are_not_worth_asking_for() -> None:
    (launch,) = launches(product(16, 16), {"m": 32, "n": 16, "k": 16}, early=True)
    assert "fetch(" not in launch.source


def test_an_address_that_lies_outside_is_found_though_it_is_only_asked_for() -> None:
    graph = product(96, 128)
    (launch,) = launches(graph, {"m": 32, "n": 64, "k": 32}, early=True)
    sizes = {name: kind.size for name, kind in graph.tensors.items()}
    (found, *_) = breaches(launch, {**sizes, "w": 96 * 128 - 1}, all_programs=True)
    assert found.tensor == "w"


ROWS = {
    "plain": "(float16[1,256] x, float16[256,96] w) => (float16[1,96] y) { y = MatMul(x, w) }",
    "uneven": "(float16[1,203] x, float16[203,37] w) => (float16[1,37] y) { y = MatMul(x, w) }",
    "exact": "(float[1,130] x, float[130,24] w) => (float[1,24] y) { y = MatMul(x, w) }",
    "short": "(bfloat16[1,130] x, bfloat16[130,24] w) => (bfloat16[1,24] y) { y = MatMul(x, w) }",
    "gated": """(float16[1,128] x, float16[128,40] w, float16[128,40] v) => (float16[1,40] y)
        { a = MatMul(x, w) s = Sigmoid(a) b = MatMul(x, v) y = Mul(s, b) }""",
    "normed": """(float16[1,128] x, float16[128] g, float16[128,40] w) => (float16[1,40] y)
        { n = RMSNormalization<axis=-1>(x, g) y = MatMul(n, w) }""",
    "bytes": """(float16[1,128] x, int8[128,40] w, float16[4,40] s) => (float16[1,40] y)
        { d = DequantizeLinear<axis=0, block_size=32>(w, s) y = MatMul(x, d) }""",
    "twice": """(float16[1,128] x, float16[128,40] w) => (float16[1,40] y)
        { a = MatMul(x, w) r = Relu(x) b = MatMul(r, w) y = Sub(a, b) }""",
}


def single_row(name: str) -> tuple[TileGraph, dict[str, Array]]:
    """Return a product of a single row, all but its first input constant, and that input."""
    head = HEAD.replace('"": 20', '"": 23')
    graph = simplify(
        lower(tuple(ir.from_proto(onnx.parser.parse_model(f"{head}p {ROWS[name]}")).graph)).graph
    )
    random = np.random.default_rng(3)
    arrays = {
        each: (random.standard_normal(graph.tensors[each].shape) / 4).astype(
            array_type(graph.tensors[each].dtype)
        )
        for each in graph.inputs
    }
    constants = {**graph.constants, **{each: a for each, a in arrays.items() if each != "x"}}
    return replace(graph, inputs=("x",), constants=constants), {"x": arrays["x"]}


@pytest.mark.torch
@pytest.mark.parametrize("rows", [1, 2, 8])
@pytest.mark.parametrize("name", ROWS)
def test_a_single_row_times_constants_loaded_ahead_is_what_the_judge_gives(
    name: str, rows: int
) -> None:
    graph, inputs = single_row(name)
    orders = orders_of(graph)
    assert orders["w"] == (1, 0)
    target = GpuTarget(early=True, orders=orders, rounds_late=False)
    group, settings = Group(graph.ops, graph.outputs), {"m": rows, "warps": 4, "stages": 1}
    (launch,) = emit(group, Schedule((), settings=settings), graph, target)
    before = launch.source.partition(WAITS)[0]
    assert f"tl.load(t{launch.arguments.index('w')} +" in before
    assert f"tl.load(t{launch.arguments.index('x')} +" not in before
    assert "fetch(" not in before
    assert not breaches(launch, {n: kind.size for n, kind in graph.tensors.items()})
    arrays = {each: np.asarray(array) for each, array in {**inputs, **graph.constants}.items()}
    laid = {
        each: np.ascontiguousarray(a.transpose(orders[each])) if each in orders else a
        for each, a in arrays.items()
    }
    kind = graph.tensors["y"]
    laid["y"] = np.zeros(kind.shape, array_type(kind.dtype))
    found = interpreted((launch,), {each: laid[each] for each in launch.arguments})["y"]
    wanted = evaluate(graph, inputs)["y"]
    error = {"f16": 4e-3, "bf16": 4e-2, "f32": 1e-5}[kind.dtype]
    np.testing.assert_allclose(
        found.astype(np.float64), wanted.astype(np.float64), rtol=error, atol=error
    )


def test_what_tensor_cores_multiply_is_asked_for_and_not_loaded_ahead() -> None:
    (launch,) = launches(product(96, 128), {"m": 32, "n": 64, "k": 128}, early=True)
    assert "tl.load(" not in launch.source.partition(WAITS)[0]


def test_more_than_registers_hold_is_not_loaded_ahead() -> None:
    graph, _ = single_row("gated")
    target = GpuTarget(early=True, orders=orders_of(graph))
    group = Group(graph.ops, graph.outputs)

    def ahead(warps: int) -> int:
        settings = {"m": 64, "warps": warps, "stages": 1}
        (launch,) = emit(group, Schedule((), settings=settings), graph, target)
        return launch.source.partition(WAITS)[0].count("tl.load(")

    assert ahead(4) == 2
    assert ahead(2) == 1
