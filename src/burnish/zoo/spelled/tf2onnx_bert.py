"""How tf2onnx spells the BERT of TensorFlow 1: two-dimensional tensors, shapes in int32."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from burnish.zoo.spelled.bert import Part, Sizes, Weights
from burnish.zoo.spelled.writer import Writer


class Tf2OnnxStyle:
    """The spelling of `google-research/bert` through tf2onnx."""

    opset = 13
    producer = "tf2onnx-style"

    def embeddings(self, write: Writer, weights: Weights, sizes: Sizes) -> str:
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
        end = write.op("Unsqueeze", self._size(write, 1), write.whole([0]))
        end = write.op("Cast", end, to=TensorProto.INT64)
        places = write.op("Slice", table, write.whole([0]), end, write.whole([0]))
        places = write.op("Unsqueeze", places, write.whole([0]))
        return write.op("Add", write.op("Add", words, kind), places)

    def mask(self, write: Writer) -> str:
        """Subtract the mask from one, and multiply by -10000."""
        row = write.op("Unsqueeze", "attention_mask", write.whole([1, 2]))
        row = write.op("Cast", write.op("Cast", row, to=TensorProto.INT32), to=TensorProto.FLOAT)
        return write.op("Mul", write.op("Sub", write.number(1.0), row), write.number(-10000.0))

    def norm(self, write: Writer, x: str, names: tuple[str, str], epsilon: float) -> str:
        """Write batch normalisation's form: x·(r·γ) + (β - m·(r·γ))."""
        gamma, beta = names
        mean = write.op("ReduceMean", x, axes=[-1], keepdims=1)
        apart = write.op("Sub", x, mean)
        variance = write.op("ReduceMean", write.op("Mul", apart, apart), axes=[-1], keepdims=1)
        shifted = write.op("Add", variance, write.number(epsilon))
        scale = write.op("Mul", write.op("Reciprocal", write.op("Sqrt", shifted)), gamma)
        moved = write.op("Sub", beta, write.op("Mul", mean, scale))
        return write.op("Add", write.op("Mul", x, scale), moved)

    def gelu(self, write: Writer, x: str) -> str:
        """Write the form with tanh and a cube."""
        cube = write.op("Pow", x, write.number(3.0))
        inner = write.op("Add", x, write.op("Mul", write.number(0.044715), cube))
        inner = write.op("Mul", write.number(float(np.sqrt(2 / np.pi))), inner)
        half = write.op("Mul", write.number(0.5),
                        write.op("Add", write.number(1.0), write.op("Tanh", inner)))  # fmt: skip
        return write.op("Mul", x, half)

    def dense(self, write: Writer, x: str, weights: Weights, name: str) -> str:
        """Multiply by a kernel stored input-first."""
        product = write.op("MatMul", x, write.weight(f"{name}/kernel", weights.kernel(name)))
        return write.op("Add", product, write.weight(f"{name}/bias", weights[f"{name}.bias"]))

    def attention(self, write: Writer, x: str, mask: str, part: Part) -> str:
        """Flatten, multiply, and cut into heads by shapes that the graph computes."""
        sizes = part.sizes
        flat = write.op("Reshape", x, write.whole([-1, sizes.hidden]))
        heads = {
            name: write.op(
                "Transpose",
                write.op(
                    "Reshape",
                    self.dense(write, flat, part.weights, f"{part.name}.{name}"),
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
        return write.op("Reshape", answer, self._shape(write, [sizes.hidden]))

    def finish(self, write: Writer, x: str, sizes: Sizes) -> str:
        """Reshape to batch, sequence and hidden once more, as the original does."""
        flat = write.op("Reshape", x, write.whole([-1, sizes.hidden]))
        return write.op("Reshape", flat, self._shape(write, [sizes.hidden]))

    def _size(self, write: Writer, axis: int) -> str:
        """Return batch or sequence as TensorFlow's strided slice gives it: a scalar in int32."""
        shape = write.op("Cast", write.op("Shape", "input_ids"), to=TensorProto.INT32)
        cut = write.op(
            "Slice", shape, write.whole([axis]), write.whole([axis + 1]), write.whole([0])
        )
        return write.op("Squeeze", cut, write.whole([0]))

    def _shape(self, write: Writer, rest: list[int]) -> str:
        """Return [batch, sequence, *rest], packed from int32 scalars and cast for Reshape."""
        axes = [write.op("Unsqueeze", self._size(write, axis), write.whole([0])) for axis in (0, 1)]
        packed = write.op("Concat", *axes, write.whole(rest, np.int32), axis=0)
        return write.op("Cast", packed, to=TensorProto.INT64)
