"""Distances in code: what is written is read again as the manual of the processor has it."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.cpu.relocations import AARCH64, PAGE_BYTES, X86_64, Family, NotLinkableError

PREL64, PREL32, ADR, ADRP, ADD, BRANCH, CALL = 260, 261, 274, 275, 277, 282, 283
LOADS = {278: 1, 284: 2, 285: 4, 286: 8, 299: 16}
"""By relocation, the bytes that are loaded."""
CODE_BYTES = 1 << 15
PLACES = st.integers(0, CODE_BYTES // 4 - 1).map(lambda word: 4 * word)
INSTRUCTIONS = st.integers(0, 2**32 - 1)


def filled(kind: int, at: int, target: int, word: int = 0) -> int:
    """Return an instruction after a place in it was filled in."""
    code = bytearray(CODE_BYTES)
    struct.pack_into("<I", code, at, word)
    AARCH64.fill(kind)(code, at, target)
    return int(struct.unpack_from("<I", code, at)[0])


def signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >> bits - 1 else number


def split(word: int) -> int:
    """Return the number in ADR and ADRP: bits 5 to 23 are its upper ones, 29 and 30 its lower."""
    return signed((word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3, 21)


def bits_of(first: int, count: int) -> int:
    return ((1 << count) - 1) << first


@pytest.mark.parametrize("kind", [BRANCH, CALL])
@given(at=PLACES, target=PLACES, word=INSTRUCTIONS)
def test_a_branch_leads_to_its_target(kind: int, at: int, target: int, word: int) -> None:
    found = filled(kind, at, target, word)
    assert at + 4 * signed(found & bits_of(0, 26), 26) == target
    assert found & ~bits_of(0, 26) == word & ~bits_of(0, 26)


@given(at=PLACES, target=st.integers(0, CODE_BYTES), word=INSTRUCTIONS)
def test_a_page_and_the_place_in_it_are_an_address_wherever_code_lies(
    at: int, target: int, word: int
) -> None:
    kept = ~(bits_of(5, 19) | bits_of(29, 2))
    page, inside = filled(ADRP, at, target, word), filled(ADD, at, target, word)
    assert page & kept == word & kept
    assert inside & ~bits_of(10, 12) == word & ~bits_of(10, 12)
    for start in (0, 0x7F0012345000):
        first = (start + at) // PAGE_BYTES * PAGE_BYTES + PAGE_BYTES * split(page)
        assert first + (inside >> 10 & 0xFFF) == start + target


@given(at=PLACES, distance=st.integers(-(1 << 20), (1 << 20) - 1))
def test_a_near_address_is_a_distance(at: int, distance: int) -> None:
    assert split(filled(ADR, at, at + distance)) == distance


@pytest.mark.parametrize(("kind", "size"), LOADS.items())
@given(number=st.integers(0, CODE_BYTES // 16), word=INSTRUCTIONS)
def test_a_load_tells_its_place_in_units_of_what_it_loads(
    kind: int, size: int, number: int, word: int
) -> None:
    target = number * size
    found = filled(kind, 0, target, word)
    assert (found >> 10 & 0xFFF) * size == target % PAGE_BYTES
    assert found & ~bits_of(10, 12) == word & ~bits_of(10, 12)


@pytest.mark.parametrize(("kind", "size"), [each for each in LOADS.items() if each[1] > 1])
def test_a_load_from_between_two_units_is_refused(kind: int, size: int) -> None:
    text = f"it loads {size} bytes from a place that is no multiple of it"
    with pytest.raises(NotLinkableError, match=text):
        filled(kind, 0, size + 1)


@given(at=PLACES, target=PLACES)
def test_data_hold_distances(at: int, target: int) -> None:
    code = bytearray(CODE_BYTES + 8)
    AARCH64.fill(PREL64)(code, at, target)
    assert at + struct.unpack_from("<q", code, at)[0] == target
    for family, kind in ((AARCH64, PREL32), (X86_64, 2), (X86_64, 4)):
        family.fill(kind)(code, at, target)
        assert at + struct.unpack_from("<i", code, at)[0] == target


@pytest.mark.parametrize(
    ("kind", "distance", "bits"),
    [(CALL, 1 << 27, 28), (ADR, -(1 << 20) - 1, 21), (ADRP, 1 << 32, 21), (PREL32, 1 << 31, 32)],
)
def test_what_is_too_far_is_refused(kind: int, distance: int, bits: int) -> None:
    with pytest.raises(NotLinkableError, match=rf"it is too large: .* does not fit {bits} bits"):
        filled(kind, 0, distance)


@pytest.mark.parametrize("family", [AARCH64, X86_64])
def test_an_address_cannot_be_filled_in(family: Family) -> None:
    absolute = {"AArch64": 257, "x86-64": 1}[family.name]
    text = f"it has a relocation of kind {absolute}, unknown of {family.name}"
    with pytest.raises(NotLinkableError, match=text):
        family.fill(absolute)
