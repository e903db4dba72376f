"""What an engine needs to know of a model besides its inputs and outputs."""

from __future__ import annotations

import dataclasses
from collections import Counter

import onnx_ir as ir

from burnish.core.errors import BurnishError
from burnish.core.tensors import BITS, FLOATS
from burnish.engines.base import EngineOptions
from burnish.store import onnx_files
from burnish.store.element_types import SHORT_NAMES
from burnish.store.graph_nodes import node_names
from burnish.store.stored import StoredModel

_QUANTISED = frozenset(name for name, bits in BITS.items() if bits <= 8 and name != "bool")


def with_arithmetic(options: EngineOptions, model: StoredModel) -> EngineOptions:
    """Return options that spare another process reading the model, which is read here anyway."""
    try:
        return dataclasses.replace(options, arithmetic=arithmetic_type(onnx_files.look(model.onnx)))
    except (BurnishError, OSError):  # whoever opens it tells what is wrong with it
        return options


def arithmetic_type(model: ir.Model) -> str:
    """Return the element type of most of the model's weights: what its arithmetic runs in.

    Without weights it is that of the first floating-point input or output, and without those of
    the first output.
    """
    weights: Counter[str] = Counter()
    for value in model.graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and SHORT_NAMES[tensor.dtype] in FLOATS | _QUANTISED:
            weights[SHORT_NAMES[tensor.dtype]] += tensor.size
    if weights:
        return weights.most_common(1)[0][0]
    types = [
        SHORT_NAMES[value.dtype]
        for value in (*model.graph.inputs, *model.graph.outputs)
        if value.dtype is not None
    ]
    floats = [name for name in types if name in FLOATS]
    return floats[0] if floats else (types[-1] if types else "f32")


def node_of_name(model: ir.Model) -> dict[str, str]:
    """Return the node's name by its own name and by its outputs': engines use either."""
    names = dict(zip(model.graph, node_names(model.graph), strict=True))
    result: dict[str, str] = {}
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        name = names.get(node) or node.name
        if name:
            result.update({value.name: name for value in node.outputs if value.name})
            result[name] = name
    return result
