"""What an input is for, told from its name, element type and rank."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from burnish.core.tensors import FLOATS, TensorSpec


class Role(enum.Enum):
    """What an input is for; the value is how people call it."""

    PAST = "past keys and values"
    FULL_MASK = "mask without padding"
    MASK = "attention mask"
    TOKEN_TYPES = "token types"
    POSITIONS = "positions"
    PAST_LENGTH = "length of the past"
    TIMESTEP = "diffusion time step"
    LENGTHS = "sequence lengths"
    TOKENS = "token ids"
    USE_CACHE = "whether to use the past"
    IMAGE = "image"
    FEATURES = "numbers"
    FLAG = "flags"
    INTEGERS = "integers"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class _Sign:
    """An input with one of `words` in its name, of a fitting type and rank, has `role`."""

    role: Role
    words: tuple[str, ...]
    types: str
    """Letters: f for floats, i for integers, b for bool."""
    ranks: range


_SIGNS = (
    _Sign(Role.PAST, ("past", "cache", "key_value", "kv_"), "f", range(3, 7)),
    _Sign(Role.FULL_MASK, ("pixel_mask", "image_mask", "head_mask"), "fib", range(1, 6)),
    _Sign(Role.MASK, ("mask",), "fib", range(1, 5)),
    _Sign(Role.TOKEN_TYPES, ("token_type", "segment"), "i", range(1, 4)),
    _Sign(Role.POSITIONS, ("position", "pos_ids"), "i", range(1, 4)),
    _Sign(Role.PAST_LENGTH, ("past", "seqlens_k", "total_seq", "cache_len"), "i", range(3)),
    _Sign(Role.TIMESTEP, ("timestep", "time_step"), "fi", range(2)),
    _Sign(Role.LENGTHS, ("length", "_len", "lens"), "i", range(2)),
    _Sign(Role.TOKENS, ("ids", "token", "words"), "i", range(1, 4)),
    _Sign(Role.USE_CACHE, ("use_cache",), "b", range(2)),
)
"""The first that fits wins: `past_key_values` before `values`, `token_type_ids` before `ids`."""


def role_of(spec: TensorSpec) -> Role:
    """Return what an input is for; without a telling name, what its type and rank suggest."""
    name, letter, rank = spec.name.lower(), _letter(spec.dtype), len(spec.shape)
    for sign in _SIGNS:
        named = any(word in name for word in sign.words)
        if named and letter in sign.types and rank in sign.ranks:
            return sign.role
    if spec.dtype == "u8" and rank >= 3:
        return Role.IMAGE
    match letter:
        case "f":
            return Role.IMAGE if rank == 4 else Role.FEATURES
        case "i":
            return Role.INTEGERS
        case "b":
            return Role.FLAG
        case "c":
            return Role.FEATURES
        case _:
            return Role.TEXT


def _letter(dtype: str) -> str:
    if dtype in FLOATS:
        return "f"
    if dtype == "bool":
        return "b"
    return {"i": "i", "u": "i", "c": "c"}.get(dtype[0], "s")
