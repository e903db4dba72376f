"""Fit the products of a smaller model one after the other, each to what it reads by then.

A product that is fitted to what the original gives it does not know that the layers before it have
moved; in a deep network of convolutions their errors pass through all that follows. Here what a
product reads is seen in the smaller model, with all before it fitted, and what it is to give in the
original.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.parity.exposed import Exposed
from burnish.process.scratch import scratch
from burnish.prune.cut import Kept, Weights, reweighted
from burnish.prune.gram import MatrixProduct, PairedMoments
from burnish.prune.score import refitted
from burnish.store import onnx_files
from burnish.store.history import History
from burnish.store.stored import StoredModel
from burnish.study.prune_cut import Calibrated, Prunable, elements
from burnish.study.prune_inputs import ENGINE
from burnish.study.prune_write import PruneTask


def fitted_in_turn(
    one: Prunable, axes: Sequence[Calibrated], kept: Kept, zeros: Weights, task: PruneTask,
    part: float,
) -> Weights:  # fmt: skip
    """Return the weights of what is left, each fitted to what it reads once those before it are.

    `part` is how strongly they are held to what they were. Products that do not depend on each
    other are fitted at once.
    """
    weights: dict[str, Array] = dict(zeros)
    stages = list(_stages(one.flow.model, axes, kept))
    with scratch("sequence") as folder:
        original = Exposed(one.model, folder)
        for number, stage in enumerate(stages, 1):
            twin = reweighted(one.flow.model, weights)
            for moments in _seen(stage, original, twin, task.inputs.calibrating):
                product = moments.product
                value = product.summed.weight
                before, rows = elements(value), product.rows(kept)
                new = refitted(
                    moments.gram, product.matrix(before), rows, part=part, cross=moments.cross
                )
                weights[value.name or ""] = product.weight(new, before)
            task.progress.step("fit", number, len(stages))
    return weights


def _stages(
    model: ir.Model, axes: Sequence[Calibrated], kept: Kept
) -> Iterator[list[MatrixProduct]]:
    """Yield products that can be fitted together, in the order of the graph."""
    found = {
        moments.product.summed.node: moments.product
        for own in axes
        if own.axis.dim in kept
        for moments in own.moments
        if moments.product.alone
    }
    depths: dict[ir.Value, int] = {}
    stages: dict[int, list[MatrixProduct]] = defaultdict(list)
    for node in model.graph:
        depth = max((depths.get(value, 0) for value in node.inputs if value is not None), default=0)
        if node in found:
            stages[depth].append(found[node])
            depth += 1
        depths.update(dict.fromkeys(node.outputs, depth))
    yield from (stages[depth] for depth in sorted(stages))


def _seen(
    stage: Sequence[MatrixProduct], original: Exposed, twin: ir.Model, feeds: Sequence[Feeds]
) -> list[PairedMoments]:
    """Return what the products of a stage read in both models."""
    moments = [PairedMoments(product) for product in stage]
    names = list(dict.fromkeys(product.summed.data.name or "" for product in stage))
    with scratch("twin") as folder:
        path = folder / "twin.onnx"
        onnx_files.write(twin, path, history=History("", ()))
        changed = Exposed(StoredModel(path, "twin"), folder)
        pairs = zip(_values(original, names, feeds), _values(changed, names, feeds), strict=True)
        for before, now in pairs:
            for own in moments:
                name = own.product.summed.data.name or ""
                own.add(before[name], now[name])
    return moments


def _values(
    model: Exposed, names: Sequence[str], feeds: Sequence[Feeds]
) -> Iterator[dict[str, Array]]:
    """Yield some of a model's values for each of the inputs."""
    inner = [name for name in names if name not in feeds[0].arrays]
    if not inner:
        yield from (dict(fed.arrays) for fed in feeds)
        return
    options = EngineOptions(graph_level="off")
    with model.giving(inner) as given, open_session(ENGINE, given, options) as session:
        for fed in feeds:
            yield {**fed.arrays, **session.run(fed.arrays)}
