"""A small graph with two branches, its events and what pictures are made of, for tests."""

from __future__ import annotations

from dataclasses import replace

from burnish.analyze.event_graph import Event, EventGraph
from burnish.analyze.selector import Scene
from burnish.analyze.transform import Setting
from burnish.core.tensors import TensorSpec
from burnish.hw import spec
from burnish.report.graph.picture import Picture, PictureTiming
from burnish.store.graph import GraphNode, GraphRecord

US = 1e-6


def node(
    name: str, op: str, inputs: tuple[str, ...], *, scope: tuple[str, ...] = (), **attributes: int
) -> GraphNode:
    return GraphNode(name, op, "", inputs, (f"{name}_out",), attributes, scope)


def tensor(name: str, *shape: int, dtype: str = "f32") -> TensorSpec:
    return TensorSpec(name, dtype, shape)


def diamond() -> GraphRecord:
    """Return x → query → score → out, x → value → score, and a shape that nothing computes with."""
    block = ("layer.0", "attention")
    nodes = (
        node("query", "MatMul", ("x", "w"), scope=block),
        node("value", "MatMul", ("x", "w"), scope=block),
        node("bias", "Add", ("value_out", "b"), scope=block),
        node("score", "MatMul", ("query_out", "bias_out"), scope=block),
        node("size", "Shape", ("score_out",)),
        node("flat", "Reshape", ("score_out", "size_out"), scope=("layer.0",)),
        node("soft", "Softmax", ("flat_out",), axis=-1),
    )
    names = ("x", "w", *(f"{each.name}_out" for each in nodes if each.name != "size"))
    tensors = {name: tensor(name, 8, 8) for name in names} | {"b": tensor("b", 8)}
    tensors["size_out"] = tensor("size_out", 2, dtype="i64")
    return GraphRecord(
        name="main",
        nodes=nodes,
        inputs=(tensors["x"],),
        outputs=(tensors["soft_out"],),
        tensors=tensors,
        constants=frozenset(("w", "b")),
    )


def events() -> EventGraph:
    """Return the nodes one after the other; the bias is in the product, one event has no node."""
    made = [
        Event("query", "node", "thread 1", 10 * US, 0.0, (), ("query",), "MatMul"),
        Event("value_fused", "node", "thread 1", 30 * US, 1 * US, (0,), ("value", "bias"), "Gemm"),
        Event("score", "node", "thread 1", 20 * US, 1 * US, (1,), ("score",), "MatMul"),
        Event("reorder", "node", "thread 1", 4 * US, 1 * US, (2,), (), "Reorder"),
        Event("soft", "node", "thread 1", 5 * US, 1 * US, (3,), ("soft",), "Softmax"),
    ]
    return EventGraph((*made, Event("end", "end", "host", 0.0, 2 * US, (4,))))


def sample_picture(*, label: str = "sample") -> Picture:
    record = diamond()
    setting = Setting(Scene(events(), record), spec.load("x86-avx2"))
    timing = PictureTiming(
        "onnxruntime-cpu", "by hand", setting, confidences={("value", "bias"): "tensor"}
    )
    return Picture(label, record, timing)


def changed_picture() -> Picture:
    """Return the sample after its first product became twice as fast."""
    picture = sample_picture()
    assert picture.timing is not None
    first, *rest = events().events
    after = EventGraph((replace(first, duration_s=5 * US), *rest))
    return replace(picture, timing=replace(picture.timing, after=after, change="query=2"))
