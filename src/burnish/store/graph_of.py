"""Read a model into a graph record, with its shapes inferred for given sizes."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping

import onnx
import onnx_ir as ir

from burnish.core.tensors import Dim, TensorSpec
from burnish.store import onnx_files, shape_twins
from burnish.store.element_types import SHORT_NAMES
from burnish.store.graph import Attribute, GraphNode, GraphRecord

_LARGEST_READ = 1024
"""Elements of a constant that shape inference may want to read; larger ones are weights."""
_REPLACED = "burnish.replaced"
"""Where a fused node keeps the names of those that it stands for."""
_SCOPES = ("pkg.torch.onnx.name_scopes", "namespace")
_KEPT = (
    ir.AttributeType.INT, ir.AttributeType.FLOAT, ir.AttributeType.STRING,
    ir.AttributeType.INTS, ir.AttributeType.FLOATS,
)  # fmt: skip
_NO_MODULE = "_empty_nn_module_stack"
"""What torch's exporter writes for an operator outside of all modules."""
_QUOTED = re.compile(r"'([^']*)'")


def graph_of(
    model: ir.Model,
    bindings: Mapping[str, int],
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> GraphRecord:
    """Return the main graph of `model`, which stays as it is.

    Symbolic sizes in `bindings` are bound before shapes are inferred. `shapes` are those of
    real inputs, for models whose sizes have no names of their own (`past + sequence`).
    """
    interface = onnx_files.interface(model)
    tensors = {spec.name: spec for spec in _inferred(model, bindings, shapes or {})}
    return GraphRecord(
        name=model.graph.name or "main",
        nodes=nodes_of(model.graph),
        inputs=tuple(tensors.get(spec.name, spec) for spec in interface.inputs),
        outputs=tuple(tensors.get(spec.name, spec) for spec in interface.outputs),
        tensors=tensors,
        constants=frozenset(_constants(model.graph)),
    )


def node_names(graph: ir.Graph) -> tuple[str, ...]:
    """Return a name for each node of a graph: its own, or one made from operator and index."""
    taken = {node.name for node in graph if node.name}
    names, seen = [], set[str]()
    for index, node in enumerate(graph):
        name = node.name or f"{node.op_type}_{index}"
        while name in seen or (not node.name and name in taken):
            name = f"{name}_{index}"
        seen.add(name)
        names.append(name)
    return tuple(names)


def nodes_of(graph: ir.Graph) -> tuple[GraphNode, ...]:
    """Return the nodes of a graph, without those in the bodies of others."""
    return tuple(_nodes(graph))


def _nodes(graph: ir.Graph) -> Iterator[GraphNode]:
    for name, node in zip(node_names(graph), graph, strict=True):
        yield GraphNode(
            name=name,
            op_type=node.op_type,
            domain=node.domain,
            inputs=tuple(_name(value) for value in node.inputs),
            outputs=tuple(_name(value) for value in node.outputs),
            attributes=_attributes(node),
            scope=_scope(node),
            replaced=_replaced(node),
        )


def _replaced(node: ir.Node) -> tuple[str, ...]:
    try:
        written = json.loads(node.metadata_props.get(_REPLACED, "[]"))
    except json.JSONDecodeError:
        return ()
    return tuple(map(str, written)) if isinstance(written, list) else ()


def _name(value: ir.Value | None) -> str:
    return (value.name or "") if value is not None else ""


def _attributes(node: ir.Node) -> dict[str, Attribute]:
    kept = {
        name: attribute.value
        for name, attribute in node.attributes.items()
        if isinstance(attribute, ir.Attr) and attribute.type in _KEPT
    }
    return {k: tuple(v) if isinstance(v, (list, tuple)) else v for k, v in kept.items()}


def _scope(node: ir.Node) -> tuple[str, ...]:
    """Return the modules around a node, as its metadata or else its name tells them."""
    for key in _SCOPES:
        if text := node.metadata_props.get(key, ""):
            return tuple(part for part in _scope_parts(text) if part)
    name = node.name or ""
    return tuple(name.strip("/").split("/")[:-1]) if name.startswith("/") else ()


def _scope_parts(text: str) -> list[str]:
    """Return the parts of a written scope; a list of dotted paths is told by its innermost."""
    if not text.startswith("["):
        return [part.partition(":")[0].strip() for part in text.strip("/").split("/")]
    paths = _QUOTED.findall(text)
    # the last entry is the operator itself, where there is more than the modules
    modules = [path for path in paths[:-1] or paths if not path.startswith(_NO_MODULE)]
    return _split_path(modules[-1]) if modules else []


def _split_path(path: str) -> list[str]:
    """Return `layer.0.attention` as `layer.0`, `attention`: a number belongs to its list."""
    parts: list[str] = []
    for part in path.split("."):
        if part.isdigit() and parts:
            parts[-1] += f".{part}"
        else:
            parts.append(part)
    return parts


def _constants(graph: ir.Graph) -> Iterator[str]:
    yield from graph.initializers
    for node in graph:
        if node.op_type == "Constant":
            yield from (_name(value) for value in node.outputs)


def _inferred(
    model: ir.Model, bindings: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> Iterator[TensorSpec]:
    work = model.clone()
    weights = [spec for value in work.graph.initializers.values() if (spec := _weight(value))]
    _bind(work, bindings, shapes)
    _hide_weights(work)
    shape_twins.replace_contrib(work)
    proto = ir.to_proto(work)
    # where inference fails, what is written in the model is all that is known
    with contextlib.suppress(
        onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError, ValueError
    ):
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    graph = proto.graph
    for info in (*graph.input, *graph.value_info, *graph.output):
        if (spec := _spec(info)) is not None:
            yield spec
    yield from weights


def _weight(value: ir.Value) -> TensorSpec | None:
    tensor = value.const_value
    if tensor is None or tensor.dtype not in SHORT_NAMES:
        return None
    return TensorSpec(value.name or "", SHORT_NAMES[tensor.dtype], tuple(tensor.shape.numpy()))


def _bind(
    model: ir.Model, bindings: Mapping[str, int], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    values = [*model.graph.inputs, *model.graph.outputs]
    values += [value for node in model.graph for value in node.outputs]
    for value in values:
        if (value.name or "") in shapes:
            value.shape = ir.Shape(shapes[value.name or ""])
        elif value.shape is not None:
            value.shape = ir.Shape([_bound(dim, bindings) for dim in value.shape])


def _bound(dim: int | ir.SymbolicDim, bindings: Mapping[str, int]) -> int | None:
    """Return the size of a dimension; what is not known is left to inference, without a name."""
    if isinstance(dim, int):
        return dim if dim >= 0 else None
    return bindings.get(dim.value or "")


def _hide_weights(model: ir.Model) -> None:
    """Turn weights into inputs: shape inference need not read them, nor copy them."""
    graph = model.graph
    for name, value in list(graph.initializers.items()):
        tensor = value.const_value
        if tensor is not None and tensor.size > _LARGEST_READ:
            value.shape, value.dtype = ir.Shape(tensor.shape.numpy()), tensor.dtype
            value.const_value = None
            del graph.initializers[name]
            if value not in graph.inputs:
                graph.inputs.append(value)


def _spec(info: onnx.ValueInfoProto) -> TensorSpec | None:
    kind = info.type.tensor_type
    dtype = SHORT_NAMES.get(ir.DataType(kind.elem_type))
    if dtype is None or not kind.HasField("shape"):
        return None
    dims: list[Dim] = [
        dim.dim_value if dim.HasField("dim_value") else f"{info.name}_dim_{index}"
        for index, dim in enumerate(kind.shape.dim)
    ]
    return TensorSpec(info.name, dtype, tuple(dims))
