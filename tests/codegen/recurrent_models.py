"""LSTM, GRU and RNN as models, and the same written in NumPy: slowly and obviously."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx_ir as ir

from burnish.core.arrays import Array

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


@dataclass(frozen=True)
class Case:
    """One node, and what it is fed."""

    operator: str
    steps: int = 5
    batch: int = 2
    width: int = 3
    hidden: int = 4
    direction: str = "forward"
    states: bool = False
    lengths: tuple[int, ...] = ()
    bias: bool = True
    peepholes: bool = False
    outputs: tuple[bool, ...] = (True, True, True)
    fixed: bool = False
    """Whether lengths and states are constants of the model."""
    attributes: Mapping[str, object] = field(default_factory=dict)

    @property
    def directions(self) -> int:
        return 2 if self.direction == "bidirectional" else 1

    @property
    def batch_first(self) -> bool:
        return bool(self.attributes.get("layout", 0))

    def constants(self) -> dict[str, Array]:
        random = np.random.default_rng(7)
        gates, d = GATES[self.operator], self.directions
        shapes = {
            "w": (d, gates * self.hidden, self.width),
            "r": (d, gates * self.hidden, self.hidden),
        }
        if self.bias:
            shapes["b"] = (d, 2 * gates * self.hidden)
        if self.peepholes:
            shapes["p"] = (d, 3 * self.hidden)
        return {n: random.standard_normal(s).astype(np.float32) * 0.7 for n, s in shapes.items()}

    def feeds(self, seed: int = 0) -> dict[str, Array]:
        random = np.random.default_rng(seed)
        x = random.standard_normal((self.steps, self.batch, self.width)).astype(np.float32)
        found: dict[str, Array] = {"x": x.swapaxes(0, 1).copy() if self.batch_first else x}
        if self.lengths:
            found["lengths"] = np.array(self.lengths, np.int32)
        for name in self.state_names if self.states else ():
            state = random.standard_normal((self.directions, self.batch, self.hidden))
            state = state.astype(np.float32)
            found[name] = state.swapaxes(0, 1).copy() if self.batch_first else state
        return found

    @property
    def state_names(self) -> tuple[str, ...]:
        return ("h0", "c0") if self.operator == "LSTM" else ("h0",)

    def model(self) -> ir.Model:
        """Return the node as a model of its own."""
        feeds, constants = self.feeds(), self.constants()
        if self.fixed:
            constants |= {name: array for name, array in feeds.items() if name != "x"}
            feeds = {"x": feeds["x"]}
        known = {*feeds, *constants}
        slots = ["x", "w", "r", "b", "lengths", *self.state_names, "p"]
        names = [name if name in known else "" for name in slots]
        while not names[-1]:
            names.pop()
        given = ("y", "yh", "yc")[: 3 if self.operator == "LSTM" else 2]
        outputs = [n if wanted else "" for n, wanted in zip(given, self.outputs, strict=False)]
        node = onnx.helper.make_node(
            self.operator, names, outputs, name="recurrent", hidden_size=self.hidden,
            direction=self.direction, **self.attributes,
        )  # fmt: skip
        d, b, h = self.directions, self.batch, self.hidden
        every = (b, self.steps, d, h) if self.batch_first else (self.steps, d, b, h)
        last = (b, d, h) if self.batch_first else (d, b, h)
        shapes = {"y": every, "yh": last, "yc": last}
        kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(a.dtype) for name, a in feeds.items()}
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(
            [node],
            "recurrent",
            [value(name, kinds[name], array.shape) for name, array in feeds.items()],
            [value(name, onnx.TensorProto.FLOAT, shapes[name]) for name in outputs if name],
            [onnx.numpy_helper.from_array(array, name) for name, array in constants.items()],
        )
        opset = [onnx.helper.make_opsetid("", 21)]
        return ir.from_proto(onnx.helper.make_model(graph, opset_imports=opset, ir_version=10))

    def expected(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Return what the node gives, in f64 and element by element of time."""
        x = np.asarray(feeds["x"], np.float64)
        x = x.swapaxes(0, 1) if self.batch_first else x
        y = np.zeros((self.steps, self.directions, self.batch, self.hidden))
        last = {name: np.zeros((self.directions, self.batch, self.hidden)) for name in "hc"}
        for d in range(self.directions):
            backwards = self.direction == "reverse" or d == 1
            for row in range(self.batch):
                length = self.lengths[row] if self.lengths else self.steps
                times = range(length)[::-1] if backwards else range(length)
                state = [self._initial(feeds, n, d, row) for n in ("h0", "c0")]
                for t in times:
                    state = self._step(x[t, row], state, d)
                    y[t, d, row] = state[0]
                # a row without any step ends in zeros, as in ONNX Runtime
                last["h"][d, row], last["c"][d, row] = state if length else (0, 0)
        found = {"y": y, "yh": last["h"], "yc": last["c"]}
        if self.batch_first:
            found = {
                "y": y.transpose(2, 0, 1, 3),
                **{n: found[n].swapaxes(0, 1) for n in ("yh", "yc")},
            }
        return {n: a for n, a in found.items() if n != "yc" or self.operator == "LSTM"}

    def _initial(self, feeds: Mapping[str, Array], name: str, d: int, row: int) -> Array:
        if name not in feeds:
            return np.zeros(self.hidden)
        state = feeds[name].swapaxes(0, 1) if self.batch_first else feeds[name]
        return np.asarray(state[d, row], np.float64)

    def _step(self, x: Array, state: list[Array], d: int) -> list[Array]:
        constants = {n: np.asarray(a[d], np.float64) for n, a in self.constants().items()}
        gates, size = GATES[self.operator], self.hidden
        w = constants["w"].reshape(gates, size, -1) @ x
        r = constants["r"].reshape(gates, size, -1)
        bias = constants.get("b", np.zeros(2 * gates * size)).reshape(2, gates, size)
        return getattr(self, f"_{self.operator.lower()}")(w + bias[0], r, bias[1], state, constants)

    def _functions(self) -> list[object]:
        usual = {"LSTM": "Sigmoid Tanh Tanh", "GRU": "Sigmoid Tanh", "RNN": "Tanh"}[self.operator]
        names = list(self.attributes.get("activations", usual.split()))  # type: ignore[call-overload]
        limit = float(self.attributes.get("clip", np.inf))  # type: ignore[arg-type]
        table = {
            "Sigmoid": lambda v: 1 / (1 + np.exp(-v)), "Tanh": np.tanh,
            "Relu": lambda v: np.maximum(v, 0), "Softsign": lambda v: v / (1 + abs(v)),
        }  # fmt: skip
        # sums are clipped; an LSTM's third function sees the cell, which ONNX Runtime leaves
        limits = [limit, limit, np.inf]
        return [
            lambda v, f=table[name], limit=limit: f(np.clip(v, -limit, limit))
            for name, limit in zip(names, limits, strict=False)
        ]

    def _lstm(
        self, w: Array, r: Array, rb: Array, state: list[Array], k: dict[str, Array]
    ) -> list[Array]:
        f, g, h = self._functions()[:3]
        p = k.get("p", np.zeros(3 * self.hidden)).reshape(3, -1)
        z = w + r @ state[0] + rb
        i = f(z[0] + p[0] * state[1])
        forget = 1 - i if self.attributes.get("input_forget") else f(z[2] + p[2] * state[1])
        c = forget * state[1] + i * g(z[3])
        return [f(z[1] + p[1] * c) * h(c), c]

    def _gru(self, w: Array, r: Array, rb: Array, state: list[Array], _k: object) -> list[Array]:
        f, g = self._functions()[:2]
        last = state[0]
        z, reset = f(w[0] + r[0] @ last + rb[0]), f(w[1] + r[1] @ last + rb[1])
        if self.attributes.get("linear_before_reset"):
            new = g(w[2] + reset * (r[2] @ last + rb[2]))
        else:
            new = g(w[2] + r[2] @ (reset * last) + rb[2])
        return [(1 - z) * new + z * last, state[1]]

    def _rnn(self, w: Array, r: Array, rb: Array, state: list[Array], _k: object) -> list[Array]:
        (f,) = self._functions()[:1]
        return [f(w[0] + r[0] @ state[0] + rb[0]), state[1]]
