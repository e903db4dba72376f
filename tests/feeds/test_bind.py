from __future__ import annotations

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.core.tensors import Dim, TensorSpec
from burnish.feeds.bind import bind


def ids(*shape: Dim, name: str = "input_ids", dtype: str = "i64") -> TensorSpec:
    return TensorSpec(name, dtype, shape)


def test_known_names_have_defaults() -> None:
    bound = bind([ids("batch_size", "sequence_length")], {})
    assert bound.sizes == {"batch_size": 1, "sequence_length": 128}
    assert bound.shapes == {"input_ids": (1, 128)}
    assert bound.notes == ()


@pytest.mark.parametrize(
    ("symbol", "size"),
    [
        ("batch", 1), ("N", 1), ("Batch_Size", 1), ("seq_len", 128), ("sequence", 128),
        ("encoder_sequence_length", 128), ("past_sequence_length", 16), ("num_tokens", 128),
        ("height", 224), ("W", 224), ("num_channels", 3), ("num_frames", 100), ("num_choices", 2),
        ("num_samples", 16_000), ("num_boxes", 8), ("num_beams", 1), ("num_images", 1),
    ],
)  # fmt: skip
def test_each_kind_of_name_has_its_default(symbol: str, size: int) -> None:
    assert bind([ids(symbol, dtype="f32")], {}).sizes == {symbol: size}


def test_the_user_overrides_defaults() -> None:
    assert bind([ids("batch", "sequence")], {"batch": 8}).shapes["input_ids"] == (8, 128)


def test_a_size_of_zero_is_a_size() -> None:
    assert bind([ids("batch", "sequence")], {"sequence": 0}).shapes["input_ids"] == (1, 0)


def test_expressions_follow_their_parts() -> None:
    mask = ids("batch", "past_sequence_length + sequence_length", name="attention_mask")
    bound = bind([ids("batch", "sequence_length"), mask], {"past_sequence_length": 5})
    assert bound.shapes["attention_mask"] == (1, 133)


def test_a_total_is_past_and_sequence() -> None:
    past = ids("batch", 4, "past_length", 8, name="past_key_0", dtype="f32")
    mask = ids("batch", "total_sequence_length", name="attention_mask")
    bound = bind([ids("batch", "sequence_length"), mask, past], {"sequence_length": 3})
    assert bound.shapes["attention_mask"] == (1, 19)


def test_a_total_of_nothing_is_zero() -> None:
    mask = ids("batch", "total_sequence_length", name="attention_mask")
    bound = bind([ids("batch", "sequence_length"), mask], {"sequence_length": 0})
    assert bound.shapes["attention_mask"] == (1, 0)


def test_a_total_that_is_bound_stays() -> None:
    mask = ids("batch", "total_length", name="attention_mask")
    bound = bind([ids("batch", "sequence_length"), mask], {"total_length": 9})
    assert bound.shapes["attention_mask"] == (1, 9)


def test_nameless_dimensions_are_told_from_their_place() -> None:
    past = ids("s0", 4, "s2", 8, name="past_key_0", dtype="f32")
    mask = ids("s0", "s1 + s2", name="attention_mask")
    bound = bind([mask, ids("s0", "s1"), past], {})
    assert bound.sizes == {"s0": 1, "s1": 128, "s2": 16}
    assert bound.shapes["attention_mask"] == (1, 144)
    assert (
        "s2 (dimension 2 of past_key_0) is taken for past; bind it with --shape s2=SIZE"
        in bound.notes
    )


def test_a_nameless_mask_beside_a_past_covers_both() -> None:
    past = ids("s0", 4, "s2", 8, name="past_key_0", dtype="f32")
    bound = bind([ids("s0", "s1"), ids("s0", "s3", name="attention_mask"), past], {})
    assert bound.shapes["attention_mask"] == (1, 144)


@pytest.mark.parametrize(
    ("shape", "bound_shape"),
    [
        (("unk__3", 3, "unk__4", "unk__5"), (1, 3, 224, 224)),
        (("x_dim_0", "x_dim_1", "x_dim_2", 3), (1, 224, 224, 3)),
    ],
)
def test_nameless_images_are_224_square(
    shape: tuple[Dim, ...], bound_shape: tuple[int, ...]
) -> None:
    assert bind([ids(*shape, name="x", dtype="f32")], {}).shapes["x"] == bound_shape


def test_every_guess_is_noted() -> None:
    assert bind([ids("s77", "s78")], {"s78": 4}).notes == (
        "s77 (dimension 0 of input_ids) is taken for batch; bind it with --shape s77=SIZE",
    )


def test_a_dimension_that_could_be_anything_gets_some_size_and_a_note() -> None:
    bound = bind([ids("batch", "hidden", name="x", dtype="f32")], {})
    assert bound.shapes["x"] == (1, 8)
    said = "hidden (dimension 1 of x) is 8, for nothing tells its size"
    assert bound.notes == (f"{said}; bind it with --shape hidden=SIZE",)


def test_a_nameless_dimension_that_could_be_anything_can_be_bound() -> None:
    assert bind([ids("s0", 80, "s1", name="x", dtype="f32")], {}).shapes["x"] == (1, 80, 8)
    assert bind([ids("s0", 80, "s1", name="x", dtype="f32")], {"s1": 9}).shapes["x"] == (1, 80, 9)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="--shape batch: no input has such a dimension") as error:
        bind([ids("batch_size", "sequence")], {"batch": 2})
    assert error.value.hint == "did you mean 'batch_size'? known: batch_size, sequence"


@pytest.mark.parametrize("dim", ["seq - 10", "4//seq"])
def test_sizes_that_cannot_be_are_refused(dim: str) -> None:
    with pytest.raises(UsageError, match="cannot have a size with seq=0") as error:
        bind([ids("batch", dim), ids("batch", "seq", name="other")], {"seq": 0})
    assert error.value.hint == "bind other sizes: --shape seq=SIZE"


def test_unknown_rank_needs_data() -> None:
    with pytest.raises(ModelError, match="does not say how many dimensions it has") as error:
        bind([ids("...")], {})
    assert error.value.hint == "pass inputs of your own with --data FILE.npz"


def test_past_and_sequence_together_stay_within_the_positions() -> None:
    past = ids("batch", 4, "past_length", 8, name="past_key_0", dtype="f32")
    bound = bind([ids("batch", "sequence"), past], {}, longest=40)
    assert bound.sizes == {"batch": 1, "sequence": 24, "past_length": 16}
    assert bound.notes == ("sequence is 24, as the model has 40 positions",)


def test_a_sequence_is_never_shortened_to_nothing() -> None:
    past = ids("batch", 4, "past_length", 8, name="past_key_0", dtype="f32")
    assert bind([ids("batch", "sequence"), past], {}, longest=4).sizes["sequence"] == 1


def test_nameless_symbols_follow_what_is_asked_of_another_with_the_same_meaning() -> None:
    mask = ids("s43", "s53", name="attention_mask")
    bound = bind([ids("s72", "s70"), mask], {"s72": 4, "s70": 9})
    assert bound.shapes == {"input_ids": (4, 9), "attention_mask": (4, 9)}


def test_named_sequences_are_independent_but_batches_are_not() -> None:
    encoder = ids("encoder_batch", "encoder_sequence", name="encoder_ids")
    decoder = ids("decoder_batch", "decoder_sequence", name="decoder_ids")
    bound = bind([encoder, decoder], {"encoder_batch": 3, "encoder_sequence": 9})
    assert bound.shapes == {"encoder_ids": (3, 9), "decoder_ids": (3, 128)}
