"""One model on a doctored engine: errors that no file shows, only what is run after what."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np
import onnx

from burnish.core.arrays import Array, Arrays
from burnish.engines.base import ENGINES, Availability, EngineOptions, Placement, Session
from burnish.store.stored import StoredModel
from burnish.trace.events import Trace
from torture.bases.decoders import GPT2
from torture.bases.text import BERT
from torture.bases.vision import CONV
from torture.case import Base, Case, normal, parsed

Outputs = dict[str, Array]
Doctor = Callable[[list[tuple[Arrays, Outputs]], Arrays, Outputs], Outputs]
"""Takes earlier runs, the inputs and the right outputs; returns the wrong ones."""


class _Doctored:
    """ONNX Runtime, with what it gives changed."""

    needs_torch_source = False

    def __init__(self, name: str, doctor: Doctor) -> None:
        self.name = name
        self._doctor = doctor

    def availability(self) -> Availability:
        return Availability(ok=True, version="doctored")

    def open(self, model: StoredModel, options: EngineOptions) -> Session:
        return _DoctoredSession(ENGINES["onnxruntime-cpu"].open(model, options), self._doctor)


class _DoctoredSession:
    def __init__(self, right: Session, doctor: Doctor) -> None:
        self._right = right
        self._doctor = doctor
        self._earlier: list[tuple[Arrays, Outputs]] = []

    @property
    def placement(self) -> Placement:
        return self._right.placement

    def run(self, feeds: Arrays) -> Outputs:
        outputs = self._right.run(feeds)
        given = self._doctor(self._earlier, feeds, outputs)
        self._earlier.append((dict(feeds), outputs))
        return given

    def prepare(self, feeds: Arrays) -> Callable[[], None]:
        return self._right.prepare(feeds)

    def trace(self, feeds: Arrays, *, warmup: int, runs: int) -> Trace | None:
        return self._right.trace(feeds, warmup=warmup, runs=runs)

    def __enter__(self) -> Self:
        self._right.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._right.__exit__(kind, error, traceback)


ENGINE_CASES: list[Case] = []


def _doctored(base: Base, **sizes: int) -> Callable[[Doctor], Doctor]:
    """Return a decorator: the function spoils what the engine gives for `base`."""

    def add(doctor: Doctor) -> Doctor:
        name = doctor.__name__.strip("_").replace("_", "-")
        ENGINES.register(f"torture-{name}")(_Doctored(f"torture-{name}", doctor))
        ENGINE_CASES.append(
            Case(
                name=f"engine/{name}",
                what=" ".join((doctor.__doc__ or "").split()),
                expected="differs",
                reference=lambda: base.model,
                candidate=lambda: base.model,
                witness=lambda: base.feed(**sizes),
                plain=lambda: [base.feed(**each) for each in base.plain],
                engine=f"torture-{name}",
            )
        )
        return doctor

    return add


def _shapes(inputs: Arrays) -> list[tuple[int, ...]]:
    return [array.shape for array in inputs.values()]


@_doctored(BERT, batch=2, seed=5)
def replays_the_first_run_of_a_shape(
    earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs
) -> Outputs:
    """A captured run is replayed without its new inputs: a shape's first result comes for all."""
    same = [given for fed, given in earlier if _shapes(fed) == _shapes(inputs)]
    return same[0] if same else outputs


@_doctored(BERT, batch=4)
def fourth_row_is_stale(
    earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs
) -> Outputs:
    """From the fourth row on, rows of a batch are whatever was in the buffer: zeros."""
    del earlier, inputs
    return {
        name: np.where(np.arange(len(array))[:, None, None] < 3, array, np.float32(0))
        for name, array in outputs.items()
    }


@_doctored(GPT2, sequence=3, past=0)
def cache_of_the_run_before(
    earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs
) -> Outputs:
    """Without a past, the keys given back start with one of the run before."""
    if not earlier or inputs["past_key_values.0.key"].shape[2] > 0:
        return outputs
    given = outputs["present.0.key"].copy()
    given[0, :, 0] = earlier[-1][1]["present.0.key"][0, :, -1]
    return {**outputs, "present.0.key": given}


@_doctored(CONV, height=37, width=41)
def last_column_at_odd_widths(
    earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs
) -> Outputs:
    """At odd widths, the last column of the features is the one before."""
    del earlier
    if inputs["pixel_values"].shape[3] % 2 == 0:
        return outputs
    given = outputs["features"].copy()
    given[..., -1] = given[..., -2]
    return {**outputs, "features": given}


@_doctored(BERT, batch=2, sequence=9)
def rare_races(earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs) -> Outputs:
    """Every fifth run loses one token to a race."""
    del inputs
    if len(earlier) % 5 != 4:
        return outputs
    given = outputs["logits"].copy()
    given[0, 0] = 0
    return {"logits": given}


def _classifier() -> onnx.ModelProto:
    text = "g (float[n, 16] x) => (int64[n] label) { c = Cast <to = 10> (x) h = MatMul(c, w) t = Tanh(h) label = ArgMax <axis = 1, keepdims = 0> (t) }"
    return parsed(text, {"w": normal(16, 6, seed=3).astype(np.float16)})


_LABELS = Base("labels", _classifier, lambda rows=4, seed=0: {"x": normal(rows, 16, seed=seed)})


@_doctored(_LABELS, rows=8)
def label_of_another_class(
    earlier: list[tuple[Arrays, Outputs]], inputs: Arrays, outputs: Outputs
) -> Outputs:
    """Of six classes, the first is named for the third: no score is given that would tell."""
    del earlier, inputs
    return {"label": np.where(outputs["label"] == 2, 0, outputs["label"])}
