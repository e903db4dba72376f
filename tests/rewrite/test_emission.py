from __future__ import annotations

import onnx_ir as ir

from burnish.rewrite.emission import CONTRIB, refusal
from burnish.rewrite.options import Conversion, OptimizeOptions, PrecisionRequest
from burnish.rewrite.rule import Refusal

F32 = ir.DataType.FLOAT


def test_an_operator_that_runs_and_pays_may_be_written() -> None:
    assert refusal("LayerNormalization", "", F32, OptimizeOptions()) is None
    assert refusal("QuickGelu", CONTRIB, F32, OptimizeOptions()) is None


def test_contrib_operators_are_refused_when_only_standard_ones_are_wanted() -> None:
    assert refusal("QuickGelu", CONTRIB, F32, OptimizeOptions(ops="standard")) == Refusal(
        "com.microsoft::QuickGelu is not an operator of ONNX, and only those were asked for",
        "allow ONNX Runtime's own operators: --ops auto",
    )


def test_an_operator_without_a_kernel_is_refused() -> None:
    assert refusal("GroupNorm", CONTRIB, F32, OptimizeOptions()) == Refusal(
        "com.microsoft::GroupNorm has no kernel for FLOAT in CPUExecutionProvider",
        "optimize for another target (--target), or in another floating type",
    )


def test_an_operator_that_is_slower_than_its_parts_is_refused_unless_costs_are_off() -> None:
    answer = refusal("SkipLayerNormalization", CONTRIB, F32, OptimizeOptions())
    assert answer is not None
    assert answer.reason.startswith("com.microsoft::SkipLayerNormalization takes ")
    assert "x the time of its parts (onnxruntime " in answer.reason
    assert answer.remedy == "fuse in spite of that: --cost off"
    assert refusal("SkipLayerNormalization", CONTRIB, F32, OptimizeOptions(cost="off")) is None
    assert refusal("SkipLayerNormalization", CONTRIB, F32, OptimizeOptions(target="cuda")) is None


def test_what_becomes_f16_is_judged_in_f16_where_that_has_a_kernel() -> None:
    conversion = Conversion(numbers=PrecisionRequest())
    later = OptimizeOptions(cost="off", target="cuda", conversion=conversion)
    wanted = ("GroupQueryAttention", CONTRIB, F32)
    assert refusal(*wanted, OptimizeOptions(cost="off", target="cuda")) is not None
    assert refusal(*wanted, later) is None


def test_what_has_no_f16_kernel_is_judged_in_f32_which_it_will_stay_in() -> None:
    options = OptimizeOptions(cost="off", conversion=Conversion(numbers=PrecisionRequest()))
    assert refusal("QuickGelu", CONTRIB, F32, options) is None


def test_a_type_that_nobody_knows_is_said_to_be_unknown() -> None:
    found = refusal("Gelu", CONTRIB, None, OptimizeOptions())
    assert found is not None
    assert "the element type in which com.microsoft::Gelu would run is not known" in found.reason
    assert "None" not in found.reason
