"""Export a small BERT from TensorFlow with tf2onnx, and compare the file with TensorFlow.

Two spellings are written: `google`, with the operations of google-research/bert, and `keras`, with
Keras's own layers. Each is exported, run by ONNX Runtime with nothing optimised at two shapes with
padding, compared with TensorFlow, and stored with what TensorFlow gave as `test_data_set_0`, `_1`.

TensorFlow must not share an environment with Burnish; give it its own:

    python3 -m venv /tmp/tfvenv
    /tmp/tfvenv/bin/pip install tensorflow-cpu tf2onnx onnxruntime
    /tmp/tfvenv/bin/python benchmarks/tf_bert.py models
    burnish optimize models/tf_bert_google/tf2onnx/tf_bert_google_tf2onnx.onnx -o out

What it writes is kept in tests/rewrite/tensorflow, so that rules are tried on it without
TensorFlow. Without TensorFlow the script says so and ends with success. It ends with failure if
ONNX Runtime and TensorFlow differ.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

NEEDED = ("tensorflow", "tf2onnx", "onnxruntime", "onnx")
OPSET = 17
VOCABULARY, POSITIONS, KINDS = 40, 24, 2
HIDDEN, HEADS, INNER, LAYERS = 16, 2, 32, 2
HEAD = HIDDEN // HEADS
EPSILON = 1e-12
SHAPES = ((2, 12), (3, 20))
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUTS = ("last_hidden_state", "pooler_output")
LIMIT = 1e-4
"""Outputs may differ by this share of their greatest value."""

Tensor = Any
"""Of TensorFlow, which may not be there."""
Proto = Any
Network = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]


class Answer(NamedTuple):
    """Inputs, and what TensorFlow gives for them."""

    inputs: Mapping[str, Tensor]
    outputs: Mapping[str, Tensor]


def main() -> None:
    """Export both spellings, and print how far they are from TensorFlow."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where models are stored")
    folder = parser.parse_args().folder
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed; see the top of {__file__}")
        return
    print("  ".join(versions()))
    print(f"{'spelling':<10}{'nodes':>7}{'max rel':>10}")
    worst = 0.0
    for name, build in (("google", lambda: GoogleBert().network), ("keras", keras_bert)):
        nodes, error = export(name, build(), folder)
        worst = max(worst, error)
        print(f"{name:<10}{nodes:>7}{error:>10.1e}", flush=True)
    if not worst <= LIMIT:
        sys.exit(f"ONNX Runtime and TensorFlow differ by more than {LIMIT}")


def versions() -> list[str]:
    """Return what takes part, with versions."""
    from importlib.metadata import version

    import tensorflow as tf

    names = ("keras", "tf2onnx", "onnx", "onnxruntime")
    return [f"tensorflow {tf.__version__}", *(f"{name} {version(name)}" for name in names)]


def export(name: str, network: Network, folder: Path) -> tuple[int, float]:
    """Store a network as ONNX; return its nodes and its greatest relative error."""
    import onnx
    import tensorflow as tf
    import tf2onnx

    signature = [tf.TensorSpec([None, None], tf.int32, name=name) for name in INPUTS]
    traced = tf.function(network, input_signature=signature)
    model, _ = tf2onnx.convert.from_function(traced, input_signature=signature, opset=OPSET)
    for value, output in zip(model.graph.output, OUTPUTS, strict=True):
        rename(model.graph, value.name, output)
    name_axes(model.graph)
    onnx.checker.check_model(model, full_check=True)
    answers = [answer(traced, batch, length) for batch, length in SHAPES]
    place = folder / f"tf_bert_{name}" / "tf2onnx"
    place.mkdir(parents=True, exist_ok=True)
    onnx.save(model, place / f"tf_bert_{name}_tf2onnx.onnx")
    for index, known in enumerate(answers):
        store(place / f"test_data_set_{index}", known)
    return len(model.graph.node), max(error(model, known) for known in answers)


def rename(graph: Proto, old: str, new: str) -> None:
    """Give a value of a graph another name."""
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new if name == old else name for name in names]
    for value in (*graph.output, *graph.value_info):
        value.name = new if value.name == old else value.name


def name_axes(graph: Proto) -> None:
    """Say that all inputs have the same batch and length, of which tf2onnx keeps no note."""
    for value in graph.input:
        for dim, name in zip(value.type.tensor_type.shape.dim, ("batch", "length"), strict=True):
            dim.dim_param = name


