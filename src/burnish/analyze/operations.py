"""How many operations each operator spends, from the shapes around it.

An addition, a product, a comparison count as one operation; a product with accumulation as two;
exp, erf, tanh and their like as ten, about what a vector library spends on one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from burnish.store.graph import Attribute

Shape = tuple[int, ...]
Count = Callable[["Operands"], float]


@dataclass(frozen=True, slots=True)
class Operands:
    """A node's attributes and the shapes around it; inputs that are left out have none."""

    inputs: tuple[Shape | None, ...]
    outputs: tuple[Shape, ...]
    attributes: Mapping[str, Attribute]

    def input(self, index: int) -> Shape:
        """Return the shape of an input that the operator always has."""
        shape = self.inputs[index]
        assert shape is not None
        return shape

    @property
    def out(self) -> Shape:
        """Return the shape of the first output."""
        return self.outputs[0]

    def ints(self, name: str) -> tuple[int, ...]:
        """Return a list attribute; empty where it is not given."""
        value = self.attributes.get(name, ())
        return tuple(int(v) for v in value) if isinstance(value, tuple) else ()

    def number(self, name: str, default: int) -> int:
        """Return an integer attribute."""
        value = self.attributes.get(name, default)
        return int(value) if isinstance(value, (int, float)) else default


def elements(shape: Shape) -> int:
    """Return how many elements a shape has."""
    return math.prod(shape)


def each_output(operations: float) -> Count:
    """Return the count of an operator that spends so much on every element it gives."""
    return lambda at: operations * elements(at.out)


def each_input(operations: float) -> Count:
    """Return the count of an operator that spends so much on every element it reads."""
    return lambda at: operations * elements(at.input(0))


def _product(at: Operands) -> float:
    depth = at.input(0)[-2 if at.number("transA", 0) and len(at.input(0)) > 1 else -1]
    return 2.0 * elements(at.out) * depth


def _gemm(at: Operands) -> float:
    depth = at.input(0)[0 if at.number("transA", 0) else 1]
    bias = len(at.inputs) > 2 and at.inputs[2] is not None
    return (2.0 * depth + bias) * elements(at.out)


def _convolution(weight: int) -> Count:
    """Return the count of a convolution whose weights are the input number `weight`."""

    def count(at: Operands) -> float:
        bias = len(at.inputs) > weight + 1 and weight == 1 and at.inputs[2] is not None
        return (2.0 * elements(at.input(weight)[1:]) + bias) * elements(at.out)

    return count


def _blocked_convolution(at: Operands) -> float:
    """Return the count of ONNX Runtime's own layout, whose weights are padded to whole blocks."""
    return 2.0 * elements(at.input(1)[1:]) * elements(at.out)


def _transposed_convolution(at: Operands) -> float:
    return 2.0 * elements(at.input(1)[1:]) * elements(at.input(0))


def _pool(at: Operands) -> float:
    return float(elements(at.ints("kernel_shape")) * elements(at.out))


def _einsum(at: Operands) -> float:
    """Return two operations for every point of the loop nest that the equation describes."""
    equation = str(at.attributes.get("equation", ""))
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    batch = 1
    for term, shape in zip(terms, at.inputs, strict=False):
        letters, given = term.replace("...", "."), shape or ()
        before, dots, behind = letters.partition(".")
        sizes.update(zip(before, given, strict=False))
        sizes.update(zip(reversed(behind), reversed(given), strict=False))
        if dots:
            inner = given[len(before) : len(given) - len(behind)]
            batch = max(batch, math.prod(inner))
    return float(max(1, 2 * (len(terms) - 1)) * math.prod(sizes.values()) * batch)


def _recurrent(gates: int) -> Count:
    def count(at: Operands) -> float:
        steps, batch, width = at.input(0)
        directions, _, hidden = at.input(2)
        return 2.0 * steps * batch * directions * gates * hidden * (width + hidden)

    return count


def _attention_core(at: Operands, query: Shape, keys: int, values_width: int) -> float:
    """Return scores, softmax and weighted sum for query (batch, length, width)."""
    batch, length, width = query
    heads = at.number("num_heads", at.number("q_num_heads", 1))
    return (
        2.0 * batch * length * keys * (width + values_width) + 14.0 * batch * heads * length * keys
    )


def _multi_head_attention(at: Operands) -> float:
    query, key = at.input(0), at.input(1)
    past = at.inputs[6] if len(at.inputs) > 6 else None
    keys = key[1] + (past[2] if past and len(past) == 4 else 0)
    return _attention_core(at, query[:3], keys, at.out[-1])


def _attention(at: Operands) -> float:
    """Return ONNX Runtime's Attention: projections of one input, then the core."""
    batch, length, width = at.input(0)
    hidden = at.input(1)[1] // 3
    projections = 2.0 * batch * length * width * at.input(1)[1]
    return projections + _attention_core(at, (batch, length, hidden), length, hidden)


