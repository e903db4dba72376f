"""Weights and activations in 8 bits with scales that are known beforehand, as Q and DQ pairs.

    MatMul(x, W) (+ b)  -->  MatMul(DQ(Q(x)), DQ(Wi)) (+ b)
                   or   -->  MatMulIntegerToFloat(Q(x), Wi, …, b), which is what ONNX Runtime has
                             a kernel for on CPUs, and does not always make of the former
    Conv(x, W, b)       -->  DQ(Q(Conv(DQ(Q(x)), DQ(Wi), DQ(bi))))

Only what is multiplied by constants is in 8 bits: norms, softmax, activations and residual sums
stay in f32, where their errors would add up. A convolution gives 8 bits too, for its kernel asks
for it; behind a Relu, if that is all that reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from burnish.core.arrays import Array
from burnish.core.errors import ModelError
from burnish.infer.constants import constant_tensor
from burnish.infer.walk import is_standard
from burnish.rewrite import edit, opsets
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.precision.int8_dynamic import CONTRIB, Quantised, become
from burnish.rewrite.precision.keep import ASKED, Asked
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.rewrite.precision.report import ChangedNode, KeptNode
from burnish.rewrite.precision.thresholds import Span
from burnish.rewrite.precision.weights import Bits, as_integers, flaw

_PER_CHANNEL = 13
"""The first opset whose DequantizeLinear has an axis."""
_LEVELS = 255
_UNSEEN = "no finite numbers were seen there"
Scale = NDArray[np.float32]
_LARGEST: Mapping[int, int] = {7: 64, 8: 127}


@dataclass(frozen=True, slots=True)
class _Site:
    """A node that multiplies by constant weights."""

    node: ir.Node
    axis: int
    """Of the weights: that of the results' channels."""
    gives: ir.Value | None
    """What must be in 8 bits too; None: nothing."""
    product: WeightedProduct | None = None


