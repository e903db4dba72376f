"""Set weights to zero where they are: smaller files after compression, no faster models."""

from __future__ import annotations

import dataclasses

import numpy as np

from burnish.core import units
from burnish.core.arrays import Array
from burnish.core.command import command
from burnish.core.errors import ModelError
from burnish.infer.constants import constant_tensor
from burnish.prune.cut import reweighted
from burnish.prune.flow import Flow
from burnish.prune.gram import Norms, products
from burnish.prune.masks import by_output, largest, two_of_four
from burnish.store import onnx_files
from burnish.study.inputs import fed
from burnish.study.observed import completed
from burnish.study.prune_inputs import observe
from burnish.study.prune_report import PruneReport
from burnish.study.prune_write import PruneTask, Smaller, written
from burnish.study.requests.pruning import PruneCommand

HONEST = (
    "zeros cost what other numbers cost: ONNX Runtime, OpenVINO and burnish's own kernels are no "
    "faster with them, and the file is smaller only when compressed; to be faster, leave out "
    "--method"
)
HONEST_2_4 = (
    "two zeros in four are faster on NVIDIA cards since Ampere, in TensorRT with sparse weights "
    "allowed, and nowhere else; burnish has not measured that"
)


def masked(task: PruneTask) -> PruneReport:
    """Return what comes of setting weights of products to zero."""
    feeds = task.inputs.calibrating
    graph = completed(fed(task.model, feeds[0]).graph, task.model, feeds[0])
    flow = Flow(onnx_files.read(task.model.onnx), graph)
    observers = [Norms(product) for product in products(flow, flow.sums)]
    if not observers:
        raise ModelError(
            f"{task.model.label}: it has no product with constant weights, so none can be zero",
            hint=f"see what it is made of: {command('explain', task.model.onnx)}",
        )
    if task.asked.method != "magnitude":
        observe(task.model, observers, feeds, task.progress)
    weights, left_alone = _weights(observers, task.asked)
    smaller = reweighted(flow.model, weights)
    zero = sum(int(np.sum(array == 0)) for array in weights.values())
    share = zero / max(sum(array.size for array in weights.values()), 1)
    about = f"{units.share(share)} of {units.count(len(weights), 'weight')} are zero"
    report = written(task, Smaller(smaller, twin=smaller, zeroed=None, about=about))
    notes = [about, *left_alone, HONEST, *([HONEST_2_4] if task.asked.method == "2:4" else [])]
    return dataclasses.replace(report, notes=tuple(notes))


def _weights(observers: list[Norms], asked: PruneCommand) -> tuple[dict[str, Array], list[str]]:
    """Return the weights with their zeros, and what was left alone."""
    result: dict[str, Array] = {}
    left_alone = []
    for own in observers:
        value = own.product.summed.weight
        tensor = constant_tensor(value)
        assert tensor is not None
        weight = own.product.matrix(tensor.numpy())
        if asked.method == "magnitude":
            mask = largest(weight, asked.keep or 1.0)
        elif asked.method == "wanda":
            mask = by_output(weight, own.norms, asked.keep or 1.0)
        else:
            found = two_of_four(weight, own.norms)
            if found is None:
                left_alone.append(f"{value.name} was left alone: it sums {len(weight)} terms")
                continue
            mask = found
        result[value.name or ""] = own.product.weight(weight * mask, tensor.numpy())
    return result, left_alone
