"""How tf2onnx spells the BERT of TensorFlow 1: two-dimensional tensors, shapes in int32.

Compared with what tf2onnx 1.17 writes for the same operations: benchmarks/tf_bert.py.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from burnish.zoo.spelled.bert import AttentionWeights, NormWeights, Sizes, Weights
from burnish.zoo.spelled.writer import ModelWriter


class Tf2OnnxStyle:
    """The spelling of `google-research/bert` through tf2onnx."""

    opset = 13
    producer = "tf2onnx-style"
    rank = 2

    def embeddings(self, write: ModelWriter, weights: Weights, sizes: Sizes) -> str:
        """Gather words, take token types by a one-hot product, and slice positions."""
        flat = write.op("Reshape", "input_ids", write.whole([-1]))
        table = write.weight("bert/embeddings/word", weights["embeddings.word_embeddings.weight"])
        words = write.op("Gather", table, flat)
        words = write.op("Reshape", words, self._shape(write, [sizes.hidden]))
        kinds = weights["embeddings.token_type_embeddings.weight"]
        flat = write.op("Reshape", "token_type_ids", write.whole([-1]))
        values = write.weight("one_hot/values", np.array([0.0, 1.0], np.float32))
        one_hot = write.op("OneHot", flat, write.whole([kinds.shape[0]]), values)
        kind = write.op("MatMul", one_hot, write.weight("bert/embeddings/token_type", kinds))
        kind = write.op("Reshape", kind, self._shape(write, [sizes.hidden]))
        table = write.weight(
            "bert/embeddings/position", weights["embeddings.position_embeddings.weight"]
        )
        places = write.op("Slice", table, write.whole([0, 0], np.int32), self._ends(write))
        shape = write.op("Concat", write.whole([1], np.int32), self._size(write, 1),
                         write.whole([sizes.hidden], np.int32), axis=0)  # fmt: skip
        places = write.op("Reshape", places, write.op("Cast", shape, to=TensorProto.INT64))
        return write.op("Add", write.op("Add", words, kind), places)

    def enter(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Merge batch and sequence, once for all layers."""
        return write.op("Reshape", x, write.whole([-1, sizes.hidden]))

    def mask(self, write: ModelWriter) -> str:
        """Spread the mask over all rows by a product with ones, and multiply by -10000."""
        one = write.whole([1], np.int32)
        batch, length = self._size(write, 0), self._size(write, 1)
        shape = write.op("Concat", batch, one, length, axis=0)
        row = write.op("Reshape", "attention_mask", write.op("Cast", shape, to=TensorProto.INT64))
        row = write.op("Cast", write.op("Cast", row, to=TensorProto.INT32), to=TensorProto.FLOAT)
        shape = write.op("Concat", batch, length, one, axis=0)
        shape = write.op("Cast", shape, to=TensorProto.INT64)
        ones = write.op("Expand", write.number(1.0), shape)
        square = write.op("Unsqueeze", write.op("Mul", ones, row), write.whole([1]))
        return write.op("Mul", write.op("Sub", write.number(1.0), square), write.number(-10000.0))

    def norm(self, write: ModelWriter, x: str, rank: int, weights: NormWeights) -> str:
        """Write batch normalisation's form: x·(r·γ) + (β - m·(r·γ)); three axes are pooled."""
        mean = self._mean(write, x, rank)
        apart = write.op("Sub", x, mean)
        variance = self._mean(write, write.op("Mul", apart, apart), rank)
        shifted = write.op("Add", variance, write.number(weights.epsilon))
        scale = write.op("Mul", write.op("Reciprocal", write.op("Sqrt", shifted)), weights.gamma)
        moved = write.op("Sub", weights.beta, write.op("Mul", mean, scale))
        return write.op("Add", write.op("Mul", x, scale), moved)

    def gelu(self, write: ModelWriter, x: str) -> str:
        """Write the form with tanh and a cube."""
        cube = write.op("Pow", x, write.number(3.0))
        inner = write.op("Add", x, write.op("Mul", write.number(0.044715), cube))
        inner = write.op("Mul", write.number(float(np.sqrt(2 / np.pi))), inner)
        half = write.op("Mul", write.number(0.5),
                        write.op("Add", write.number(1.0), write.op("Tanh", inner)))  # fmt: skip
        return write.op("Mul", x, half)

    def dense(self, write: ModelWriter, x: str, weights: Weights, name: str) -> str:
        """Multiply by a kernel stored input-first."""
        product = write.op("MatMul", x, write.weight(f"{name}/kernel", weights.kernel(name)))
        return write.op("Add", product, write.weight(f"{name}/bias", weights[f"{name}.bias"]))

    def attention(self, write: ModelWriter, x: str, mask: str, part: AttentionWeights) -> str:
        """Multiply, and cut into heads by shapes that the graph computes."""
        sizes = part.sizes
        heads = {
            name: write.op(
                "Transpose",
                write.op(
                    "Reshape",
                    self.dense(write, x, part.weights, f"{part.name}.{name}"),
                    self._shape(write, [sizes.heads, sizes.head]),
                ),
                perm=perm,
            )
            for name, perm in (
                ("query", [0, 2, 1, 3]),
                ("key", [0, 2, 3, 1]),
                ("value", [0, 2, 1, 3]),
            )
        }
        scores = write.op("MatMul", heads["query"], heads["key"])
        scores = write.op("Mul", scores, write.number(float(sizes.head) ** -0.5))
        shares = write.op("Softmax", write.op("Add", scores, mask), axis=-1)
        answer = write.op("MatMul", shares, heads["value"])
        answer = write.op("Transpose", answer, perm=[0, 2, 1, 3])
        return write.op("Reshape", answer, self._rows(write, sizes.hidden))

    def finish(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Reshape to batch, sequence and hidden."""
        return write.op("Reshape", x, self._shape(write, [sizes.hidden]))

    def _mean(self, write: ModelWriter, x: str, rank: int) -> str:
        if rank == 3:
            return write.op("GlobalAveragePool", x)
        return write.op("ReduceMean", x, axes=[rank - 1], keepdims=1)

    def _size(self, write: ModelWriter, axis: int) -> str:
        """Return batch or sequence as one element in int32."""
        shape = write.op("Cast", write.op("Shape", "input_ids"), to=TensorProto.INT32)
        return write.op(
            "Slice", shape, write.whole([axis]), write.whole([axis + 1]), write.whole([0])
        )

    def _shape(self, write: ModelWriter, rest: list[int]) -> str:
        """Return [batch, sequence, *rest], packed in int32 and cast for Reshape."""
        axes = [self._size(write, axis) for axis in (0, 1)]
        packed = write.op("Concat", *axes, write.whole(rest, np.int32), axis=0)
        return write.op("Cast", packed, to=TensorProto.INT64)

    def _rows(self, write: ModelWriter, hidden: int) -> str:
        """Return [batch · sequence, hidden], multiplied as scalars in int32."""
        first = write.whole([0])
        batch, length = (write.op("Squeeze", self._size(write, axis), first) for axis in (0, 1))
        rows = write.op("Unsqueeze", write.op("Mul", batch, length), first)
        packed = write.op("Concat", rows, write.whole([hidden], np.int32), axis=0)
        return write.op("Cast", packed, to=TensorProto.INT64)

    def _ends(self, write: ModelWriter) -> str:
        """Return where a slice of [sequence, all] ends: -1 stands for all, and becomes large."""
        wanted = write.op("Concat", self._size(write, 1), write.whole([-1], np.int32), axis=0)
        is_all = write.op("Equal", write.whole([-1], np.int32), wanted)
        is_all = write.op("Cast", is_all, to=TensorProto.INT32)
        far = write.op("Mul", write.whole([2**31 - 1], np.int32), is_all)
        return write.op("Add", wanted, far)
