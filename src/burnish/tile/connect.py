"""Which nests may share a kernel: members, what they write to memory, and why they may not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from burnish.tile.graph import TileGraph
from burnish.tile.group import Group


class NoGroupError(Exception):
    """These nests cannot be one kernel; the text says why."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """Who writes and who reads each tensor of a graph, by position of the nest."""

    graph: TileGraph
    writer: Mapping[str, int]
    readers: Mapping[str, tuple[int, ...]]
    outputs: frozenset[str]

    def successors(self, position: int) -> tuple[int, ...]:
        """Return the nests that read what a nest writes."""
        return self.readers[self.graph.ops[position].output]

    def predecessors(self, position: int) -> tuple[int, ...]:
        """Return the nests whose outputs a nest reads."""
        names = self.graph.ops[position].inputs
        return tuple(self.writer[name] for name in names if name in self.writer)


def wiring(graph: TileGraph) -> Wiring:
    """Return who writes and who reads each tensor."""
    readers: dict[str, list[int]] = {name: [] for name in graph.tensors}
    for position, op in enumerate(graph.ops):
        for name in op.inputs:
            readers[name].append(position)
    return Wiring(
        graph=graph,
        writer={op.output: position for position, op in enumerate(graph.ops)},
        readers={name: tuple(found) for name, found in readers.items()},
        outputs=frozenset(graph.outputs),
    )


def grouped(wires: Wiring, members: Iterable[int]) -> Group:
    """Return the group of these nests; `NoGroupError` where they cannot be one."""
    chosen = sorted(set(members))
    inside = set(chosen)
    ops = wires.graph.ops
    if (detour := _detour(wires, inside)) is not None:
        raise NoGroupError(f"{ops[detour].output!r} lies between them and is outside")
    for position in chosen[:-1]:
        if not inside & set(wires.successors(position)):
            raise NoGroupError(f"{ops[chosen[-1]].output!r} does not need {ops[position].output!r}")
    outputs = [
        ops[position].output
        for position in chosen[:-1]
        if ops[position].output in wires.outputs or not set(wires.successors(position)) <= inside
    ]
    return Group(tuple(ops[k] for k in chosen), (*outputs, ops[chosen[-1]].output))


def singles(graph: TileGraph) -> tuple[Group, ...]:
    """Return every nest of a graph as a group of its own."""
    return tuple(Group((op,), (op.output,)) for op in graph.ops)


def in_order(groups: Collection[Group]) -> tuple[Group, ...]:
    """Return the groups such that each comes after those whose outputs it reads."""
    writer = {name: group for group in groups for name in group.outputs}
    done: dict[str, None] = {}
    result: list[Group] = []

    def place(group: Group) -> None:
        stack = [(group, iter(group.inputs))]
        while stack:
            current, names = stack[-1]
            needed = (writer[name] for name in names if name in writer)
            missing = next((each for each in needed if each.outputs[-1] not in done), None)
            if missing is not None:
                stack.append((missing, iter(missing.inputs)))
                continue
            stack.pop()
            if current.outputs[-1] not in done:
                done[current.outputs[-1]] = None
                result.append(current)

    for group in groups:
        place(group)
    return tuple(result)


def _detour(wires: Wiring, inside: set[int]) -> int | None:
    """Return a nest outside that needs one inside and is needed by another; None: there is none."""
    last = max(inside)
    frontier = [after for position in inside for after in wires.successors(position)]
    seen: set[int] = set()
    origin: dict[int, int] = {}
    while frontier:
        position = frontier.pop()
        if position in seen or position in inside or position > last:
            continue
        seen.add(position)
        for after in wires.successors(position):
            if after in inside:
                return origin.get(position, position)
            origin.setdefault(after, origin.get(position, position))
            frontier.append(after)
    return None
