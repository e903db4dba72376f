"""Models in fewer bits: `convert` is the one way in, whatever the kind of number."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from burnish.core.errors import ModelError
from burnish.rewrite.options import Edges, Operators, OptimizeOptions, Precision, Target
from burnish.rewrite.passes import preparing
from burnish.rewrite.pipeline import collector_paused
from burnish.rewrite.precision.bf16_products import products_in_bf16
from burnish.rewrite.precision.half import Halved, in_half
from burnish.rewrite.precision.half_plan import NOTHING_SEEN
from burnish.rewrite.precision.half_types import HALVES
from burnish.rewrite.precision.int4_weights import BLOCK, in_int4
from burnish.rewrite.precision.int8_dynamic import Quantised, in_int8
from burnish.rewrite.precision.int8_static import calibrated_values, in_int8_static
from burnish.rewrite.precision.report import ChangedNode, KeptNode, PrecisionReport
from burnish.rewrite.precision.smooth import Smoothing, smoothed
from burnish.rewrite.precision.thresholds import Span
from burnish.rewrite.precision.weights import Bits

__all__ = [
    "ChangedNode", "Converted", "KeptNode", "Precision", "PrecisionReport", "bits_for",
    "calibrated_values", "convert",
]  # fmt: skip

_FULL_RANGE = frozenset({"avx512_vnni", "avx_vnni", "amx_int8", "asimddp"})
"""Processor flags of instructions that add 8-bit products without running out of 16 bits."""


@dataclass(frozen=True, slots=True)
class Converted:
    """A model in fewer bits, and what was done for that."""

    model: ir.Model
    report: PrecisionReport


@collector_paused()
def convert(  # noqa: PLR0913  (each is a choice of its own)
    model: ir.Model,
    precision: Precision,
    *,
    keep: Collection[str] = (),
    target: Target = "cpu",
    edges: Edges = "convert",
    ops: Operators = "auto",
    bits: Bits = 8,
    magnitudes: Mapping[str, float] = NOTHING_SEEN,
    spans: Mapping[str, Span] | None = None,
    smoothing: Smoothing | None = None,
) -> Converted:
    """Return a copy of a model in a precision, and a report of what is not in it; never in place.

    Calls of functions are replaced by what they stand for. `keep` names operators, nodes, or
    patterns of nodes' names that stay in f32; `edges` says whether f32 inputs and outputs change
    too, where the precision is one of activations; `bits` is how many bits of an 8-bit integer
    weights may use on the processor in question; `magnitudes` are the largest that values had when
    the model ran, by name; with `spans`, of the values that `calibrated_values` names, scales are
    fixed beforehand; `smoothing` says how channels are made even before that.
    """
    model = _flat(model)
    if precision == "int4":
        how = f"weights only, blocks of {BLOCK}"
        return _in_integers(precision, how, in_int4(model, keep=keep))
    if precision == "int8" and spans is not None:
        how = f"static, per channel, {bits} bits{', smoothed' if smoothing else ''}"
        model = model if smoothing is None else smoothed(model, smoothing, keep)
        pairs = ops == "standard" or target != "cpu"
        found = in_int8_static(model, spans, bits=bits, pairs_only=pairs, keep=keep)
        return _in_integers(precision, how, found)
    if precision == "int8":
        how = f"dynamic, per channel, {bits} bits"
        return _in_integers(precision, how, in_int8(model, bits=bits, ops=ops, keep=keep))
    if precision == "bf16" and target == "cpu":
        return _products(precision, products_in_bf16(model, keep=keep))
    half = HALVES[precision]
    halved = in_half(model, half, target=target, edges=edges, keep=keep, magnitudes=magnitudes)
    return _in_floats(precision, halved)


def _in_floats(precision: Precision, found: Halved) -> Converted:
    how = f"{len(found.kept)} nodes kept in fp32"
    return Converted(
        found.model, PrecisionReport(precision, how, found.changed, found.kept, found.notes)
    )


def _products(precision: Precision, found: Halved) -> Converted:
    how = f"{len(found.changed)} products, summed in fp32"
    return Converted(found.model, PrecisionReport(precision, how, found.changed, found.kept))


def bits_for(flags: Sequence[str]) -> Bits:
    """Return how many bits of an integer weights may use on a processor with these flags.

    Where it adds two 8-bit products in 16 bits, 7, so that no sum of two saturates.
    """
    return 8 if _FULL_RANGE & set(flags) else 7


def _in_integers(precision: Precision, how: str, found: Quantised) -> Converted:
    if found.changed:
        return Converted(found.model, PrecisionReport(precision, how, found.changed, found.kept))
    convolutions = any(one.op_type == "Conv" for one in found.kept)
    typed = (one.reason for one in found.kept if one.reason.endswith("not f32"))
    reason = next(typed, "it multiplies by no constant weights")
    raise ModelError(
        f"nothing in the model can be quantised: {reason}",
        hint="calibrate its convolutions: --calibrate DATA, or --calibrate synthetic"
        if convolutions and precision == "int8"
        else f"leave -p {precision} away",
    )


def _flat(model: ir.Model) -> ir.Model:
    """Return a model without calls of functions, whose values have types only where called."""
    if not model.functions:
        return model
    flat = model.clone()
    for step in preparing(OptimizeOptions()):
        step(flat)
    if flat.functions:
        domain, name, _ = next(iter(flat.functions))
        raise ModelError(
            f"the function {domain}::{name} cannot be put in place of its calls, and its numbers "
            "cannot be changed where it is",
            hint="export the model again without functions",
        )
    return flat
