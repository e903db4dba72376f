"""Libraries cut to one kind of card: what is emptied, what stays, and that nothing moves."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from h200.fatbins import MACHINE_CODE, MAGIC, LibraryError, boxes, cut, main
from hypothesis import given
from hypothesis import strategies as st

TEXT = 1
Entries = list[tuple[int, int, bytes]]
"""Kind, kind of card, contents."""


def entry(kind: int, arch: int, content: bytes) -> bytes:
    head = struct.pack("<HHIQ", kind, 0x101, 64, len(content))
    return (head.ljust(28, b"\0") + struct.pack("<I", arch)).ljust(64, b"\0") + content


def box(entries: Entries) -> bytes:
    inside = b"".join(entry(*each) for each in entries)
    whole = struct.pack("<IHHQ", MAGIC, 1, 16, len(inside)) + inside
    return whole + b"\0" * (-len(whole) % 8)


def library(every: list[Entries], section: bytes = b".nv_fatbin") -> bytearray:
    """Return an ELF file with two sections: names, and boxes."""
    names, content = b"\0" + section + b"\0", b"".join(map(box, every))
    first = 64 + len(names) + (-len(names) % 8)
    table = first + len(content)
    head = b"\x7fELF\x02".ljust(0x28, b"\0") + struct.pack("<Q", table)
    head = head.ljust(0x3A, b"\0") + struct.pack("<HHH", 64, 2, 0)
    rows = [(0, 3, 0, 0, 64, len(names)), (1, 1, 0, 0, first, len(content))]
    told = b"".join(struct.pack("<IIQQQQ", *row).ljust(64, b"\0") for row in rows)
    return bytearray(head.ljust(64, b"\0") + names.ljust(first - 64, b"\0") + content + told)


def contents(data: bytes | bytearray) -> list[list[bytes]]:
    return [[bytes(data[e.first : e.first + e.bytes]) for e in found] for found in boxes(data)]


MIXED: Entries = [(MACHINE_CODE, 80, b"eighty!!"), (MACHINE_CODE, 90, b"ninety!!"),
                  (TEXT, 90, b"portable")]  # fmt: skip
ALONE: Entries = [(MACHINE_CODE, 90, b"experts!")]


def test_only_machine_code_for_the_card_stays() -> None:
    data = library([MIXED, ALONE])
    size = len(data)
    assert cut(data, 90, common=False) == {"kept": 16, "emptied": 16}
    assert len(data) == size
    assert contents(data) == [[bytes(8), b"ninety!!", bytes(8)], [b"experts!"]]


def test_what_only_this_card_has_is_left_out_if_asked_for() -> None:
    data = library([MIXED, ALONE])
    cut(data, 90, common=True)
    assert contents(data) == [[bytes(8), b"ninety!!", bytes(8)], [bytes(8)]]


drawn = st.lists(
    st.lists(
        st.tuples(st.sampled_from([TEXT, MACHINE_CODE]), st.sampled_from([75, 80, 90]),
                  st.integers(1, 9).map(lambda n: b"12345678" * n)),
        min_size=1, max_size=4,
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@given(drawn)
def test_every_box_is_found_again(every: list[Entries]) -> None:
    data = library(every)
    assert contents(data) == [[content for _, _, content in each] for each in every]
    mine = [[k == MACHINE_CODE and a == 90 for k, a, _ in each] for each in every]
    if not any(map(any, mine)):
        with pytest.raises(LibraryError, match="nothing in this library is for sm_90"):
            cut(data, 90, common=False)
        return
    cut(data, 90, common=False)
    kept = [[any(content) for content in each] for each in contents(data)]
    assert kept == mine


@pytest.mark.parametrize(("data", "why"), [
    (b"no library at all", "no library of 64 bits"),
    (bytes(library([MIXED], b".nv_nothing")), "has no kernels"),
])  # fmt: skip
def test_what_is_no_such_library_is_refused(tmp_path: Path, data: bytes, why: str) -> None:
    (tmp_path / "a.so").write_bytes(data)
    with pytest.raises(SystemExit, match=why):
        main([str(tmp_path / "a.so"), str(tmp_path / "b.so")])
    assert not (tmp_path / "b.so").exists()


def test_the_command_line_writes_another_file(tmp_path: Path) -> None:
    (tmp_path / "a.so").write_bytes(library([MIXED]))
    main([str(tmp_path / "a.so"), str(tmp_path / "b.so"), "--arch", "80"])
    assert contents((tmp_path / "b.so").read_bytes())[0][0] == b"eighty!!"
