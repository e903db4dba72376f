"""One record per operator: shapes, element types, small values, work, folding and loops.

Each file in `operators/families` ends with a table of records. All who need to know something of
an operator read it here: shape inference and folding (`infer`), rewriting, counting of work
(`analyze`) and lowering (`tile`). No framework is needed, so that reports can be rebuilt anywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.core.arrays import Array
from burnish.core.registry import Registry
from burnish.operators.size import Size
from burnish.tile.recurrence import RECURRENCES, WRITTEN, Unrolling
from burnish.tile.semantics import SEMANTICS, Meaning

Shape = tuple[Size, ...]
Partial = tuple[Size | None, ...]
"""A shape or a row of numbers of which some are not known."""
Elements = Partial
"""The elements of a whole or boolean value of rank 0 or 1, as far as they are known."""
Sizes = tuple[int, ...]

OWN_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
"""Of ONNX Runtime; operators of ONNX's names mean the same there, but where a record says else.
The second is its own layout of images: channels in blocks, the shape as before."""
STANDARD_DOMAINS = ("", "ai.onnx")


def _no_elements(_: int) -> Elements | None:
    return None


def _no_array(_: int) -> Array | None:
    return None


@dataclass(frozen=True, slots=True)
class Operands:
    """One use of an operator: its attributes, and what is known of its inputs."""

    attributes: Mapping[str, Any]
    """Python values: numbers, text, sequences of them; an array only where a rule asks for it."""
    inputs: tuple[Shape | None, ...]
    """Shapes; None: left out, or not even the rank is known."""
    types: tuple[str | None, ...] = ()
    outputs: tuple[Sizes, ...] = ()
    """Shapes; there only when work is counted."""
    wanted: int = 1
    """How many outputs the node has."""
    present: tuple[bool, ...] = ()
    """Which inputs are given; empty: those with a shape."""
    elements_of: Callable[[int], Elements | None] = _no_elements
    array_of: Callable[[int], Array | None] = _no_array

    def shape(self, index: int) -> Shape | None:
        """Return the shape of an input; None: left out or not known."""
        return self.inputs[index] if index < len(self.inputs) else None

    def type(self, index: int) -> str | None:
        """Return the element type of an input; None: left out or not known."""
        return self.types[index] if index < len(self.types) else None

    def elements(self, index: int) -> Elements | None:
        """Return the elements of a small whole input, as far as they are known."""
        return self.elements_of(index) if index < len(self.inputs) else None

    def array(self, index: int) -> Array | None:
        """Return an input that is a constant."""
        return self.array_of(index) if index < len(self.inputs) else None

    def integers(self, index: int) -> tuple[int, ...] | None:
        """Return the elements of a small whole input that is known entirely."""
        found = self.elements(index)
        whole = [] if found is None else [item for item in found if isinstance(item, int)]
        return None if found is None or len(whole) < len(found) else tuple(whole)

    def ints(self, name: str) -> tuple[int, ...]:
        """Return a list attribute; empty where it is not given."""
        value = self.attributes.get(name, ())
        return tuple(int(each) for each in value) if isinstance(value, (tuple, list)) else ()

    def number(self, name: str, default: int) -> int:
        """Return an integer attribute."""
        value = self.attributes.get(name, default)
        return int(value) if isinstance(value, (int, float)) else default

    def text(self, name: str, default: str = "") -> str:
        """Return an attribute that is text."""
        return str(self.attributes.get(name, default))

    def axes(self, index: int = 1) -> tuple[int, ...] | None:
        """Return axes given as an attribute or an input; (): none are; None: not known."""
        if "axes" in self.attributes:
            return self.ints("axes")
        return self.integers(index) if self.given(index) else ()

    def given(self, index: int) -> bool:
        """Return whether an input is not left out."""
        present = self.present or tuple(shape is not None for shape in self.inputs)
        return index < len(present) and present[index]

    def sizes(self, index: int) -> Sizes:
        """Return the shape of an input that the operator always has, all of it numbers."""
        shape = self.shape(index)
        assert shape is not None
        return tuple(size for size in shape if isinstance(size, int))

    @property
    def out(self) -> Sizes:
        """Return the shape of the first output, when work is counted."""
        return self.outputs[0]


ShapeRule = Callable[[Operands], Sequence[Partial | None]]
"""The shape of each output, as far as the operator tells."""
TypeRule = Callable[[Operands], Sequence[str | None]]
"""The element type of each output, as far as the operator tells."""
ValueRule = Callable[[Operands], Elements | None]
"""The elements of the only output, where they are whole or boolean and few."""
ValuesRule = Callable[[Operands], Sequence[Elements | None]]
"""The elements of each of several outputs."""
WorkRule = Callable[[Operands], float]
"""How many operations are spent."""
FoldRule = Callable[[Operands, Sequence[Array | None]], bool]
"""Whether ONNX says what comes out for these constants."""


class Movement(enum.Enum):
    """What an operator moves through memory."""

    EVERYTHING = "what it reads and what it gives"
    AS_GIVEN = "of its first input only as much as it gives"
    VIEW = "nothing: the result is its first input under another shape"
    NOTHING = "nothing: the result is known beforehand"


def first_type(at: Operands) -> Sequence[str | None]:
    """Return the first input's element type for the first output."""
    return [at.type(0)]


@dataclass(frozen=True, slots=True)
class Operator:
    """All that is known of one operator; what is None is not known, never assumed."""

    shape: ShapeRule | None = None
    types: TypeRule = first_type
    value: ValueRule | None = None
    work: WorkRule | None = None
    traffic: Movement = Movement.EVERYTHING
    computes: str | None = None
    """The element type of its arithmetic, where that is not the type of its operands."""
    folds: FoldRule | None = None
    """Whether constants may be folded by ONNX's reference; None: never (random, quantised, …)."""
    loops: Meaning | None = None
    values: ValuesRule | None = None
    """In place of `value`, for an operator with several outputs."""
    steps: Unrolling | None = None
    """In place of `loops`, for an operator that runs along a sequence."""
    written: Meaning | None = None
    """Such an operator with each step as loops of its own."""


OPERATORS: Registry[Operator] = Registry("operator", package="burnish.operators.families")
"""By name; those of other domains as `com.microsoft.Gelu`."""


def register(records: Mapping[str, Operator]) -> None:
    """File records under their names; a key may name several operators, apart by spaces."""
    for names, record in records.items():
        for name in names.split():
            OPERATORS.register(name)(record)
            if record.loops is not None:
                SEMANTICS.register(name)(record.loops)
            if record.steps is not None:
                RECURRENCES.register(name)(record.steps)
            if record.written is not None:
                WRITTEN.register(name)(record.written)


def find(domain: str, op_type: str) -> Operator | None:
    """Return the record of an operator; None: there is none."""
    plain = domain in STANDARD_DOMAINS
    qualified = op_type if plain else f"{domain}.{op_type}"
    if qualified in OPERATORS:
        return OPERATORS[qualified]
    borrowed = not plain and domain in OWN_DOMAINS and op_type in OPERATORS
    return OPERATORS[op_type] if borrowed else None
