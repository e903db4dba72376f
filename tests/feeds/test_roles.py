from __future__ import annotations

import pytest

from burnish.core.tensors import TensorSpec
from burnish.feeds.roles import Role, role_of


@pytest.mark.parametrize(
    ("name", "dtype", "rank", "role"),
    [
        ("input_ids", "i64", 2, Role.TOKENS),
        ("decoder_input_ids", "i32", 2, Role.TOKENS),
        ("tokens", "i64", 1, Role.TOKENS),
        ("attention_mask", "i64", 2, Role.MASK),
        ("attention_mask", "f32", 4, Role.MASK),
        ("encoder_attention_mask", "bool", 2, Role.MASK),
        ("pixel_mask", "i64", 3, Role.FULL_MASK),
        ("head_mask", "f32", 2, Role.FULL_MASK),
        ("token_type_ids", "i64", 2, Role.TOKEN_TYPES),
        ("segment_ids", "i32", 2, Role.TOKEN_TYPES),
        ("position_ids", "i64", 2, Role.POSITIONS),
        ("cache_position", "i64", 1, Role.POSITIONS),
        ("past_key_values.0.key", "f16", 4, Role.PAST),
        ("past_key_0", "f32", 4, Role.PAST),
        ("past_sequence_length", "i32", 0, Role.PAST_LENGTH),
        ("seqlens_k", "i32", 2, Role.PAST_LENGTH),
        ("total_sequence_length", "i32", 1, Role.PAST_LENGTH),
        ("input_lengths", "i64", 1, Role.LENGTHS),
        ("timestep", "f32", 0, Role.TIMESTEP),
        ("use_cache_branch", "bool", 1, Role.USE_CACHE),
        ("pixel_values", "f32", 4, Role.IMAGE),
        ("image", "u8", 4, Role.IMAGE),
        ("image", "u8", 3, Role.IMAGE),
        ("hidden_states", "bf16", 3, Role.FEATURES),
        ("spectrum", "c64", 2, Role.FEATURES),
        ("labels", "i64", 1, Role.INTEGERS),
        ("x", "u4", 2, Role.INTEGERS),
        ("flag", "bool", 1, Role.FLAG),
        ("sentence", "str", 1, Role.TEXT),
    ],
)
def test_roles_are_told_from_name_type_and_rank(
    name: str, dtype: str, rank: int, role: Role
) -> None:
    assert role_of(TensorSpec(name, dtype, (1,) * rank)) is role
