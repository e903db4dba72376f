"""How keras2onnx spells BERT: three dimensions throughout, attention by Einsum, Gelu by Erf."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from burnish.core.arrays import Array
from burnish.zoo.spelled.bert import AttentionWeights, NormWeights, Sizes, Weights
from burnish.zoo.spelled.writer import ModelWriter


class KerasStyle:
    """The spelling of Keras's own BERT through keras2onnx."""

    opset = 12
    producer = "keras2onnx-style"
    rank = 3

    def embeddings(self, write: ModelWriter, weights: Weights, sizes: Sizes) -> str:
        """Gather all three; positions come from a range over the sequence."""
        shape = write.op("Shape", "input_ids")
        one = write.weight("one", np.array(1, np.int64))
        zero = write.weight("zero", np.array(0, np.int64))
        length = write.op("Gather", shape, one, axis=0)
        places = write.op("Unsqueeze", write.op("Range", zero, length, one), axes=[0])
        sources = {"word": "input_ids", "position": places, "token_type": "token_type_ids"}
        found = {}
        for name, ids in sources.items():
            table = write.weight(
                f"{name}_embeddings", weights[f"embeddings.{name}_embeddings.weight"]
            )
            found[name] = write.op("Gather", table, write.op("Cast", ids, to=TensorProto.INT32))
        added = write.op("Add", found["word"], found["position"])
        return write.op("Add", added, found["token_type"])

    def mask(self, write: ModelWriter) -> str:
        """Unsqueeze twice, subtract from one, multiply by -10000."""
        row = write.op("Unsqueeze", write.op("Unsqueeze", "attention_mask", axes=[1]), axes=[2])
        row = write.op("Cast", row, to=TensorProto.FLOAT)
        return write.op("Mul", write.op("Sub", write.number(1.0), row), write.number(-10000.0))

    def enter(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Return the embeddings as they are."""
        return x

    def norm(self, write: ModelWriter, x: str, rank: int, weights: NormWeights) -> str:
        """Write (x - m) · (1/√(v + ε)) · γ + β, with the square as a power."""
        axes = [rank - 1]
        apart = write.op("Sub", x, write.op("ReduceMean", x, axes=axes, keepdims=1))
        square = write.op("Pow", apart, write.number(2.0))
        variance = write.op("ReduceMean", square, axes=axes, keepdims=1)
        root = write.op("Sqrt", write.op("Add", variance, write.number(weights.epsilon)))
        normal = write.op("Mul", apart, write.op("Reciprocal", root))
        return write.op("Add", write.op("Mul", normal, weights.gamma), weights.beta)

    def gelu(self, write: ModelWriter, x: str) -> str:
        """Write 0.5·x·(1 + erf(x / √2)), with the root computed in the graph."""
        half = write.op("Mul", write.number(0.5), x)
        inner = write.op("Erf", write.op("Div", x, write.op("Sqrt", write.number(2.0))))
        return write.op("Mul", half, write.op("Add", write.number(1.0), inner))

    def dense(self, write: ModelWriter, x: str, weights: Weights, name: str) -> str:
        """Multiply by a kernel stored input-first."""
        product = write.op("MatMul", x, write.weight(f"{name}/kernel", weights.kernel(name)))
        return write.op("Add", product, write.weight(f"{name}/bias", weights[f"{name}.bias"]))

    def attention(self, write: ModelWriter, x: str, mask: str, part: AttentionWeights) -> str:
        """Multiply by kernels with an axis for the heads, all by Einsum."""
        sizes = part.sizes
        heads = {name: self._heads(write, x, part, name) for name in ("query", "key", "value")}
        query = write.op("Mul", heads["query"], write.number(float(sizes.head) ** -0.5))
        scores = write.op("Einsum", heads["key"], query, equation="aecd,abcd->acbe")
        shares = write.op("Softmax", write.op("Add", scores, mask), axis=3)
        answer = write.op("Einsum", shares, heads["value"], equation="acbe,aecd->abcd")
        return write.op("Reshape", answer, write.whole([0, 0, sizes.hidden]))

    def finish(self, write: ModelWriter, x: str, sizes: Sizes) -> str:
        """Return the hidden states as they are."""
        return x

    def _heads(self, write: ModelWriter, x: str, part: AttentionWeights, name: str) -> str:
        sizes, place = part.sizes, f"{part.name}.{name}"
        kernel: Array = part.weights.kernel(place).reshape(sizes.hidden, sizes.heads, sizes.head)
        bias: Array = part.weights[f"{place}.bias"].reshape(sizes.heads, sizes.head)
        product = write.op(
            "Einsum", x, write.weight(f"{place}/kernel", kernel), equation="abc,cde->abde"
        )
        return write.op("Add", product, write.weight(f"{place}/bias", bias))
