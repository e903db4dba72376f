"""The ways a random model goes: rewritten, as kernels, as kernels chosen by lot, compiled."""

from __future__ import annotations

import functools
import tempfile
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from burnish.codegen.backend import Backend, open_backend
from burnish.codegen.pipeline import PlanOptions, plan, plan_up_to, prepare
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Choice, Predicted, Scheduler
from burnish.codegen.write import write
from burnish.core.arrays import Array, Arrays
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.rewrite.pipeline import optimize
from burnish.runtime.folder import About
from burnish.runtime.load import open_folder
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.compile import CompileRequest, compile_model
from burnish.tile.candidates import Space
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.partition import partition
from torture.running import outputs_of

Way = Callable[[onnx.ModelProto, Arrays], dict[str, Array]]


def rewritten(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what a model gives after `optimize` without its checks."""
    result = optimize(ir.serde.deserialize_model(model)).model
    return outputs_of(ir.serde.serialize_model(result), inputs)


def compiled(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what its kernels give as they are predicted to be best, without any proof."""
    backend = open_backend("cpu", 2)
    return _run(model, inputs, backend, Predicted(backend))


def drawn(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what kernels give whose groups and tiles are chosen by lot."""
    backend = open_backend("cpu", 2)
    random = np.random.default_rng(zlib.crc32(model.SerializeToString(deterministic=True)))
    return _run(model, inputs, backend, Drawn(backend, random))


def proven(model: onnx.ModelProto, inputs: Arrays) -> dict[str, Array]:
    """Return what a folder of `burnish compile` gives; it refuses what it cannot prove."""
    with tempfile.TemporaryDirectory(prefix="torture-random-") as folder:
        path = Path(folder) / "model.onnx"
        onnx.save(model, path)
        faces = onnx_files.interface(ir.serde.deserialize_model(model))
        sizes = bindings(faces.inputs, inputs)
        stored, given = StoredModel(path, "random"), (Feeds(dict(inputs), sizes),)
        compile_model(CompileRequest(stored, Path(folder) / "m", (sizes,), given=given))
        with open_folder(Path(folder) / "m", threads=2) as opened:
            return {name: np.array(array) for name, array in opened.run(inputs).items()}


@dataclass
class Drawn:
    """Groups nests by prices that are off by any factor, and takes any of the candidate tiles."""

    backend: Backend
    random: np.random.Generator

    def partition(self, graph: TileGraph) -> tuple[Group, ...]:
        """Return groups that are legal, however slow."""
        predicted = self.backend.predictor(graph)

        @functools.cache
        def factor(_nests: tuple[str, ...]) -> float:
            return float(np.exp(self.random.normal(0, 1.5)))

        def price(group: Group) -> float:
            return predicted(group) * factor(tuple(op.output for op in group.ops))

        return partition(graph, self.backend.machine, predictor=price).groups

    def schedule(self, groups: Sequence[Group], graph: TileGraph) -> tuple[Choice, ...]:
        """Return any of the best tiles of each group."""
        return tuple(self._choice(group, graph) for group in groups)

    def _choice(self, group: Group, graph: TileGraph) -> Choice:
        best = Predicted(self.backend).choice(group, graph)
        if best.schedule is None:
            return best
        found = self.backend.candidates(group, graph, Space(top=16)).candidates
        schedules = [each.schedule for each in found] or [best.schedule]
        return Choice(group, schedules[int(self.random.integers(0, len(schedules)))])


def bindings(inputs: Sequence[TensorSpec], arrays: Arrays) -> dict[str, int]:
    """Return the sizes that names stand for in some inputs."""
    return {
        dim: size
        for spec in inputs
        for dim, size in zip(spec.shape, arrays[spec.name].shape, strict=True)
        if isinstance(dim, str)
    }


def _run(
    model: onnx.ModelProto, inputs: Arrays, backend: Backend, scheduler: Scheduler
) -> dict[str, Array]:
    loaded = ir.serde.deserialize_model(model)
    faces = onnx_files.interface(loaded)
    sizes = bindings(faces.inputs, inputs)
    built = plan(prepare(loaded, sizes), PlanOptions(backend, scheduler))
    (found,) = _results(loaded, built, backend, [inputs])
    return found


def open_batch(model: onnx.ModelProto, most: int, fed: Sequence[Arrays]) -> list[dict[str, Array]]:
    """Return what one plan for every batch gives; ClosedSizeError: there is no such plan."""
    backend, loaded = open_backend("cpu", 2), ir.serde.deserialize_model(model)
    options = PlanOptions(backend, Predicted(backend))
    built = plan_up_to(loaded, prepare(loaded, {"batch": most}), "batch", options)
    return _results(loaded, built, backend, fed)


def _results(
    loaded: ir.Model, built: BuiltPlan, backend: Backend, fed: Sequence[Arrays]
) -> list[dict[str, Array]]:
    """Return what a plan gives for each of some inputs."""
    faces = onnx_files.interface(loaded)
    about = About("m", "m.onnx", "0", faces.inputs, faces.outputs, "f32", "a CPU", "today")
    with tempfile.TemporaryDirectory(prefix="torture-random-") as folder:
        write(Path(folder) / "m", about, [built], backend)
        with open_folder(Path(folder) / "m", threads=2) as opened:
            return [{n: np.array(a) for n, a in opened.run(inputs).items()} for inputs in fed]


WAYS: dict[str, Way] = {
    "rewritten": rewritten, "kernels": compiled, "drawn": drawn, "compile": proven,
}  # fmt: skip
QUICK_WAYS: dict[str, Way] = {name: WAYS[name] for name in ("rewritten", "kernels", "drawn")}
