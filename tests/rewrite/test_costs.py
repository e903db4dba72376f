from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.rewrite import costs

TABLE = """
target = "cpu"
runtime = "onnxruntime 1.31.1"
device = "a laptop"
date = "2026-11-15"

[[costs]]
domain = "com.microsoft"
operator = "Slow"
dtype = "f32"
shape = [1, 8]
parts_us = 2.0
fused_us = 6.0
"""


def test_a_table_is_read_as_written() -> None:
    (cost,) = costs.parse(TABLE).costs
    assert (cost.operator, cost.shape, cost.ratio) == ("Slow", (1, 8), 3.0)


def test_the_ratio_is_the_geometric_mean_over_the_measured_shapes() -> None:
    ratio = costs.ratio("SkipLayerNormalization", "com.microsoft", ir.DataType.FLOAT, "cpu")
    rows = [c.ratio for c in costs.table("cpu").costs if c.operator == "SkipLayerNormalization"]
    assert len(rows) > 1
    assert ratio is not None
    assert min(rows) <= ratio <= max(rows)


def test_what_was_never_measured_has_no_ratio() -> None:
    assert costs.ratio("Gelu", "", ir.DataType.FLOAT16, "cpu") is None
    assert costs.ratio("Gelu", "", ir.DataType.FLOAT16, "cuda") is None


def test_every_measured_operator_is_one_that_the_target_runs() -> None:
    from burnish.rewrite import kernels

    for cost in costs.table("cpu").costs:  # on a GPU, operators are there that no rule writes
        dtype = kernels.TYPES[cost.dtype]
        assert kernels.support(cost.operator, cost.domain, dtype, "cpu") is not None


def test_a_key_that_is_not_known_is_an_error() -> None:
    with pytest.raises(TypeError, match="speed"):
        costs.parse(TABLE + "speed = 3\n")
