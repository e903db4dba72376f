"""The compiler, step after step: bind, rewrite; lower, simplify, partition, schedule; emit, place.

`prepare` takes the first two steps, on ONNX; `plan` the others. Up to emitting nothing depends on
a target but prices. What the last step is, to prove that a plan computes the same, needs engines to
compare with: `burnish.codegen.write` shows whoever asks the folder before it is handed out.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from burnish.codegen.backend import Backend
from burnish.codegen.every_size import SizeLine
from burnish.codegen.fitting import fitting
from burnish.codegen.looks import LookedChain, LookedNests, LookRequest, looked, looked_chain
from burnish.codegen.open_size import Sized, closed, opened, rows
from burnish.codegen.place import BuiltPlan, CompiledRegion, Draft, PreparedModel, Repeated
from burnish.codegen.regions import Region, border, regions
from burnish.codegen.schedule import Predicted, Scheduler
from burnish.core.progress import SILENT, Progress
from burnish.core.tensors import BITS
from burnish.infer.walk import bodies
from burnish.rewrite.pipeline import optimize
from burnish.rewrite.precision.pairs import products_of_bytes
from burnish.rewrite.static import static
from burnish.runtime.plan import Condition
from burnish.store.correspondence import behind
from burnish.store.element_types import SHORT_NAMES
from burnish.store.graph_nodes import nodes_of
from burnish.tile.graph import TileGraph
from burnish.tile.lower import LoweringCoverage, cover, lower, named, operator, recurrence
from burnish.tile.partition import Fusion
from burnish.tile.recurrence import Chain, Recurrence
from burnish.tile.simplify import simplify

PRODUCTS = frozenset({
    "MatMul", "Gemm", "com.microsoft.FusedMatMul", "com.microsoft.GemmFloat8", "MatMulInteger",
    "com.microsoft.MatMulIntegerToFloat", "com.microsoft.DynamicQuantizeMatMul",
})  # fmt: skip
"""The operators that `--skip-dot` leaves to ONNX Runtime."""

MOST_OPEN = 4096
"""The greatest size that may stay open: a model is bound to each, which takes up to 0.1 s."""

WHOLE = "the whole model is left to ONNX Runtime"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How a prepared model becomes a plan."""

    backend: Backend
    scheduler: Scheduler
    fusion: Fusion = "full"
    to_ort: Mapping[str, str] = field(default_factory=dict)
    """Nodes that ONNX Runtime is to run, with the reason."""
    buildable: bool = False
    """Whether groups whose kernels cannot be built get other schedules; all are built for that."""


def prepare(
    model: ir.Model,
    sizes: Mapping[str, int],
    progress: Progress = SILENT,
    *,
    multiplies_bytes: bool = False,
) -> PreparedModel:
    """Return the model with fixed sizes and rewritten; the argument is left untouched.

    Where kernels multiply bytes, products of dequantised numbers become products of those.
    """
    given = without_defaults(model)
    bound = static(given, sizes)
    progress.step("bind", 1, 1, f"{bound.graph.num_nodes():,} nodes")
    optimized = optimize(bound).model
    if multiplies_bytes:
        products_of_bytes(optimized)
    rewritten = static(optimized, {})
    progress.step("rewrite", 1, 1, f"{rewritten.graph.num_nodes():,} nodes")
    return PreparedModel(rewritten, _origins(given, rewritten), dict(sizes), bound)


def plan(prepared: PreparedModel, options: PlanOptions) -> BuiltPlan:
    """Return the plan of a prepared model: what kernels compute, and what ONNX Runtime runs."""
    graph = prepared.model.graph
    to_ort = {**_cover(graph, options.backend).left, **options.to_ort}
    if obstacle := _border_obstacle(graph, to_ort):
        return whole(prepared, options.backend, f"{WHOLE}: {obstacle}")
    while True:
        scheduled = [
            part
            for number, region in enumerate(regions(graph, to_ort, repeats=options.backend.repeats))
            for part in _scheduled(region, number, options)
        ]
        moved = dict(_moved(scheduled))
        if not moved:
            break
        # taking nodes out changes what is beside them: the rest is looked at anew
        to_ort |= moved
    emitted = [_emitted(each, options.backend) for each in scheduled]
    if options.buildable:
        emitted = [
            each if each.simple is None else fitting(each, options.backend) for each in emitted
        ]
    return _placed(prepared, options.backend, emitted, to_ort)


