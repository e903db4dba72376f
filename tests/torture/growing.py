"""A model that grows node by node, each run at once: what it holds is valid and well conditioned.

Beside every value lies its *shadow*: the same computed from numbers that are a little off. A node
whose shadow leaves it by much (a tie, a cancellation, a pole) is not taken, so that two right
ways to compute a model agree closely, whatever the order of their sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

from burnish.core.arrays import Array

Option = TypeVar("Option")
Attribute = Any
"""What `onnx.helper.make_node` takes."""

MOST_ELEMENTS = 20_000
LARGEST = 1e4
"""Numbers beyond this overflow soon, and f16 at once."""

FLOATS = ("float32", "float64", "float16")
WHOLE = ("int64", "int32", "uint8", "int8")
_COARSENESS = {"float64": 0, "float32": 1, "float16": 2}


@dataclass(frozen=True)
class Noise:
    """How far shadows begin from the values, and how far they may get, relative to their size."""

    begin: float
    most: float


FINE = Noise(1e-4, 3e-3)
COARSE = Noise(3e-3, 5e-2)
"""For models with f16, whose own roundings are as large."""


class NoNode(Exception):  # noqa: N818  (nothing is wrong: another step is tried)
    """A step does not fit what there is."""


@dataclass
class Growing:
    """The nodes so far, the value of each tensor, and its shadow."""

    random: np.random.Generator
    noise: Noise = FINE
    opset: int = 21
    single: str = "float32"
    """The type of numbers where a step has no other: what stands there as float32 is of this."""
    shown: float = 0.1
    """How likely what is read inside is an output as well."""
    rows: int = 0
    """How many of a batch, which is outermost in most of what is computed; 0: there is none."""
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, Array] = field(default_factory=dict)
    constants: dict[str, Array] = field(default_factory=dict)
    values: dict[str, Array] = field(default_factory=dict)
    shadows: dict[str, Array] = field(default_factory=dict)
    batched: set[str] = field(default_factory=set)
    """The inputs that have a batch."""
    coarsest: dict[str, int] = field(default_factory=dict)
    """The coarsest type of numbers on the way to each tensor, as a place in f64, f32, f16."""

    def input(self, array: Array) -> str:
        """Add an input of the model."""
        return self._given(self.inputs, f"in{len(self.inputs)}", array)

    def constant(self, array: Array | Sequence[int], *, as_it_is: bool = False) -> str:
        """Add a constant; `as_it_is`: float32 is wanted, whatever all else is computed in."""
        held = array if isinstance(array, np.ndarray) else np.array(array, np.int64)
        return self._given(self.constants, f"c{len(self.constants)}", held, as_it_is=as_it_is)

    def numbers(self, *shape: int, dtype: str = "float32", scale: float = 1.0) -> Array:
        """Return random elements: numbers around zero, small whole ones, coin flips."""
        if dtype == "bool":
            return self.random.integers(0, 2, shape).astype(bool)
        if dtype in FLOATS:
            numbers = np.asarray(scale * self.random.standard_normal(shape))
            return numbers.astype(self._meant(dtype))
        low = 0 if dtype.startswith("u") else -5
        return np.asarray(self.random.integers(low, 6, shape)).astype(dtype)

    def pick(self, *dtypes: str, least_rank: int = 0, most_rank: int = 9) -> str:
        """Return a tensor of these types, late ones more often."""
        every = dtypes or FLOATS
        wanted = every if "float16" in every else {self._meant(each) for each in every}
        fit = [
            name
            for name, array in self.values.items()
            if str(array.dtype) in wanted
            and least_rank <= array.ndim <= most_rank
            and (name not in self.constants or self.random.random() < 0.1)
        ]
        if not fit:
            raise NoNode
        weights = np.arange(1, len(fit) + 1, dtype=float) ** 2
        return str(self.random.choice(fit, p=weights / weights.sum()))

    def choice(self, *options: Option) -> Option:
        """Return one of these."""
        return options[int(self.random.integers(0, len(options)))]

    def chance(self, share: float) -> bool:
        """Return whether something of this likelihood happens."""
        return bool(self.random.random() < share)

    def size(self, low: int, high: int) -> int:
        """Return a number from low to high."""
        return int(self.random.integers(low, high + 1))

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        return tuple(self.values[name].shape)

    def dtype(self, name: str) -> str:
        """Return the element type of a tensor."""
        return str(self.values[name].dtype)

    def add(self, op: str, *inputs: str, outputs: int = 1, **attributes: Attribute) -> str:
        """Add a node and return its (first) output; NoNode where it does not run or behave."""
        names = [f"t{len(self.nodes)}" + (f"_{n}" if n else "") for n in range(outputs)]
        node = helper.make_node(op, list(inputs), names, **attributes)
        results = self._run(node, self.values)
        shadows = self._run(node, self.shadows)
        if not all(map(self._sound, results, shadows)) or not self._keeps_rows(results):
            raise NoNode
        self.nodes.append(node)
        read = list(needs(node))
        shadows = [self._blurred(*pair, read) for pair in zip(results, shadows, strict=True)]
        above = max((self.coarsest[name] for name in read), default=0)
        for name, result, shadow in zip(names, results, shadows, strict=True):
            own = _COARSENESS.get(str(result.dtype), 0)
            self.values[name], self.shadows[name] = result, shadow
            self.coarsest[name] = max(above, own)
        return names[0]

    def model(self, *, is_open: bool = False) -> onnx.ModelProto:
        """Return the model; what nobody reads is an output, and some of what is read.

        With `is_open`, the sizes of inputs have names only, and nothing is said of outputs. Where
        there is a batch, that is the only size with a name.
        """
        read = {name for node in self.nodes for name in needs(node)}
        made = [name for node in self.nodes for name in node.output]
        outputs = [name for name in made if name not in read or self.chance(self.shown)]
        graph = helper.make_graph(
            self.nodes, "random", [self._info(name, is_open=is_open) for name in self.inputs],
            [self._info(name, is_open=is_open) for name in outputs],
            [numpy_helper.from_array(self.constants[n], n) for n in self.constants if n in read],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def _meant(self, dtype: str) -> str:
        return self.single if dtype == "float32" else dtype

    def _given(
        self, into: dict[str, Array], name: str, array: Array, *, as_it_is: bool = False
    ) -> str:
        if not as_it_is:
            array = array.astype(self._meant(str(array.dtype)))
        into[name] = self.values[name] = array
        off = 1 + self.noise.begin * self.random.uniform(-1, 1, array.shape)
        is_float = array.dtype.kind == "f"
        self.shadows[name] = (array * off).astype(array.dtype) if is_float else array
        self.coarsest[name] = _COARSENESS.get(str(array.dtype), 0)
        return name

    def _run(self, node: onnx.NodeProto, values: dict[str, Array]) -> list[Array]:
        from torture.running import outputs_of

        given = {name: values[name] for name in needs(node)}
        graph = helper.make_graph(
            [node], "one",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in given.items() if n not in self.constants],
            [helper.make_value_info(n, onnx.TypeProto()) for n in node.output],
            [numpy_helper.from_array(a, n) for n, a in given.items() if n in self.constants],
        )  # fmt: skip
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        try:
            return [np.asarray(each) for each in outputs_of(model, given).values()]
        except Exception as error:  # whatever the runtime says: the step does not fit
            raise NoNode from error

    def _sound(self, result: Array, shadow: Array) -> bool:
        if result.shape != shadow.shape or not 0 < result.size <= MOST_ELEMENTS:
            return False
        if result.dtype.kind != "f":
            # beyond what whole numbers can be, and of what is no number, each gives what it likes
            small = result.dtype.kind == "b" or bool((np.abs(result.astype(float)) < 1e9).all())
            return small and bool(np.array_equal(result, shadow))
        a, b = result.astype(np.float64), shadow.astype(np.float64)
        if not (np.isfinite(a).all() and np.isfinite(b).all()) or np.abs(a).max() > LARGEST:
            return False
        scale = np.abs(a) + np.sqrt(np.mean(a * a))
        return bool((np.abs(a - b) <= self.noise.most * scale).all())

    def _blurred(self, result: Array, shadow: Array, read: Sequence[str]) -> Array:
        """Return the shadow with what rounding adds, unless nothing was rounded.

        What is only moved or picked, and whole numbers, are the same in every order of sums.
        """
        if result.dtype.kind != "f" or np.array_equal(result, np.round(result)):
            return shadow
        if any(np.isin(result, self.values[name]).all() for name in read):
            return shadow
        off = 1 + self.noise.begin / 4 * self.random.uniform(-1, 1, shadow.shape)
        return np.asarray((shadow * off).astype(shadow.dtype))

    def _keeps_rows(self, results: Sequence[Array]) -> bool:
        if not self.rows or self.chance(0.05):
            return True
        return all(each.shape[:1] == (self.rows,) for each in results)

    def _info(self, name: str, *, is_open: bool) -> onnx.ValueInfoProto:
        array = self.values[name]
        shape: Sequence[int | str] | None = array.shape
        if self.rows:
            batched = name in self.batched
            shape = ["batch", *array.shape[1:]] if batched else array.shape
            shape = shape if name in self.inputs else None
        elif is_open:
            named = name in self.inputs
            shape = [f"{name}_{place}" for place in range(array.ndim)] if named else None
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, kind, shape)


def needs(node: onnx.NodeProto) -> Iterator[str]:
    """Yield the tensors that a node reads, those that its bodies take from outside included."""
    yield from (name for name in node.input if name)
    for body in (each.g for each in node.attribute if each.HasField("g")):
        own = {each.name for each in (*body.input, *body.initializer)}
        own |= {name for inner in body.node for name in inner.output}
        yield from (name for inner in body.node for name in needs(inner) if name not in own)
