"""A group and its schedule as Triton kernels."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from burnish.codegen.gpu import spelling
from burnish.codegen.gpu.beginning import store_moments
from burnish.codegen.gpu.blocks import AxisBlock, ProgramStart, power_of_two
from burnish.codegen.gpu.carried import CARRIED, carry
from burnish.codegen.gpu.fetching import added_ahead, constants_ahead, loads_ahead
from burnish.codegen.gpu.form import (
    Form,
    Places,
    form,
    phased,
    places_of,
    stored_place,
    walked,
    window_axes,
)
from burnish.codegen.gpu.guards import Bind, ranges
from burnish.codegen.gpu.held import HELD, held
from burnish.codegen.gpu.launch import WAITS, Launch, first_lines
from burnish.codegen.gpu.launch_parts import LANES, LaunchPart, parts
from burnish.codegen.gpu.library import BY_LIBRARY, by_library
from burnish.codegen.gpu.loads import touch
from burnish.codegen.gpu.operands import LEAST
from burnish.codegen.gpu.patches import WalkTurn, patch_of, turning
from burnish.codegen.gpu.summing import ProgramSum
from burnish.codegen.gpu.tally import Tally
from burnish.codegen.gpu.values import Value
from burnish.codegen.gpu.writer import KernelWriter
from burnish.core.errors import ModelError
from burnish.core.plain_text import plain
from burnish.core.tensors import BITS
from burnish.tile.graph import Read, TensorType, TileGraph, TileOp
from burnish.tile.group import Group
from burnish.tile.index import Axis, Index, at, axes_of, substitute, unflatten
from burnish.tile.schedule import Schedule

Orders = Mapping[str, tuple[int, ...]]
"""Tensors whose dimensions lie in memory in another order than their own, outermost first."""

SHARED_BYTES = 200_000
"""Of a multiprocessor's own memory that loads which run ahead may take."""


@dataclass(frozen=True, slots=True)
class Written:
    """A launch and what each of its programs does."""

    launch: Launch
    tally: Tally
    programs: int
    form: Form
    constants: frozenset[str] = frozenset()
    """Those of its tensors that no kernel writes."""


@dataclass(frozen=True, slots=True)
class GpuTarget:
    """What kernels are written for."""

    precision: str = spelling.IEEE
    """How f32 is multiplied: `ieee`, `tf32` or `tf32x3`."""
    own_functions: bool = False
    """Whether there is what only devices have: their own tanh and quotients, which serve where the
    result becomes a 16-bit float, and kernels of the library."""
    rounds_late: bool = False
    """Whether values that are rounded to 16 bits for a moment stay as exact as they are."""
    orders: Orders = field(default_factory=dict)
    early: bool = False
    """Whether small kernels are started while those ahead of them still run, and wait for them."""
    fetches: bool = True
    """Whether these ask for constants before they wait."""


def emit(
    group: Group, schedule: Schedule, graph: TileGraph, device: GpuTarget | None = None
) -> tuple[Launch, ...]:
    """Return the kernels of a group, in the order in which they are started."""
    return tuple(each.launch for each in written(group, schedule, graph, device))


def written(
    group: Group, schedule: Schedule, graph: TileGraph, device: GpuTarget | None = None
) -> tuple[Written, ...]:
    """Return the kernels of a group, and what they do."""
    target = device or GpuTarget()
    if (reason := refusal(group, graph)) is not None:
        raise ModelError(f"Triton kernels have no {reason}", hint="leave the node to ONNX Runtime")
    settings = schedule.settings
    types = dict(graph.tensors)
    result = []
    for part in parts(group, target.orders, settings, graph.tensors):
        anchor = part.anchor
        types.setdefault(anchor.output, TensorType(anchor.dtype, anchor.shape))
        types |= {part.sums.tensor: part.sums.type} if part.sums else {}
        if math.prod(anchor.shape):
            own = part.blocks or settings
            result.append(_written(part, own, types, target, frozenset(graph.constants)))
    if BY_LIBRARY in settings:
        launch = by_library(group, result[0].launch, graph.tensors, target.orders)
        result[0] = replace(result[0], launch=launch)
    return tuple(result)


def refusal(group: Group, graph: TileGraph) -> str | None:
    """Return what in a group has no Triton; None: nothing."""
    for op in group.ops:
        for name in (*op.inputs, op.output):
            if graph.tensors[name].dtype not in spelling.TYPES:
                return f"element type {graph.tensors[name].dtype}"
        for expr in (op.body, *([op.finish] if op.finish else [])):
            if (found := spelling.refusal(expr)) is not None:
                return found
    return None


