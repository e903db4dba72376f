"""Make constants initializers, each once.

onnx-ir's own LiftConstantsToInitializersPass raises where a Constant is sparse, and keeps each of
the thousands of equal ones that exporters write. Its deduplication leaves large weights alone, or
reads all of them; here a few bytes tell most of them apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import RemoveInitializersFromInputsPass

from burnish.infer import walk
from burnish.infer.constants import constant_tensor
from burnish.rewrite import edit
from burnish.rewrite.facts import Facts
from burnish.rewrite.passes.counted import Counted, InPlacePass, counted

_FIRST_IR_WITH_CONSTANTS = 4
"""Before it, every initializer had to be listed as an input, although nobody could feed it."""
_MODERN_IR = 8
_GLIMPSE_BYTES = 512


@dataclass(frozen=True)
class LiftConstants(InPlacePass):
    """Make Constant nodes initializers of their graph.

    rewrite:
        c = Constant[value = 2.0](); y = Pow(x, c)
        -->
        y = Pow(x, c)   with the initializer c = 2.0

    Equal small ones, of which exporters write thousands, become one.
    """

    def call(self, model: ir.Model) -> Counted:
        """Lift all constants but text, sparse ones, and those that are outputs."""
        count = _drop_constants_from_inputs(model) + _move_weights_out_of_bodies(model)
        for graph in walk.graphs(model):
            known: dict[tuple[object, ...], ir.Value] = {}
            doomed = [node for node in graph if _lift(node, graph, known)]
            edit.remove(doomed)
            count += len(doomed)
        return counted(model, count)


def _lift(node: ir.Node, graph: ir.Graph, known: dict[tuple[object, ...], ir.Value]) -> bool:
    """Make the readers of a Constant read an initializer; return whether they do now."""
    if not walk.is_standard(node, "Constant") or node.outputs[0].is_graph_output():
        return False
    output = node.outputs[0]
    tensor = constant_tensor(output)
    if tensor is None or output.name in graph.initializers:
        return False
    small = tensor.dtype != ir.DataType.STRING and tensor.nbytes <= _GLIMPSE_BYTES
    key = (tensor.dtype, tensor.shape.numpy(), _glimpse(tensor)) if small else ()
    twin = known.get(key)
    if twin is not None:
        output.replace_all_uses_with(twin)
        return True
    lifted = edit.replace_by_constant(output, tensor)
    if small:
        known[key] = lifted
    return True


def _drop_constants_from_inputs(model: ir.Model) -> int:
    """Bring an old model to an IR version in which initializers are not listed as inputs."""
    if model.ir_version >= _FIRST_IR_WITH_CONSTANTS:
        return 0
    model.ir_version = _MODERN_IR
    return int(RemoveInitializersFromInputsPass()(model).modified) + 1


def _move_weights_out_of_bodies(model: ir.Model) -> int:
    """Make weights of branches and loops weights of the main graph, where their name is free."""
    moved = 0
    inner = tuple(walk.graphs(model))[1:]
    if not inner:
        return 0
    taken = {value.name for node in walk.nodes(model) for value in node.outputs}
    taken |= {value.name for graph in walk.graphs(model) for value in graph.inputs}
    for graph in inner:
        for name, value in tuple(graph.initializers.items()):
            tensor = value.const_value
            fixed = value.is_graph_input() or value.is_graph_output() or name in taken
            if fixed or tensor is None or tensor.nbytes <= edit.LARGEST_SERIALISED:
                continue
            if name not in model.graph.initializers:
                del graph.initializers[name]
                model.graph.initializers.add(value)
                moved += 1
    return moved


@dataclass(frozen=True)
class ShareConstants(InPlacePass):
    """Keep one of several equal initializers of a graph.

    Large ones are told apart by a few bytes first: equal sizes are common, equal weights rare,
    and reading all weights of a large model takes longer than everything else.
    """

    facts: Facts

    def call(self, model: ir.Model) -> Counted:
        """Redirect the readers of every initializer that equals an earlier one."""
        known = self.facts.memory.setdefault(ShareConstants, {})
        keys = known if isinstance(known, dict) else {}
        return counted(model, sum(_share(graph, keys) for graph in walk.graphs(model)))


_Keys = dict[ir.TensorProtocol, tuple[object, ...]]
"""What is known of tensors, which do not change; text has none."""


def _share(graph: ir.Graph, keys: _Keys) -> int:
    seen: dict[tuple[object, ...], list[ir.Value]] = {}
    count = 0
    for value in tuple(graph.initializers.values()):
        tensor = value.const_value
        fixed = value.is_graph_input() or value.is_graph_output()
        if fixed or tensor is None or value.name is None:
            continue
        key = keys.get(tensor)
        if key is None:
            if tensor.dtype == ir.DataType.STRING:
                continue
            key = keys[tensor] = (tensor.dtype, tensor.shape.numpy(), _glimpse(tensor))
        twins = seen.setdefault(key, [])
        twin = next((one for one in twins if _equal(one.const_value, tensor)), None)
        if twin is None:
            twins.append(value)
            continue
        value.replace_all_uses_with(twin)
        del graph.initializers[value.name]
        count += 1
    return count


def _glimpse(tensor: ir.TensorProtocol) -> bytes:
    """Return all bytes of a small tensor, else a digest of the first, middle and last ones."""
    if tensor.nbytes <= 3 * _GLIMPSE_BYTES:
        return tensor.numpy().tobytes()
    flat = _bytes_of(tensor)
    middle = len(flat) // 2
    digest = hashlib.blake2b(digest_size=16)
    for start in (0, middle, max(len(flat) - _GLIMPSE_BYTES, 0)):
        digest.update(flat[start : start + _GLIMPSE_BYTES].tobytes())
    return digest.digest()


def _equal(one: ir.TensorProtocol | None, other: ir.TensorProtocol) -> bool:
    if one is None:
        return False
    pairs = zip(_pieces(_bytes_of(one)), _pieces(_bytes_of(other)), strict=True)
    return all(np.array_equal(left, right) for left, right in pairs)


def _bytes_of(tensor: ir.TensorProtocol) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    array = tensor.numpy()
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _pieces(
    flat: np.ndarray[tuple[int], np.dtype[np.uint8]], size: int = 1 << 22
) -> Iterator[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    return (flat[start : start + size] for start in range(0, len(flat), size))