def plan_up_to(
    model: ir.Model, prepared: PreparedModel, name: str, options: PlanOptions
) -> BuiltPlan:
    """Return a plan for all sizes of a name up to that of a model as it was prepared.

    Kernels are as predicted: what would be timed of them at one size says little of the others.
    """
    most = prepared.sizes[name]
    if most > MOST_OPEN:
        raise closed(name, f"each of its sizes is looked at, and {most:,} are over {MOST_OPEN:,}")
    more = {**prepared.sizes, name: most + 1}
    larger = prepare(model, more, multiplies_bytes=options.backend.multiplies_bytes)
    found = rows(name, _sized(prepared, name, options), _sized(larger, name, options))
    _require_every_size(model, prepared, larger, name)
    # a place that the greatest has (of what is scattered) the smallest need not have
    smallest = {**prepared.sizes, name: 1}
    _sized(
        prepare(model, smallest, multiplies_bytes=options.backend.multiplies_bytes), name, options
    )
    scheduler = Predicted(options.backend, options.fusion, rows=found)
    built = plan(prepared, dataclasses.replace(options, scheduler=scheduler))
    return opened(built, name, most, found)


def _sized(prepared: PreparedModel, name: str, options: PlanOptions) -> Sized:
    """Return all nests of a model that is nothing but nests, at its size of a name."""
    graph = prepared.model.graph
    kernels = _cover(graph, options.backend)
    for node, reason in {**kernels.left, **options.to_ort}.items():
        raise closed(name, f"ONNX Runtime runs {node!r} ({reason}), at fixed sizes")
    for node in cover(graph, counts=options.backend.counts).left:
        raise closed(
            name,
            f"{node!r} is repeated along a sequence or has branches, with steps of fixed sizes",
        )
    found = regions(graph, {}, repeats=options.backend.repeats)
    if not found:
        raise closed(name, "the model computes nothing")
    (region,) = found
    inputs = {
        value.name: tuple(dim for dim in value.shape if isinstance(dim, int))
        for value in graph.inputs
        if value.name and value.shape is not None
    }
    lowered = lower(region.nodes, counts=options.backend.counts).graph
    return Sized(_looked(region, lowered, options).simple, prepared.sizes[name], inputs)


def _require_every_size(
    model: ir.Model, prepared: PreparedModel, larger: PreparedModel, name: str
) -> None:
    """Raise if smaller sizes make another model than the two that were looked at."""
    given = without_defaults(model)
    assert prepared.bound is not None
    assert larger.bound is not None
    line = SizeLine(prepared.sizes[name], prepared.bound, larger.bound)
    other = line.departure(lambda size: static(given, {**prepared.sizes, name: size}))
    if other is not None:
        raise closed(name, other)


def whole(prepared: PreparedModel, backend: Backend, reason: str) -> BuiltPlan:
    """Return a plan in which ONNX Runtime runs everything."""
    to_ort = {named(node): reason for node in prepared.model.graph}
    found = [CompiledRegion(region) for region in regions(prepared.model.graph, to_ort)]
    return _placed(prepared, backend, found, to_ort)


def without_products(model: ir.Model) -> dict[str, str]:
    """Return the matrix products of a model, with the reason why ONNX Runtime is to run them."""
    kept = "--skip-dot keeps matrix products with ONNX Runtime"
    return {named(node): kept for node in model.graph if operator(node) in PRODUCTS}


def without_defaults(model: ir.Model) -> ir.Model:
    """Return a copy in which inputs with a default are constants: they need not be fed."""
    copy = model.clone()
    for value in list(copy.graph.inputs):
        if value.name in copy.graph.initializers:
            copy.graph.inputs.remove(value)
    return copy


def _cover(graph: ir.Graph, backend: Backend) -> LoweringCoverage:
    """Return which nodes a back end's kernels compute."""
    return cover(graph, repeats=backend.repeats, sends=backend.sends, counts=backend.counts)


def _scheduled(region: Region, number: int, options: PlanOptions) -> Iterator[CompiledRegion]:
    """Yield the groups of a region's nests, and how each is to run."""
    if region.is_ort:
        yield CompiledRegion(region)
        return
    if not region.is_recurrent:
        lowered = lower(region.nodes, counts=options.backend.counts).graph
        yield _grouped(region, _looked(region, lowered, options), options, options.scheduler)
        return
    # a kernel of one step is no alternative to ONNX Runtime's of all: it is chosen as predicted
    scheduler = Predicted(options.backend, options.fusion)
    (node,) = region.nodes
    found = recurrence(node)
    if found.before.ops:
        yield _grouped(region, _plain(found.before, options), options, scheduler)
    for chain, each in enumerate(found.chains):
        step = _looked_chain(node, found, each, options)
        built = _grouped(region, step.nests, options, scheduler)
        if each.condition:
            yield dataclasses.replace(built, when=Condition(each.condition, each.holds))
            continue
        repeated = Repeated(
            number, chain, found.times, step.chain.strips, {**found.tensors, **step.tensors},
            found.constants,
        )  # fmt: skip
        yield dataclasses.replace(built, repeated=repeated)
    if found.after is not None:
        yield _grouped(region, _plain(found.after, options), options, scheduler)


