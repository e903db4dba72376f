"""A reference that was run once, and by which outputs from elsewhere are judged.

A benchmark computes its outputs in processes of its own; what they give is compared here, so
that the run that is judged is the run that was timed.
"""

from __future__ import annotations

from dataclasses import dataclass

from burnish.core.arrays import Arrays
from burnish.feeds.feed import Feeds
from burnish.parity.arithmetic import arithmetic_of, quantised_values, weakest
from burnish.parity.compare import compare
from burnish.parity.pairing import differing_inputs, pair_outputs
from burnish.parity.report import Sample
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import judge
from burnish.store import onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel


@dataclass(frozen=True, slots=True)
class Reference:
    """What a model, as it is written, gives for one set of inputs."""

    feeds: Feeds
    outputs: Arrays
    interface: Interface
    arithmetic: str
    quantised: frozenset[str]

    def judged(self, model: StoredModel, precision: str, outputs: Arrays) -> Sample:
        """Return how far `outputs` are, which `model` gave while computing in `precision`."""
        candidate = onnx_files.read(model.onnx)
        interface = onnx_files.interface(candidate)
        problems = differing_inputs(self.interface, interface)
        if problems:
            return Sample(model.label, self.feeds.bindings, (), problem="; ".join(problems))
        pairs = pair_outputs(self.interface, interface).candidates
        found = {name: outputs[pairs[name]] for name in self.outputs if pairs.get(name) in outputs}
        arithmetic = weakest(precision, self.arithmetic, arithmetic_of(candidate))
        tolerances = Tolerances(
            arithmetic=None if arithmetic == "f32" else arithmetic, quantised=self.quantised
        )
        diffs = compare(self.outputs, found, tolerances)
        return Sample(model.label, self.feeds.bindings, diffs)


def run_reference(model: StoredModel, feeds: Feeds) -> Reference:
    """Run a model on ONNX Runtime's CPU provider with nothing optimised."""
    written = onnx_files.read(model.onnx)
    with judge(model).open() as session:
        outputs = session.run(feeds.arrays)
        precision = session.placement.precision
    return Reference(
        feeds=feeds,
        outputs=outputs,
        interface=onnx_files.interface(written),
        arithmetic=weakest(precision, arithmetic_of(written)),
        quantised=quantised_values(written),
    )
