"""Which operators a rule may write: those that the user wants, that run, and that pay."""

from __future__ import annotations

import onnx_ir as ir

from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite import costs, kernels
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.rule import Refusal

CONTRIB = "com.microsoft"


def refusal(
    op_type: str, domain: str, dtype: ir.DataType | None, options: OptimizeOptions
) -> Refusal | None:
    """Return why an operator must not be written for a type; None: it may.

    Asked before a rule fires, so that no model is written that its target cannot load, and none
    that is slower for being fused.
    """
    judged = _later(op_type, domain, dtype, options)
    return (
        _unwanted(op_type, domain, options)
        or _without_kernel(op_type, domain, judged, options)
        or _too_slow(op_type, domain, judged, options)
    )


def _later(
    op_type: str, domain: str, dtype: ir.DataType | None, options: OptimizeOptions
) -> ir.DataType | None:
    """Return the type in which an operator will run: f32 becomes f16 where that has a kernel."""
    halved = options.conversion.half is not None and dtype == ir.DataType.FLOAT
    half = ir.DataType.FLOAT16
    return half if halved and kernels.available(op_type, domain, half, options.target) else dtype


def _unwanted(op_type: str, domain: str, options: OptimizeOptions) -> Refusal | None:
    if options.ops != "standard" or domain in STANDARD_DOMAINS:
        return None
    return Refusal(
        f"{domain}::{op_type} is not an operator of ONNX, and only those were asked for",
        "allow ONNX Runtime's own operators: --ops auto",
    )


def _without_kernel(
    op_type: str, domain: str, dtype: ir.DataType | None, options: OptimizeOptions
) -> Refusal | None:
    if kernels.available(op_type, domain, dtype, options.target):
        return None
    known = kernels.table(options.target)
    if dtype is None:
        return Refusal(
            f"the element type in which {_named(op_type, domain)} would run is not known, so"
            f" neither is whether {known.provider} has a kernel for it",
            "save the model with the types of its values: onnx.shape_inference.infer_shapes(model)",
        )
    return Refusal(
        f"{_named(op_type, domain)} has no kernel for {dtype} in {known.provider}",
        "optimize for another target (--target), or in another floating type",
    )


def _too_slow(
    op_type: str, domain: str, dtype: ir.DataType | None, options: OptimizeOptions
) -> Refusal | None:
    if options.cost != "rules":
        return None
    ratio = costs.ratio(op_type, domain, dtype, options.target)
    if ratio is None or ratio < costs.NOISE:
        return None
    known = costs.table(options.target)
    return Refusal(
        f"{_named(op_type, domain)} takes {ratio:.1f}x the time of its parts"
        f" ({known.runtime}, {known.date})",
        "fuse in spite of that: --cost off",
    )


def _named(op_type: str, domain: str) -> str:
    return f"{domain}::{op_type}" if domain else op_type
