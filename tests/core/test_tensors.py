from __future__ import annotations

from burnish.core.tensors import BITS, FLOATS, TensorSpec


def test_a_spec_reads_like_a_declaration() -> None:
    spec = TensorSpec("ids", "i64", ("batch", 8, "batch", "sequence"))
    assert str(spec) == "ids: i64[batch, 8, batch, sequence]"
    assert spec.symbols == ("batch", "sequence")


def test_floats_are_floats() -> None:
    assert {"f32", "f16", "bf16", "f64"} <= FLOATS <= set(BITS)
    assert not {"bool", "i8", "u8"} & FLOATS