def answer(network: Network, batch: int, length: int) -> Answer:
    """Return what TensorFlow gives for random tokens, of which each row has fewer than the last."""
    chance = np.random.default_rng(length)
    mask = (np.arange(length) < (length - 3 * np.arange(batch))[:, None]).astype(np.int32)
    ids = chance.integers(0, VOCABULARY, (batch, length), dtype=np.int32)
    kinds = chance.integers(0, KINDS, (batch, length), dtype=np.int32)
    inputs = dict(zip(INPUTS, (ids, mask, kinds), strict=True))
    outputs = [output.numpy() for output in network(ids, mask, kinds)]
    return Answer(inputs, dict(zip(OUTPUTS, outputs, strict=True)))


def store(folder: Path, known: Answer) -> None:
    """Write inputs and outputs as ONNX tensors."""
    from onnx import numpy_helper

    folder.mkdir(exist_ok=True)
    for role, arrays in (("input", known.inputs), ("output", known.outputs)):
        for index, (name, array) in enumerate(arrays.items()):
            tensor = numpy_helper.from_array(array, name)
            (folder / f"{role}_{index}.pb").write_bytes(tensor.SerializeToString())


def error(model: Proto, known: Answer) -> float:
    """Return how far ONNX Runtime is from TensorFlow, as a share of the greatest value."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    given = session.run(list(known.outputs), dict(known.inputs))
    return max(
        float(np.abs(ours - theirs).max() / np.abs(theirs).max())
        for ours, theirs in zip(given, known.outputs.values(), strict=True)
    )


class Variables:
    """Seeded weights, made when first asked for: none is zero or one, so that a lost one shows."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(0)
        self._known: dict[str, Tensor] = {}

    def __call__(self, name: str, *shape: int, around: float = 0.0) -> Tensor:
        """Return the variable of a name, of this shape."""
        import tensorflow as tf

        if name not in self._known:
            spread = shape[0] ** -0.5 if len(shape) > 1 and "embeddings" not in name else 0.3
            array = self._chance.normal(around, spread, shape).astype(np.float32)
            self._known[name] = tf.Variable(array, name=name.replace("/", "_"))
        return self._known[name]