def _onnx_attention(at: Operands) -> float:
    """Return ONNX's own Attention, with heads apart (4 dimensions) or side by side (3)."""
    query, key, value = at.input(0), at.input(1), at.input(2)
    if len(query) == 3:
        return _attention_core(at, query, key[1], at.out[-1])
    batch, heads, length, size = query
    pairs = batch * heads * length * key[2]
    return 2.0 * pairs * (size + value[3]) + 14.0 * pairs


def _nothing(_: Operands) -> float:
    return 0.0


def _table(
    rows: Iterable[tuple[str, Count]],
) -> Mapping[str, Count]:
    return MappingProxyType({name: count for names, count in rows for name in names.split()})


COUNTS = _table((
    ("""MatMul FusedMatMul TransposeMatMul MatMulInteger QLinearMatMul DynamicQuantizeMatMul
     MatMulIntegerToFloat MatMulNBits""", _product),
    ("Gemm FusedGemm QGemm", _gemm),
    ("Conv FusedConv ConvInteger NhwcFusedConv", _convolution(1)),
    ("QLinearConv", _convolution(3)),
    ("ConvTranspose", _transposed_convolution),
    ("Einsum", _einsum),
    ("LSTM", _recurrent(4)), ("GRU", _recurrent(3)), ("RNN", _recurrent(1)),
    ("MultiHeadAttention GroupQueryAttention", _multi_head_attention),
    ("Attention", _onnx_attention),
    ("""Add Sub Mul Div Neg Abs Min Max Relu Not And Or Xor Less Greater Equal LessOrEqual
     GreaterOrEqual Ceil Floor Round Sign Where Mod BitShift IsNaN IsInf Reciprocal
     QLinearAdd QLinearMul BitwiseAnd BitwiseOr ThresholdedRelu""", each_output(1)),
    ("Clip LeakyRelu PRelu Sum Mean BatchNormalization HardSigmoid Sqrt", each_output(2)),
    ("HardSwish QuantizeLinear DequantizeLinear", each_output(3)),
    ("""Exp Log Erf Tanh Sigmoid Sin Cos Tan Pow Softplus Softsign Elu Selu Celu Asin Acos Atan Sinh
     Cosh Asinh Acosh Atanh""", each_output(10)),
    ("Gelu FastGelu QuickGelu Mish Swish", each_output(14)),
    ("BiasGelu BiasSplitGelu", each_output(15)),
    ("Softmax LogSoftmax QLinearSoftmax", each_output(14)),
    ("LayerNormalization InstanceNormalization GroupNormalization GroupNorm", each_output(8)),
    ("MeanVarianceNormalization", each_output(8)),
    ("RMSNormalization SimplifiedLayerNormalization LpNormalization", each_output(5)),
    ("SkipLayerNormalization", each_output(9)),
    ("SkipSimplifiedLayerNormalization", each_output(6)),
    ("LRN", each_output(12)),
    ("""ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ArgMax ArgMin CumSum GlobalAveragePool
     GlobalMaxPool ReduceL1""", each_input(1)),
    ("ReduceL2 ReduceSumSquare DynamicQuantizeLinear", each_input(2)),
    ("ReduceLogSum", each_input(2)), ("ReduceLogSumExp", each_input(12)),
    ("AveragePool MaxPool LpPool", _pool),
    ("RotaryEmbedding", each_output(3)),
    ("Resize Upsample GridSample", each_output(8)),
    ("TopK", each_input(4)),
    ("""Transpose Concat Split Slice Pad Gather GatherElements GatherND ScatterND ScatterElements
     Expand Tile Cast CastLike DepthToSpace SpaceToDepth OneHot Range ConstantOfShape Trilu
     EyeLike ReverseSequence Compress NonZero ReorderInput ReorderOutput Memcpy QLinearConcat
     MemcpyFromHost MemcpyToHost""", _nothing),
    ("Reshape Squeeze Unsqueeze Flatten Identity Shape Size Constant Dropout", _nothing),
))  # fmt: skip
"""Operator → how to count its arithmetic; the same in every domain, but for those below."""

_CONTRIB = _table((("Attention", _attention),))
_BLOCKED = _table((("Conv", _blocked_convolution),))
_IN_DOMAIN = MappingProxyType({"com.microsoft": _CONTRIB, "com.microsoft.nchwc": _BLOCKED})


def count_of(domain: str, op_type: str) -> Count | None:
    """Return how to count an operator's arithmetic; None: it is not in the table."""
    return _IN_DOMAIN.get(domain, COUNTS).get(op_type) or COUNTS.get(op_type)
