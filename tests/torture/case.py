"""What a case is: two models that mean different things, and inputs that show it; or a trap."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from burnish.core.arrays import Array, Arrays
from torture.draft import Draft

Expected = Literal["differs", "not shown", "equal"]
Sizes = Mapping[str, int]
Change = Callable[[dict[str, Array]], Mapping[str, Array]]
Edit = Callable[[Draft], None]

REAL = 1e-3
"""The deviation, relative to the output's root mean square, that a witness shows by default."""


@dataclass(frozen=True)
class Base:
    """A right model, and inputs as a user feeds them."""

    name: str
    make: Callable[[], onnx.ModelProto]
    feed: Callable[..., dict[str, Array]]
    """Takes sizes and a `seed`; returns typical inputs."""
    plain: Sequence[Sizes] = ({},)
    """The sizes that anybody would try first."""
    needs: tuple[str, ...] = ()
    """Packages without which it cannot be made."""

    @functools.cached_property
    def model(self) -> onnx.ModelProto:
        """Return the model; nobody may change it."""
        return self.make()


@dataclass(frozen=True)
class Case:
    """A reference and a candidate, what is to be said of them, and inputs that prove it."""

    name: str
    what: str
    """What is wrong with the candidate, or why it is right, as a sentence."""
    expected: Expected
    reference: Callable[[], onnx.ModelProto]
    candidate: Callable[[], onnx.ModelProto]
    witness: Callable[[], Arrays]
    """Inputs for which the outputs differ (of a trap: inputs for which they must not)."""
    plain: Callable[[], Sequence[Arrays]]
    """Inputs that anybody would try first."""
    hidden: bool = False
    """Whether plain inputs do not show the difference."""
    least: float = REAL
    """The smallest deviation that the witness shows; of a trap: the largest."""
    needs: tuple[str, ...] = ()
    engine: str = ""
    """The doctored engine that runs the candidate; empty: the default one."""
    as_written: bool = False
    """Whether the engine's own rewriting happens to undo the error, which is in the file."""

    @property
    def family(self) -> str:
        """Return the kind of error."""
        return self.name.partition("/")[0]


@dataclass
class Family:
    """Collects the cases of one kind, in the order of the file."""

    name: str
    expected: Expected = "differs"
    cases: list[Case] = field(default_factory=list)

    def planted(
        self,
        base: Base,
        change: Change | None = None,
        *,
        start: Callable[[onnx.ModelProto], onnx.ModelProto] | None = None,
        hidden: bool = False,
        least: float = REAL,
        needs: tuple[str, ...] = (),
        as_written: bool = False,
        **sizes: int,
    ) -> Callable[[Edit], Edit]:
        """Return a decorator: the function plants its error in a copy of `base`.

        Its name becomes the case's, its docstring says what is wrong. The witness is what `base`
        is fed with `sizes`, with `change` made to it. `start` rewrites the model beforehand.
        """

        def add(edit: Edit) -> Edit:
            def candidate() -> onnx.ModelProto:
                draft = Draft(start(base.model) if start else base.model)
                edit(draft)
                return draft.finish()

            def witness() -> Arrays:
                inputs = base.feed(**sizes)
                return {**inputs, **(change(inputs) if change else {})}

            self._add(
                Case(
                    name=f"{self.name}/{edit.__name__.strip('_').replace('_', '-')}",
                    what=_sentence(edit),
                    expected=self.expected,
                    reference=lambda: base.model,
                    candidate=candidate,
                    witness=witness,
                    plain=lambda: [base.feed(**each) for each in base.plain],
                    hidden=hidden,
                    least=least,
                    needs=(*base.needs, *needs),
                    as_written=as_written,
                )
            )
            return edit

        return add

    def text(
        self,
        name: str,
        what: str,
        graph: str,
        *wrong: tuple[str, str],
        witness: Mapping[str, object],
        plain: Mapping[str, object] | None = None,
        weights: Mapping[str, Array] | None = None,
        hidden: bool = False,
        least: float = REAL,
        as_written: bool = False,
        opset: int = 20,
        raised: int = 0,
    ) -> None:
        """Add a case written in ONNX's own text; `wrong` are the replacements that plant it.

        Inputs are arrays or lists, and become what the model declares. Without `plain`, the plain
        inputs are normal numbers of the witness's shape. `raised` is the candidate's opset, where
        it has another.
        """
        doctored = graph
        for old, new in wrong:
            if old not in doctored:
                raise ValueError(f"{self.name}/{name}: {old!r} is not in the text")
            doctored = doctored.replace(old, new)
        reference = functools.partial(parsed, graph, weights or {}, opset)
        self._add(
            Case(
                name=f"{self.name}/{name}",
                what=what,
                expected=self.expected,
                reference=reference,
                candidate=lambda: parsed(doctored, weights or {}, raised or opset),
                witness=lambda: _typed(reference(), witness),
                plain=lambda: [_typed(reference(), plain or _ordinary(reference(), witness))],
                hidden=hidden,
                least=least,
                as_written=as_written,
            )
        )

    def _add(self, case: Case) -> None:
        self.cases.append(case)


def parsed(graph: str, weights: Mapping[str, Array], opset: int = 20) -> onnx.ModelProto:
    """Return the model of a text, with these arrays as constants."""
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "com.microsoft" : 1]>'
    model = parser.parse_model(f"{head} {graph}")
    model.graph.initializer.extend(numpy_helper.from_array(v, k) for k, v in weights.items())
    onnx.checker.check_model(model)
    return model


def whole(*numbers: int) -> Array:
    """Return whole numbers as a row."""
    return np.asarray(numbers, np.int64)


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Array:
    """Return normal numbers in single precision."""
    return (scale * np.random.default_rng(seed).standard_normal(shape)).astype(np.float32)


def _typed(model: onnx.ModelProto, inputs: Mapping[str, object]) -> dict[str, Array]:
    """Return arrays of the types that the model declares."""
    types = {each.name: each.type.tensor_type.elem_type for each in model.graph.input}
    return {
        name: np.asarray(value, helper.tensor_dtype_to_np_dtype(types[name]))
        for name, value in inputs.items()
    }


def _ordinary(model: onnx.ModelProto, shown: Mapping[str, object]) -> dict[str, Array]:
    """Return what a person tries first: small normal numbers, small integers, coin flips."""
    random = np.random.default_rng(7)
    made: dict[str, Array] = {}
    for name, array in _typed(model, shown).items():
        match array.dtype.kind:
            case "f":
                made[name] = random.standard_normal(array.shape)
            case "b":
                made[name] = random.integers(0, 2, array.shape)
            case _:
                made[name] = random.integers(0, 10, array.shape)
    return made


def _sentence(edit: Edit) -> str:
    if not edit.__doc__:
        raise ValueError(f"{edit.__name__}: the docstring says what is wrong")
    return " ".join(edit.__doc__.split())
