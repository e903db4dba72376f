"""The launches of a model as what the runtime for cards assembles."""

from __future__ import annotations

import numpy as np

from burnish.codegen.gpu.launch import Launch
from burnish.codegen.gpu.sequence import Sequenced
from burnish.core.tensors import TensorSpec
from burnish.cuda.assemble import BoundWork, CubinCall
from burnish.cuda.kernel import TritonSource


def call_of(launch: Launch, nodes: tuple[str, ...] = ()) -> CubinCall:
    """Return a launch as the runtime takes it."""
    return CubinCall(
        source=TritonSource(launch.name, launch.source, launch.dtypes, launch.warps, launch.stages),
        arguments=launch.arguments,
        outputs=launch.outputs,
        grid=launch.grid,
        scratch=launch.scratch,
        zeroed=launch.zeroed,
        nodes=nodes,
    )


def work_of(plan: Sequenced) -> BoundWork:
    """Return all launches of a model; constants lie in memory as the kernels read them."""
    graph = plan.graph
    calls = tuple(
        call_of(launch, choice.group.nodes)
        for choice, launches in zip(plan.choices, plan.launches, strict=True)
        for launch in launches
    )
    used = dict.fromkeys(name for call in calls for name in call.arguments)
    constants = {
        name: np.ascontiguousarray(array.transpose(plan.orders.get(name, range(array.ndim))))
        for name, array in (
            (each, np.asarray(graph.constants[each])) for each in used if each in graph.constants
        )
    }
    tensors = {
        name: TensorSpec(name, graph.tensors[name].dtype, tuple(graph.tensors[name].shape))
        for name in dict.fromkeys((*graph.inputs, *used, *graph.outputs))
    }
    return BoundWork(calls, tensors, graph.inputs, graph.outputs, constants)