def block_sizes(shape: Form, settings: Mapping[str, int]) -> tuple[int, int]:
    """Return how many rows and columns a block has."""
    rows, columns, _ = shape.counts
    least = LEAST if shape.multiplies else 1
    n = power_of_two(columns, least) if shape.columns else 1
    if shape.columns and not shape.whole:
        n = min(n, max(settings.get("n", 64), least))
    lanes = settings.get("lanes", LANES)
    wanted = settings.get("m", 64 if shape.multiplies else max(lanes // n, 1))
    m = min(power_of_two(rows, least), max(wanted, least))
    return m, n


def _written(
    part: LaunchPart,
    settings: Mapping[str, int],
    types: Mapping[str, TensorType],
    target: GpuTarget,
    constants: frozenset[str] = frozenset(),
) -> Written:
    anchor = part.anchor
    places = places_of(part.ops, anchor)
    whole = _form(part, places, settings, target)
    patch = patch_of(window_axes(part.ops, anchor, places), settings)
    shape, axes = phased(whole, patch.counts)
    sizes = block_sizes(shape, settings)
    writer = _writer(part, settings, types, target, constants)
    rows, columns, batch = shape.counts
    tiles = -(-rows // sizes[0]), -(-columns // sizes[1])
    programs, steps = tiles[0] * tiles[1] * batch, _programs(writer, shape, sizes, tiles)
    begun = len(writer.scopes[0].lines)  # nothing is loaded before here
    frame = _frame(writer)
    lead = carry(writer, anchor, places, patch) if CARRIED in settings else 0
    adding_up = ProgramSum(writer, part.sums, looped=patch.turns > 1) if part.sums else None
    with turning(writer, patch.turns, lead) as turn:
        found = []
        for bind in patch.places(steps, axes, turn.index):
            for name in part.stored:
                index = _stored_index(writer.ops[name], anchor, places, whole)
                bound = tuple(substitute(each, bind) for each in index)
                found.append((name, writer.value(name, bound, frame), bound))
        # no load waits behind a store that might change what it reads
        for name, value, bound in found:
            _store(writer, name, value, bound, frame, turn)
            if adding_up is not None:
                adding_up.add(value, turn)
            store_moments(writer, part.moments, value)
    if adding_up is not None:
        adding_up.store(next(axis for axis in writer.starts if axis.name == "m"))
    lines = writer.scopes[0].lines
    lines[begun:] = _begun(writer, target, lines[begun:], programs)
    launch = _launch(writer, part, settings, (shape, *sizes), programs, types)
    return Written(launch, writer.tally, programs, shape, constants & {*launch.arguments})


def _form(part: LaunchPart, places: Places, settings: Mapping[str, int], target: GpuTarget) -> Form:
    """Return how a part's output is cut."""
    anchor = part.anchor
    order = walked(anchor, target.orders, settings)
    plain = form(part.ops, anchor, order, places)
    return (held(plain, part.ops, anchor, places) if HELD in settings else None) or plain


def _writer(
    part: LaunchPart,
    settings: Mapping[str, int],
    types: Mapping[str, TensorType],
    target: GpuTarget,
    constants: frozenset[str],
) -> KernelWriter:
    """Return what writes a part's kernel; nothing is written yet."""
    writer = KernelWriter(
        part.ops, types, target.orders, settings.get("k", 32), target.precision,
    )  # fmt: skip
    writer.warps, writer.held = settings.get("warps", 4), HELD in settings
    writer.tally.threads = 32 * writer.warps
    writer.own_functions, writer.rounds_late = target.own_functions, target.rounds_late
    halves = [types[name].dtype in spelling.HALVES for name in part.stored]
    writer.halves, writer.constants = target.own_functions and all(halves), constants
    return writer


def _begun(writer: KernelWriter, target: GpuTarget, lines: list[str], programs: int) -> list[str]:
    """Return what a kernel does, what it does before all else if it may start early included."""
    first = first_lines(programs, writer.warps)
    if not (target.early and target.fetches):
        return [*(first if target.early else ()), *lines]
    waits = WAITS in first
    loads = loads_ahead(writer, lines, 32 * writer.warps) if waits else ()
    ahead = constants_ahead(writer, loads) if waits else ()
    left = (line for line in lines if line not in loads)
    return [*ahead, *loads, *first, *added_ahead(writer), *left]


def _stored_index(op: TileOp, anchor: TileOp, places: Places, shape: Form) -> tuple[Index, ...]:
    if op is anchor:
        return tuple(at(axis) for axis in op.spatial)
    found = stored_place(op, anchor, places, shape)
    assert found is not None
    return found


def _frame(writer: KernelWriter) -> tuple[Axis, ...]:
    blocks = writer.blocks.items()
    return tuple(axis for axis, block in blocks if axis.name in ("m", "n") and block.size > 1)


def _programs(
    writer: KernelWriter, shape: Form, sizes: tuple[int, int], tiles: tuple[int, int]
) -> Bind:
    """Write which part of the output a program computes; return the anchor's axes over it."""
    rows, columns, batch = shape.counts
    writer.line(f"pid = {writer.wide('tl.program_id(0)')}")
    bind: dict[Axis, Index] = {}
    left = "pid"
    for name, axes, extent, size, count in (
        ("n", shape.columns, columns, sizes[1], tiles[1]),
        ("m", shape.rows, rows, sizes[0], tiles[0]),
        ("b", shape.batch, batch, 1, batch),
    ):
        axis = Axis(name, extent)
        writer.blocks[axis] = AxisBlock(axis, name, size)
        place = left if count > 1 else "0"
        if count > 1:
            inner = f"{left} % {count}" if name != "b" else left
            place = f"({inner})" if size > 1 else inner
            left = f"(pid // {math.prod((*((tiles[1],) if name == 'm' else ()), count))})"
        lanes = f" * {size} + {writer.lanes(size)}" if size > 1 else ""
        writer.starts[axis] = ProgramStart(place, size, count)
        writer.line(
            f"{name} = {place}{lanes}"
            if count > 1 or size == 1
            else f"{name} = {writer.lanes(size)}"
        )
        writer.know(axis)
        extents = tuple(each.extent for each in axes)
        bind |= dict(zip(axes, unflatten(at(axis), extents), strict=True))
    # frames are rows by columns
    writer.blocks = dict(sorted(writer.blocks.items(), key=lambda item: item[0].name))
    return bind


def _store(
    writer: KernelWriter,
    tensor: str,
    value: Value,
    index: tuple[Index, ...],
    frame: tuple[Axis, ...],
    turn: WalkTurn,
) -> None:
    kind = writer.types[tensor]
    offset = writer.offset(tensor, index)
    depends = axes_of(offset)
    inside = [*turn.ready, *ranges(Read(tensor, index), kind.shape, turn.ranges)]
    mask = writer.mask(depends, inside, frame)
    place = f"{writer.pointer(tensor)} + {writer.arithmetic(frame).index(offset)}"
    text = f"{value.text}.to(tl.int8)" if kind.dtype == "bool" else value.text
    dims = writer.dims(depends, frame)
    if dims and not value.dims:
        text = f"tl.full({writer.shape(dims, frame)}, 0, {_stored_type(kind)}) + {text}"
        text = f"({text}).to({_stored_type(kind)})"
    writer.line(f"tl.store({place}, {text}{f', mask={mask}' if mask else ''})")
    lanes = [writer.blocks[axis] for axis in dims]
    sectors = writer.sectors.of(f"{tensor} stored", offset, kind.dtype, lanes)
    writer.tally.store(tensor, kind.dtype, writer.elements(dims), sectors=sectors)
    touch(writer, offset, kind.dtype, dims, writer.scopes[-1].trips)


def _stored_type(kind: TensorType) -> str:
    return "tl.int8" if kind.dtype == "bool" else spelling.TYPES[kind.dtype]


def _launch(
    writer: KernelWriter,
    part: LaunchPart,
    settings: Mapping[str, int],
    blocks: tuple[Form, int, int],
    programs: int,
    types: Mapping[str, TensorType],
) -> Launch:
    tensors = tuple(name for name in writer.pointers if name not in part.scratch)
    scratch = tuple(name for name in writer.pointers if name in part.scratch)
    pointers = ", ".join(writer.pointers[name] for name in (*tensors, *scratch))
    body = "\n".join(f"    {line}" for line in writer.scopes[0].lines)
    helpers = spelling.helper_text(writer.helpers)
    warps = settings.get("warps", 4)
    # without a loop there is nothing to load ahead for, and buffers for it would cost
    most = max(int(SHARED_BYTES // max(writer.tally.looped_bytes, 1.0)), 1)
    stages = min(settings.get("stages", 3), most) if writer.tally.turns else 1
    code = f"{helpers}@triton.jit\ndef kernel({pointers}):\n{body}\n"
    kind = "product" if blocks[0].multiplies else "rows" if blocks[0].whole else "each"
    name = f"{kind}_{hashlib.sha256(f'{warps} {stages} {code}'.encode()).hexdigest()[:12]}"
    code = code.replace("def kernel(", f"def {name}(")
    return Launch(
        name=name,
        source=f"{_header(writer, part, blocks, programs, types)}{code}",
        arguments=tensors,
        dtypes=tuple(types[each].dtype for each in (*tensors, *scratch)),
        grid=(programs, 1, 1),
        warps=warps,
        stages=stages,
        outputs=tuple(each for each in part.outputs if each not in part.scratch),
        scratch={n: math.ceil(types[n].size * BITS[types[n].dtype] / 8) for n in scratch},
    )


def _header(
    writer: KernelWriter,
    part: LaunchPart,
    blocks: tuple[Form, int, int],
    programs: int,
    types: Mapping[str, TensorType],
) -> str:
    shape, m, n = blocks
    rows, columns, batch = shape.counts
    lines = [
        f"nodes: {', '.join(dict.fromkeys(node for op in part.ops for node in op.nodes))}",
        f"blocks: {m} of {rows} rows x {n} of {columns} columns, {batch} times",
        f"programs: {programs}",
    ]
    for name, pointer in writer.pointers.items():
        kind, way = types[name], "out" if name in part.outputs else "in"
        lines.append(f"{pointer}: {way} {kind.dtype}{list(kind.shape)} {name}")
    # Names come from files: a line break in one would put what follows into the code.
    text = "\n".join(f"# {plain(line)}" for line in lines)
    return f"{text}\n\nimport triton\nimport triton.language as tl\n\n\n"
