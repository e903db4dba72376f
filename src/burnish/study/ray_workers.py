"""Send the groups of a matrix to a Ray cluster: the same tasks, measured on its nodes.

Each node measures one group at a time and nothing beside it. What dies with its node is sent to
another. Nodes of unlike fingerprints are not mixed: those of the most frequent one are used. A
model's files travel with the task, for nodes that do not have them.
"""

from __future__ import annotations

import dataclasses
import os
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.bench.cells import Finished
from burnish.bench.fingerprint import environment_key, machine_key
from burnish.bench.measure import MachineState
from burnish.core import files, records, settings
from burnish.core.errors import BurnishError, MissingCapabilityError, UsageError
from burnish.core.progress import SILENT
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.clock import TimeShare
from burnish.study.measuring import CellPlan, fresh, here
from burnish.study.requests.judging import BenchCommand

PREFIX = "ray"
_TRIES = 4
_LOOK_S = 1.0
_FOLDER = "shipped"
Ray = Any
"""The package `ray`, which is imported where it is asked for."""


@dataclass(frozen=True, slots=True)
class ShippedWork:
    """One group to measure, with the files of its models."""

    asked: BenchCommand
    plan: CellPlan
    chosen: tuple[str, ...]
    """Which of its cells."""
    budget_s: float
    content: Mapping[str, bytes]
    """The models' files by path: the ONNX files and what lies beside them."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """A node of a cluster, and what it has."""

    id: str
    cpus: float
    gpus: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """Nodes of one kind, ready to measure."""

    ray: Ray
    nodes: tuple[ClusterNode, ...]
    state: MachineState
    notes: tuple[str, ...]

    def measured(
        self, work: Sequence[ShippedWork]
    ) -> Iterator[tuple[CellPlan, tuple[Finished, ...]]]:
        """Yield the cells of each group as it is finished, in any order."""
        waiting = deque((one, 1) for one in work)
        idle = list(self.nodes)
        running: dict[Any, tuple[ShippedWork, int, ClusterNode]] = {}
        while waiting or running:
            while waiting and idle:
                one, tries = waiting.popleft()
                node = idle.pop()
                running[_sent(self.ray, one, node)] = (one, tries, node)
            if not running:
                raise _nobody_left(len(waiting))
            done, _ = self.ray.wait([*running], num_returns=1, timeout=_LOOK_S)
            for reference in done:
                one, tries, node = running.pop(reference)
                cells = _received(self.ray, reference)
                if cells is not None:
                    yield one.plan, cells
                elif tries < _TRIES:
                    waiting.append((one, tries + 1))
                else:
                    raise _given_up(one, tries)
                if node.id in {known.id for known in _nodes(self.ray)}:
                    idle.append(node)


@contextmanager
def connected(address: str) -> Iterator[Cluster]:
    """Yield the nodes of a cluster; `ray` alone means the one here, which is started if need be."""
    if address != PREFIX and ":" not in address:
        raise UsageError(
            f"--workers {address!r} names no cluster",
            hint="write --workers ray, or ray://HOST:PORT",
        )
    ray = _imported()
    where = {} if address == PREFIX else {"address": address}
    try:
        ray.init(
            **where, include_dashboard=None if where else False, log_to_driver=False,
            logging_level="ERROR", ignore_reinit_error=True,
        )  # fmt: skip
    except (ConnectionError, RuntimeError, ValueError, ImportError) as error:
        raise MissingCapabilityError(
            f"the Ray cluster {address} cannot be reached ({str(error).splitlines()[0]})",
            hint="start one: ray start --head, and name it: --workers ray://HOST:10001",
        ) from error
    try:
        yield _alike(ray)
    finally:
        ray.shutdown()


def shipped(
    asked: BenchCommand, plan: CellPlan, chosen: Sequence[str], budget_s: float
) -> ShippedWork:
    """Return a group with the content of its models' files."""
    every = [path for model in plan.group.models for path in _files(model)]
    content = {str(path.absolute()): path.read_bytes() for path in every}
    return ShippedWork(asked, plan, tuple(chosen), budget_s, content)


def unpacked(work: ShippedWork, home: Path) -> CellPlan:
    """Return the plan with models that are here: where they were, or from what was shipped."""
    models = {str(one.onnx): _placed(one, work, home) for one in work.plan.group.models}
    group = dataclasses.replace(
        work.plan.group, models=tuple(models[str(one.onnx)] for one in work.plan.group.models)
    )
    subjects = {
        name: dataclasses.replace(one, model=models[str(one.model.onnx)])
        for name, one in work.plan.subjects.items()
    }
    return dataclasses.replace(work.plan, group=group, subjects=subjects)


