"""Lead what PyTorch did back to the nodes of the graph that was exported from it.

A kernel was launched by a call, the call was made by an operator, the operator in a module; the
operator is paired with the nodes that it performs. Whatever runs inside of a paired operator (the
copies that a product makes of its inputs) is done for those nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.core import units as text
from burnish.store.graph import GraphRecord
from burnish.trace.events import Confidence, Span
from burnish.trace.graph_units import GraphIndex, Unit, units
from burnish.trace.grouping import GroupLibrary, NodeGroup
from burnish.trace.pairing import pairs
from burnish.trace.torch_calls import CallTree, OperatorCall

Owners = dict[int, tuple[tuple[str, ...], Confidence]]
"""The nodes of spans, by the spans' places in the trace, and how they are known."""

_LEAST = 0.5
"""A trace in which fewer of the operators find their nodes than this is of another model."""


@dataclass(frozen=True, slots=True)
class FoundSpans:
    """Which spans belong to which nodes, and what stood in the way."""

    owners: Owners
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Run:
    """What was paired in one inference."""

    owners: Owners
    paired: int
    telling: int
    """The calls that say whether the trace is of the model: views are not among them."""


def attribute_torch(spans: Sequence[Span], graph: GraphRecord, library: GroupLibrary) -> FoundSpans:
    """Return the nodes of every operator, call, kernel and copy that can be led back to one."""
    tree, index = CallTree(spans), GraphIndex(graph)
    owners: Owners = {}
    paired = telling = 0
    names: list[str] = []
    for run in tree.runs():
        calls = tree.outermost(run, library.torch | library.follows)
        names += [call.operator for call in calls]
        done = _one_run(calls, tree, index, library)
        owners |= done.owners
        paired, telling = paired + done.paired, telling + done.telling
    if telling and paired < _LEAST * telling:
        return FoundSpans({}, (_strange(paired, telling, names),))
    return FoundSpans(_inherited(spans, owners))


def _strange(paired: int, telling: int, names: Sequence[str]) -> str:
    """Return why so few operators of a trace have nodes; `names` are those of its calls."""
    share = f"{paired:,} of {text.count(telling, 'operator')} in it have nodes in this one"
    times, rest = divmod(telling, paired) if paired else (1, 1)
    one = len(names) // times
    if rest or len(names) % times or names[one:] != names[:-one]:
        return f"the trace is of another model: {share}"
    return (
        f"the trace is of another model, or of {times:,} inferences that nothing tells apart:"
        f" {share}; end each with profiler.step()"
    )


def _one_run(
    calls: Sequence[OperatorCall], tree: CallTree, index: GraphIndex, library: GroupLibrary
) -> _Run:
    """Pair calls with units; what finds no partner is taken apart and tried again, once."""
    named = {call.operator for call in calls}
    active = [group for group in library.groups if group.torch & named]
    whole = units(index, active)
    owners, left_calls, left_units = _paired(calls, whole, index, library)
    inner = [part for call in left_calls for part in tree.within(call, library.torch) or [call]]
    free = {node for unit in left_units for node in unit.nodes}
    free |= set(range(len(index.graph.nodes))) - {n for unit in whole for n in unit.nodes}
    again = _singles(index, library, {call.operator for call in inner}, free)
    more, _, _ = _paired(inner, again, index, library)
    owners |= more
    owners |= _followers(calls, owners, library)
    telling = [call for call in calls if _tells(call, library)]
    found = sum(_is_owned(call, owners, tree, library) for call in telling)
    return _Run(owners, found, len(telling))


def _paired(
    calls: Sequence[OperatorCall], offered: Sequence[Unit], index: GraphIndex, library: GroupLibrary
) -> tuple[Owners, list[OperatorCall], list[Unit]]:
    asking = [call for call in calls if call.operator in library.torch]
    made = pairs(asking, offered, index)
    nodes = index.graph.nodes
    owners: Owners = {
        asking[pair.call].span: (
            tuple(nodes[at].name for at in offered[pair.unit].nodes),
            "correlation",
        )
        for pair in made
    }
    taken = {pair.unit for pair in made}
    left_units = [unit for number, unit in enumerate(offered) if number not in taken]
    return owners, [call for call in asking if call.span not in owners], left_units


def _singles(
    index: GraphIndex, library: GroupLibrary, named: set[str], free: set[int]
) -> list[Unit]:
    """Return the nodes that are still free as units of one node each."""
    alone = [g for g in library.groups if len(g.parts) == 1 and g.torch & named]
    found = []
    for at in sorted(free):
        group = next((g for g in alone if _is_of(index, at, g)), None)
        if group is not None:
            found.append(Unit(group, (at,), at))
    return found


def _is_of(index: GraphIndex, at: int, group: NodeGroup) -> bool:
    return index.graph.nodes[at].op_type.lower() in group.parts[0].op_types


def _tells(call: OperatorCall, library: GroupLibrary) -> bool:
    if call.operator in library.follows:
        return False
    groups = [group for group in library.groups if call.operator in group.torch]
    return any(not group.parts[0].op_types <= library.views for group in groups)


def _is_owned(
    call: OperatorCall, owners: Mapping[int, object], tree: CallTree, library: GroupLibrary
) -> bool:
    if call.span in owners:
        return True
    return any(part.span in owners for part in tree.within(call, library.torch))


def _followers(calls: Sequence[OperatorCall], owners: Owners, library: GroupLibrary) -> Owners:
    """Return the nodes of calls that lay out anew what was computed just before them."""
    found: Owners = {}
    before: tuple[str, ...] = ()
    for call in calls:
        if call.span in owners:
            before = owners[call.span][0]
        elif call.operator in library.follows and before:
            found[call.span] = (before, "pattern")
    return found


def _inherited(spans: Sequence[Span], owners: Owners) -> Owners:
    """Return the owners with everything inside of an owned span, and all that it launched."""
    found = dict(owners)
    for index, span in enumerate(spans):
        if index not in found and span.parent in found and span.device is None:
            found[index] = found[span.parent]
    for index, span in enumerate(spans):
        if span.device is not None and span.cause in found:
            found[index] = found[span.cause]
    return found