def calibrated_values(model: ir.Model, keep: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the values whose spans must be known to quantise a model."""
    found = _sites(model, Asked(model, keep))[0]
    return tuple(dict.fromkeys(name for site in found for name in _needed(site)))


def in_int8_static(
    model: ir.Model,
    spans: Mapping[str, Span],
    *,
    bits: Bits = 8,
    pairs_only: bool = False,
    keep: Collection[str] = (),
) -> Quantised:
    """Return a copy whose products and convolutions are in 8 bits, within these spans.

    With `pairs_only`, all of it is written as Q and DQ, which engines other than CPUs' ask for.
    """
    opset = opsets.declared(model)
    if opset < _PER_CHANNEL:
        raise ModelError(
            f"scales per channel need opset {_PER_CHANNEL}, the model declares {opset}",
            hint="leave --calibrate away: -p int8 without it needs no such operators",
        )
    copy = model.clone()
    found, kept = _sites(copy, Asked(copy, keep))
    sites = [site for site in found if set(_needed(site)) <= set(spans)]
    unseen = (site.node for site in found if site not in sites)
    kept += tuple(KeptNode(node.name or "", node.op_type, _UNSEEN) for node in unseen)
    work = _Pairing(copy, spans, bits)
    changed: list[ChangedNode] = []
    names = [(site.node.name or "", site.node.op_type) for site in sites]
    for site in sites:
        direct = site.product is not None and not pairs_only
        into = work.multiply(site) if direct else work.quantise(site)
        changed.append(ChangedNode(*names[len(changed)], into))
    work.finish()
    return Quantised(copy, tuple(changed), kept)


def _needed(site: _Site) -> list[str]:
    values = (site.node.inputs[0], site.gives)
    return [value.name or "" for value in values if value is not None]


def _sites(model: ir.Model, asked: Asked) -> tuple[list[_Site], tuple[KeptNode, ...]]:
    found: list[_Site] = []
    kept: list[KeptNode] = []
    for node in model.graph:
        place: _Site | str | None = None
        if is_standard(node, "MatMul", "Gemm"):
            known = product_at(node)
            if isinstance(known, WeightedProduct):
                place = _Site(node, int(not known.transposed), None, known)
            else:
                place = known
        elif is_standard(node, "Conv"):
            place = _convolution(node)
        if place is None:
            continue
        if node in asked or isinstance(place, str):
            reason = ASKED if node in asked else str(place)
            kept.append(KeptNode(node.name or "", node.op_type, reason))
        else:
            found.append(place)
    return found, tuple(kept)


def _convolution(node: ir.Node) -> _Site | str | None:
    weights = node.inputs[1]
    tensor = None if weights is None else constant_tensor(weights)
    if tensor is None:
        return None
    problem = flaw(weights, rank=len(tensor.shape))
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None and constant_tensor(bias) is None:
        problem = problem or "what it adds is no constant"
    if problem is not None:
        return problem
    result = node.outputs[0]
    uses = tuple(result.uses())
    relu = uses[0][0] if len(uses) == 1 and not result.is_graph_output() else None
    behind = relu is not None and is_standard(relu, "Relu") and relu.graph is node.graph
    return _Site(node, 0, relu.outputs[0] if behind and relu is not None else result)


class _Pairing:
    """A model that gets its pairs of Q and DQ."""

    def __init__(self, model: ir.Model, spans: Mapping[str, Span], bits: Bits) -> None:
        self._model = model
        self._spans = spans
        self._largest = _LARGEST[bits]
        self._pairs: dict[ir.Value, ir.Value] = {}
        self._origins: dict[ir.Value, ir.Value] = {}
        self._weights: dict[ir.Value, tuple[ir.Value, Scale]] = {}
        self._matrices: dict[tuple[ir.Value, bool, float], tuple[ir.Value, ir.Value]] = {}
        self._bits = bits
        self._number = 0

    def quantise(self, site: _Site) -> str:
        """Put pairs at what a node reads, and at what it gives if it must; say what it is then."""
        node = site.node
        given, weights = node.inputs[0], node.inputs[1]
        assert given is not None
        assert weights is not None
        source = self._origins.get(given, given)
        step = self._step(source)[0]
        scale = self._weight(node, weights, site.axis)
        self._bias(node, step, scale)
        node.replace_input_with(0, self._pair(source))
        if site.gives is not None:
            self._pair(site.gives)
        return f"{node.op_type} between Q and DQ"

    def multiply(self, site: _Site) -> str:
        """Make a product that of the integers themselves; say what it is then."""
        place = site.product
        assert place is not None
        source = self._origins.get(place.activation, place.activation)
        wide = self._pair(source).producer()
        assert wide is not None
        small, step, zero = wide.inputs
        key = (place.weights, place.transposed, place.factor)
        if key not in self._matrices:
            found = as_integers(place.weights, axis=1, bits=self._bits, transposed=place.transposed)
            stem = place.weights.name or "w"
            scale = self._constant(f"{stem}/scale", found.scale * np.float32(place.factor))
            self._matrices[key] = (self._constant(f"{stem}/int8", found.integers), scale)
        integers, scales = self._matrices[key]
        operands = [small, integers, step, scales, zero, None, place.bias]
        become(place.absorb(), "MatMulIntegerToFloat", operands, {})
        self._model.opset_imports.setdefault(CONTRIB, 1)
        return "MatMulIntegerToFloat"

    def finish(self) -> None:
        """Remove weights that nobody reads any more, and give what is new its name."""
        graph = self._model.graph
        edit.remove([w for v in self._pairs.values() if (w := v.producer()) and edit.is_dead(w)])
        for value in {*self._weights, *(value for value, _, _ in self._matrices)}:
            bound = value.is_graph_input() or value.is_graph_output()
            if value.is_initializer() and not value.uses() and not bound:
                graph.initializers.pop(value.name or "", None)
        FixNames()(self._model)

    def _step(self, value: ir.Value) -> tuple[np.float32, np.uint8]:
        least, largest = self._spans[value.name or ""]
        step = np.float32((largest - least) / _LEVELS)
        return step, np.uint8(np.clip(np.rint(-least / step), 0, _LEVELS))

    def _pair(self, value: ir.Value) -> ir.Value:
        """Return a value as 8 bits hold it; all that reads it reads that, once it is made."""
        if value not in self._pairs:
            step, zero = self._step(value)
            stem, graph = value.name or "x", self._model.graph
            operands = self._constant(f"{stem}/step", step), self._constant(f"{stem}/zero", zero)
            small = ir.node("QuantizeLinear", [value, *operands])
            wide = ir.node("DequantizeLinear", [small.outputs[0], *operands])
            for made in (small, wide):
                made.name = made.outputs[0].name = f"{stem}/{made.op_type}"
                made.outputs[0].shape = value.shape
            small.outputs[0].type = ir.TensorType(ir.DataType.UINT8)
            wide.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
            producer = value.producer()
            if producer is None:
                graph.insert_before(graph[0], [small, wide])
            else:
                graph.insert_after(producer, [small, wide])
            self._pairs[value] = wide.outputs[0]
            self._origins[wide.outputs[0]] = value
            if producer is not None and _is_convolved(producer):
                self._lead(value, small, wide)
        return self._pairs[value]

    def _lead(self, value: ir.Value, small: ir.Node, wide: ir.Node) -> None:
        """Make all readers of what a convolution gives read it as 8 bits hold it."""
        for reader, position in tuple(value.uses()):
            if reader is not small:
                reader.replace_input_with(position, wide.outputs[0])
        if value.is_graph_output():
            name, graph = value.name, self._model.graph
            graph.outputs[list(graph.outputs).index(value)] = wide.outputs[0]
            value.name, wide.outputs[0].name = f"{name}/exact", name

    def _weight(self, node: ir.Node, weights: ir.Value, axis: int) -> Scale:
        """Store the weights as integers; return the scale of each channel."""
        if weights not in self._weights:
            tensor = constant_tensor(weights)
            assert tensor is not None
            array = tensor.numpy().astype(np.float32, copy=False)
            others = tuple(place for place in range(array.ndim) if place != axis)
            top = np.abs(array).max(axis=others)
            scale = np.where(top > 0, top / self._largest, 1.0).astype(np.float32)
            along = scale.reshape([-1 if place == axis else 1 for place in range(array.ndim)])
            rounded = np.clip(np.rint(array / along), -self._largest, self._largest)
            stem = weights.name or "w"
            zero = self._constant(f"{stem}/zero", np.zeros(scale.shape, np.int8))
            made = self._dequantized(node, stem, rounded.astype(np.int8), scale, zero, axis)
            self._weights[weights] = (made, scale)
        made, found = self._weights[weights]
        node.replace_input_with(1, made)
        return found

    def _bias(self, node: ir.Node, step: np.float32, scale: Scale) -> None:
        """Store what is added to sums as the integers that they are, where kernels ask for it."""
        plain = node.attributes.get_float("alpha", 1.0) == 1.0
        takes = is_standard(node, "Conv", "Gemm") and plain and len(node.inputs) > 2
        bias = node.inputs[2] if takes else None
        tensor = None if bias is None else constant_tensor(bias)
        if bias is None or tensor is None:
            return
        steps = (scale * step).astype(np.float32)
        whole = np.rint(tensor.numpy().astype(np.float64) / steps)
        integers = np.clip(whole, -(2**31), 2**31 - 1).astype(np.int32)
        stem = bias.name or "b"
        zero = self._constant(f"{stem}/zero", np.zeros(steps.shape, np.int32))
        made = self._dequantized(node, stem, integers, steps, zero, 0)
        node.replace_input_with(2, made)

    def _dequantized(
        self, before: ir.Node, stem: str, integers: Array, scale: Array, zero: ir.Value, axis: int
    ) -> ir.Value:
        operands = [
            self._constant(f"{stem}/integers", integers), self._constant(f"{stem}/scale", scale),
            zero,
        ]  # fmt: skip
        made = ir.node("DequantizeLinear", operands, attributes={"axis": axis})
        self._number += 1
        made.name = made.outputs[0].name = f"{stem}/wide/{self._number}"
        made.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
        made.outputs[0].shape = ir.Shape(integers.shape)
        assert before.graph is not None
        before.graph.insert_before(before.graph[0], made)
        return made.outputs[0]

    def _constant(self, name: str, content: Array | np.generic | ir.TensorProtocol) -> ir.Value:
        self._number += 1
        held = np.asarray(content) if isinstance(content, (np.ndarray, np.generic)) else content
        return edit.add_initializer(self._model.graph, f"{name}/{self._number}", held)


def _is_convolved(node: ir.Node) -> bool:
    """Return whether a node is a convolution, or the Relu behind one."""
    if is_standard(node, "Conv"):
        return True
    source = node.inputs[0].producer() if is_standard(node, "Relu") and node.inputs[0] else None
    return source is not None and is_standard(source, "Conv")