def _placed(model: StoredModel, work: ShippedWork, home: Path) -> StoredModel:
    key = next(
        work.plan.tasks[name].model_key
        for name, one in work.plan.subjects.items()
        if one.model.onnx == model.onnx
    )
    if model.onnx.is_file() and onnx_files.content_key(model.onnx) == key:
        return model
    # the last folders stay as they are: a store tells a model's name by them
    place = home / key[:16] / model.onnx.absolute().relative_to(model.onnx.absolute().parents[2])
    beside = model.onnx.absolute().parent
    for name, content in work.content.items():
        if Path(name).is_relative_to(beside):
            files.write_bytes(place.parent / Path(name).relative_to(beside), content)
    return dataclasses.replace(model, onnx=place)


def _files(model: StoredModel) -> tuple[Path, ...]:
    source = model.onnx.with_name("source.json")
    return (*onnx_files.files(model.onnx), *((source,) if source.is_file() else ()))


def _on_node(work: ShippedWork) -> Any:  # noqa: ANN401  (JSON of cells)
    """Measure on this node; Ray's own limit of threads is lifted, which is none of the user's."""
    os.environ.pop("OMP_NUM_THREADS", None)
    plan = unpacked(work, settings.read().cache / _FOLDER)
    cells = fresh(work.asked, plan, work.chosen, TimeShare(work.budget_s), SILENT)
    return [records.encode(cell) for cell in cells]


def _looked_at() -> Any:  # noqa: ANN401  (JSON of a machine's state)
    os.environ.pop("OMP_NUM_THREADS", None)
    return records.encode(here())


def _imported() -> Ray:
    try:
        import ray
    except ImportError as error:
        raise MissingCapabilityError(
            "ray is not installed", hint="pip install 'burnish[ray]'"
        ) from error
    return ray


def _nodes(ray: Ray) -> tuple[ClusterNode, ...]:
    """Return the nodes that are alive and have processors to work with."""
    found = ((one["NodeID"], one["Resources"]) for one in ray.nodes() if one["Alive"])
    return tuple(
        ClusterNode(node, has.get("CPU", 0.0), has.get("GPU", 0.0))
        for node, has in found
        if has.get("CPU")
    )


def _alike(ray: Ray) -> Cluster:
    """Return the nodes of the most frequent kind, and a note on the others."""
    nodes = _nodes(ray)
    remote = ray.remote(_looked_at)
    asked = [remote.options(**_pinned(node)).remote() for node in nodes]
    states = [records.decode(MachineState, found) for found in ray.get(asked)]
    kinds = [(machine_key(state), environment_key(state)) for state in states]
    ((most, count),) = Counter(kinds).most_common(1)
    others = len(nodes) - count
    note = f"{others} of {len(nodes)} nodes are unlike the others, and measured nothing"
    return Cluster(
        ray,
        tuple(node for node, kind in zip(nodes, kinds, strict=True) if kind == most),
        states[kinds.index(most)],
        (note,) if others else (),
    )


def _pinned(node: ClusterNode) -> dict[str, Any]:
    """Return what makes a task run on one node, alone, and not again by itself."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {
        "scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False),
        "num_cpus": node.cpus,
        "num_gpus": node.gpus,
        "max_retries": 0,
    }


def _sent(ray: Ray, work: ShippedWork, node: ClusterNode) -> Any:  # noqa: ANN401  (Ray's reference)
    return ray.remote(_on_node).options(**_pinned(node)).remote(work)


def _received(ray: Ray, reference: Any) -> tuple[Finished, ...] | None:  # noqa: ANN401
    """Return the cells of a finished task; None: it died with its worker or its node."""
    try:
        return tuple(records.decode(Finished, cell) for cell in ray.get(reference))
    except BurnishError:
        raise
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        raise cause if isinstance(cause, BurnishError) else error from None
    except ray.exceptions.RayError:
        return None


def _nobody_left(waiting: int) -> MissingCapabilityError:
    return MissingCapabilityError(
        f"no node of the Ray cluster is left, and {waiting} groups are not measured",
        hint="start nodes (ray start --address HOST:PORT); the same command goes on",
    )


def _given_up(work: ShippedWork, tries: int) -> MissingCapabilityError:
    return MissingCapabilityError(
        f"{work.plan.baseline} and its group died with their nodes {tries} times",
        hint="measure them here: leave --workers away",
    )