class GoogleBert:
    """BERT with the operations that google-research/bert uses, in its order."""

    def __init__(self) -> None:
        import tensorflow as tf

        self._tf = tf
        self._variables = Variables()

    def network(self, ids: Tensor, mask: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states and the pooled first one."""
        tf = self._tf
        batch, length = self._sizes(ids)
        row = tf.cast(tf.reshape(mask, [batch, 1, length]), tf.float32)
        square = tf.ones([batch, length, 1]) * row
        x = tf.reshape(self._embeddings(ids, kinds), [-1, HIDDEN])
        for index in range(LAYERS):
            x = self._layer(x, square, f"layer_{index}")
        hidden = tf.reshape(x, [batch, length, HIDDEN])
        first = tf.squeeze(hidden[:, 0:1, :], axis=1)
        return hidden, tf.tanh(self._dense(first, "pooler", HIDDEN))

    def _embeddings(self, ids: Tensor, kinds: Tensor) -> Tensor:
        tf, (batch, length) = self._tf, self._sizes(ids)
        table = self._variables("embeddings/word", VOCABULARY, HIDDEN)
        words = tf.reshape(tf.gather(table, tf.reshape(ids, [-1])), [batch, length, HIDDEN])
        one_hot = tf.one_hot(tf.reshape(kinds, [-1]), depth=KINDS)
        kind = tf.matmul(one_hot, self._variables("embeddings/kind", KINDS, HIDDEN))
        table = self._variables("embeddings/position", POSITIONS, HIDDEN)
        places = tf.reshape(tf.slice(table, [0, 0], [length, -1]), [1, length, HIDDEN])
        added = words + tf.reshape(kind, [batch, length, HIDDEN])
        return self._norm(added + places, "embeddings/norm")

    def _layer(self, x: Tensor, mask: Tensor, name: str) -> Tensor:
        heads = self._attention(x, mask, f"{name}/self")
        attended = self._dense(heads, f"{name}/attended", HIDDEN)
        attended = self._norm(attended + x, f"{name}/attended/norm")
        inner = self._gelu(self._dense(attended, f"{name}/inner", INNER))
        outer = self._dense(inner, f"{name}/outer", HIDDEN)
        return self._norm(outer + attended, f"{name}/outer/norm")

    def _attention(self, x: Tensor, mask: Tensor, name: str) -> Tensor:
        tf, (batch, length, _) = self._tf, self._sizes(mask)
        query, key, value = (
            tf.transpose(
                tf.reshape(self._dense(x, f"{name}/{part}", HIDDEN), [batch, length, HEADS, HEAD]),
                [0, 2, 1, 3],
            )
            for part in ("query", "key", "value")
        )
        scores = tf.matmul(query, key, transpose_b=True) * (1.0 / math.sqrt(HEAD))
        adder = (1.0 - tf.cast(tf.expand_dims(mask, [1]), tf.float32)) * -10000.0
        answer = tf.matmul(tf.nn.softmax(scores + adder), value)
        return tf.reshape(tf.transpose(answer, [0, 2, 1, 3]), [batch * length, HIDDEN])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        mean, variance = self._tf.nn.moments(x, [-1], keepdims=True)
        beta = self._variables(f"{name}/beta", HIDDEN)
        gamma = self._variables(f"{name}/gamma", HIDDEN, around=1.0)
        return self._tf.nn.batch_normalization(x, mean, variance, beta, gamma, EPSILON)

    def _gelu(self, x: Tensor) -> Tensor:
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * self._tf.pow(x, 3))
        return x * (0.5 * (1.0 + self._tf.tanh(inner)))

    def _dense(self, x: Tensor, name: str, size: int) -> Tensor:
        product = self._tf.matmul(x, self._variables(f"{name}/kernel", x.shape[-1], size))
        return self._tf.nn.bias_add(product, self._variables(f"{name}/bias", size))

    def _sizes(self, x: Tensor) -> list[Tensor]:
        shape = self._tf.shape(x)
        known = enumerate(x.shape.as_list())
        return [shape[axis] if size is None else size for axis, size in known]


def keras_bert() -> Network:
    """Return BERT made of Keras's own layers: LayerNormalization, MultiHeadAttention, Dense."""
    import keras
    import tensorflow as tf

    def gelu(x: Tensor) -> Tensor:
        # not "gelu": TensorFlow writes that with Erfc, which tf2onnx cannot convert
        return 0.5 * x * (1.0 + tf.math.erf(x / math.sqrt(2.0)))

    def norm(x: Tensor) -> Tensor:
        return keras.layers.LayerNormalization(epsilon=EPSILON)(x)

    ids, mask, kinds = (keras.Input([None], dtype="int32", name=name) for name in INPUTS)
    places = keras.layers.Lambda(
        lambda ids: keras.ops.arange(keras.ops.shape(ids)[1])[None, :], output_shape=(None,)
    )(ids)
    x = keras.layers.Embedding(VOCABULARY, HIDDEN)(ids)
    x = x + keras.layers.Embedding(KINDS, HIDDEN)(kinds)
    x = norm(x + keras.layers.Embedding(POSITIONS, HIDDEN)(places))
    rows = keras.layers.Lambda(lambda row: row[:, None, :], output_shape=(1, None))(mask)
    for _ in range(LAYERS):
        attention = keras.layers.MultiHeadAttention(HEADS, HEAD)
        attended = norm(x + attention(x, x, attention_mask=rows))
        inner = keras.layers.Dense(INNER, activation=gelu)(attended)
        x = norm(attended + keras.layers.Dense(HIDDEN)(inner))
    first = keras.layers.Lambda(lambda x: x[:, 0], output_shape=(HIDDEN,))(x)
    pooled = keras.layers.Dense(HIDDEN, activation="tanh")(first)
    model = keras.Model([ids, mask, kinds], [x, pooled])
    chance = np.random.default_rng(0)
    for variable in model.weights:
        around = 1.0 if variable.name == "gamma" else 0.0
        wide = len(variable.shape) > 1 and variable.name != "embeddings"
        spread = HIDDEN**-0.5 if wide else 0.3
        variable.assign(chance.normal(around, spread, variable.shape).astype(np.float32))

    def network(ids: Tensor, attention_mask: Tensor, kinds: Tensor) -> tuple[Tensor, Tensor]:
        hidden, pooled = model([ids, attention_mask, kinds])
        return tf.identity(hidden), tf.identity(pooled)

    return network


if __name__ == "__main__":
    main()
