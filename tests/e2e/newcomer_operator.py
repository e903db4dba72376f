"""What com.microsoft.CDist does: how far each row of a matrix is from each row of another."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.operators.record import Operands, Operator, Partial, register
from burnish.tile.expr import Accumulated, Argument, call
from burnish.tile.graph import Read
from burnish.tile.index import Axis, at
from burnish.tile.semantics import NestBuilder, Node, NotCoveredError, Reduction


def _shape(at: Operands) -> Sequence[Partial | None]:
    left, right = at.shape(0), at.shape(1)
    return [None if left is None or right is None else (left[0], right[0])]


def _work(at: Operands) -> float:
    return float(3 * at.out[0] * at.out[1] * at.sizes(0)[1])


def distances(builder: NestBuilder, node: Node) -> None:
    """Add out[i, j] = Σ_k (a[i, k] - b[j, k])², or its root."""
    metric = node.attributes.get("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        raise NotCoveredError(f"the metric {metric!r}")
    left, right = node.inputs
    kind = builder.type(left)
    rows, columns = Axis("i", kind.shape[0]), Axis("j", builder.type(right).shape[0])
    inner = Axis("k", kind.shape[1])
    apart = call("subtract", Argument(0, kind.dtype), Argument(1, kind.dtype))
    total = Accumulated(kind.dtype)
    root = call("sqrt", total) if metric == "euclidean" else total
    reads = [Read(left, (at(rows), at(inner))), Read(right, (at(columns), at(inner)))]
    over = Reduction((inner,), "sum", root)
    builder.add(node.outputs[0], (rows, columns), reads, call("multiply", apart, apart), over)


register({"com.microsoft.CDist": Operator(shape=_shape, work=_work, loops=distances)})
