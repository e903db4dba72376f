"""Write tokens with ONNX Runtime: keys and values stay in its own tensors, on its device."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.tensors import TensorSpec
from burnish.engines import onnxruntime_values as values
from burnish.engines.generation import Continuation


@dataclass(frozen=True, slots=True)
class OrtWriter:
    """Writes tokens after the same inputs, each time it is called."""

    session: Any
    """`onnxruntime.InferenceSession`: the package has no types."""
    run_options: Any
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    device: tuple[str, int]
    feeds: Arrays
    how: Continuation

    def prepared(self) -> Callable[[], Array]:
        """Put the inputs in their places; return one whole text."""
        begin = {spec.name: self._value(spec, self.feeds[spec.name]) for spec in self.inputs}
        return lambda: self._text(begin)

    def _text(self, begin: dict[str, values.OrtValue]) -> Array:
        bound, fed, written = begin, self.feeds, []
        for _ in range(self.how.tokens):
            given = self._step(bound)
            chosen = given[self.how.logits].numpy()[:, -1].argmax(axis=-1)[:, None]
            written.append(chosen)
            fed = self.how.next_inputs(fed, chosen)
            bound = {
                spec.name: self._value(spec, fed[spec.name])
                if spec.name in fed
                else given[self.how.past[spec.name]]
                for spec in self.inputs
            }
        found: Array = np.concatenate(written, axis=1)
        return found

    def _step(self, bound: dict[str, values.OrtValue]) -> dict[str, values.OrtValue]:
        """Run one step; everything but the logits stays on the device."""
        binding = self.session.io_binding()
        for name, value in bound.items():
            binding.bind_ortvalue_input(name, value)
        for spec in self.outputs:
            device, index = ("cpu", 0) if spec.name == self.how.logits else self.device
            binding.bind_output(spec.name, device, index)
        self.session.run_with_iobinding(binding, self.run_options)
        names = (spec.name for spec in self.outputs)
        return dict(zip(names, binding.get_outputs(), strict=True))

    def _value(self, spec: TensorSpec, array: Array) -> values.OrtValue:
        return values.value_of(array, spec.dtype, *self.device)