def _grouped(
    region: Region, nests: LookedNests, options: PlanOptions, scheduler: Scheduler
) -> CompiledRegion:
    """Return a region's nests, or some of them, as groups."""
    groups = scheduler.partition(nests.simple)
    choices = scheduler.schedule(groups, nests.simple)
    return CompiledRegion(
        region, nests.lowered, nests.simple, groups, choices,
        looks=None if options.backend.looks == "never" else nests.looks, own=nests.own,
    )  # fmt: skip


def _plain(graph: TileGraph, options: PlanOptions) -> LookedNests:
    """Return nests of which nothing is looked at."""
    return LookedNests(graph, _simple(graph, options))


def _looked(region: Region, graph: TileGraph, options: PlanOptions) -> LookedNests:
    """Return nests that give out what is looked at, where somebody looks."""
    if options.backend.looks == "never":
        return _plain(graph, options)
    values = _values(region.nodes)
    told = values - _fed(region.nodes) if options.backend.looks == "kernel" else frozenset()
    found = looked(graph, LookRequest(values, lambda each: _simple(each, options), told=told))
    # between regions tensors of the model go by their names
    return dataclasses.replace(found, own=found.own - values)


def _looked_chain(
    node: ir.Node, whole: Recurrence, chain: Chain, options: PlanOptions
) -> LookedChain:
    if options.backend.looks == "never":
        return LookedChain(chain, _plain(chain.body, options), {})
    values = {name for body in bodies(node) for name in _values(tuple(body))}
    owner = next(value.name for value in node.outputs if value.name)
    asked = LookRequest(values, lambda each: _simple(each, options), owner)
    return looked_chain(whole, chain, asked)


def _values(nodes: Sequence[ir.Node]) -> frozenset[str]:
    """Return what nodes take and give."""
    every = (value for node in nodes for value in (*node.inputs, *node.outputs))
    return frozenset(value.name for value in every if value is not None and value.name)


def _fed(nodes: Sequence[ir.Node]) -> frozenset[str]:
    """Return the inputs of the model that nodes take."""
    every = (value for node in nodes for value in node.inputs)
    return frozenset(each.name for each in every if each and each.name and each.is_graph_input())


def _simple(lowered: TileGraph, options: PlanOptions) -> TileGraph:
    """Return nests without what only moves elements, as the back end wants them."""
    simple = simplify(lowered, fusion="none" if options.fusion == "none" else "element-wise")
    return options.backend.adapted(simple) if options.fusion == "full" else simple


def _moved(scheduled: Sequence[CompiledRegion]) -> Iterator[tuple[str, str]]:
    """Yield the nodes that were found to be better with ONNX Runtime, and why."""
    for choice in (choice for each in scheduled for choice in each.choices):
        if choice.schedule is None:
            yield from ((node, choice.reason) for node in choice.group.nodes)


def _emitted(each: CompiledRegion, backend: Backend) -> CompiledRegion:
    """Return a region with the code of its groups."""
    if each.simple is None:
        return each
    # the strips of steps are whole rows of tensors in ONNX's order
    layouts = {} if each.region.is_recurrent else backend.layouts(each.simple)
    kernels = tuple(
        backend.emit(choice.group, choice.schedule, each.simple, layouts=layouts)
        for choice in each.choices
        if choice.schedule is not None
    )
    return dataclasses.replace(each, kernels=kernels, layouts=layouts)


def _placed(
    prepared: PreparedModel,
    backend: Backend,
    emitted: Sequence[CompiledRegion],
    to_ort: Mapping[str, str],
) -> BuiltPlan:
    """Return the plan: steps in order, and a place for each tensor."""
    draft = Draft(prepared, backend)
    for number, each in enumerate(emitted):
        if each.simple is None:
            draft.add_part(each.region, to_ort)
        else:
            draft.add_kernels(each, prefix=f"r{number}.")
    return draft.placed()


def _origins(given: ir.Model, rewritten: ir.Model) -> dict[str, tuple[str, ...]]:
    """Return the nodes of the given model behind each of the rewritten one.

    Nodes say what they replaced; what was absorbed without a rule (a constant that was folded in, a
    reshape that went) is found between tensors that both models have.
    """
    inputs = {value.name or "" for value in given.graph.inputs}
    found = behind(nodes_of(given.graph), nodes_of(rewritten.graph), inputs=inputs)
    return dict(zip(map(named, rewritten.graph), found, strict=True))


def _border_obstacle(graph: ir.Graph, to_ort: Mapping[str, str]) -> str | None:
    """Return why a graph cannot be cut: what ONNX Runtime parts would hand over cannot be."""
    parts = [region.nodes for region in regions(graph, to_ort) if region.is_ort]
    for value in (value for nodes in parts for value in border(nodes)):
        if value.dtype is None or not isinstance(value.type, ir.TensorType):
            return f"{value.name!r} is no tensor of a known type"
        if BITS.get(SHORT_NAMES.get(value.dtype, ""), 8) < 8:
            return f"{value.name!r} has elements of less than a byte"
    return None
