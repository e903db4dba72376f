"""What is written around a block is noticed."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal

import pytest

from burnish.codegen.cpu.trials.guarded import GuardedBlock
from burnish.core.placing import ALIGNMENT
from burnish.runtime.buffers import SLACK_BYTES
from burnish.runtime.host_memory import address_of


@pytest.mark.parametrize("size", [0, 1, 64, 4095, 4096, 100_000])
def test_a_block_can_be_written_and_begins_at_a_line(size: int) -> None:
    block = GuardedBlock(size)
    block.bytes[:] = 7
    assert block.bytes.nbytes == size
    assert address_of(block.bytes) % ALIGNMENT == 0
    assert block.finding() == ""


@pytest.mark.parametrize(("offset", "where"), [(-1, "before"), (100, "behind")])
def test_a_byte_beside_the_block_is_noticed_once(offset: int, where: str) -> None:
    block = GuardedBlock(100)
    ctypes.c_char.from_address(address_of(block.bytes) + offset).value = b"x"
    assert block.finding() == f"it wrote {where} the tensor"
    assert block.finding() == ""


def ends_by(action: object) -> int:
    """Return the signal that ends a process which does this."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        action()  # type: ignore[operator]
        os._exit(0)
    return -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_further_away_nothing_can_be_read() -> None:
    block = GuardedBlock(4096)
    start = address_of(block.bytes)
    read = ctypes.c_char.from_address
    assert ends_by(lambda: read(start + 4096 + SLACK_BYTES - 1).value) == 0
    assert ends_by(lambda: read(start + 4096 + SLACK_BYTES + ALIGNMENT).value) == signal.SIGSEGV
    assert ends_by(lambda: read(start - 4096 - ALIGNMENT).value) == signal.SIGSEGV


def test_a_sealed_block_cannot_be_written() -> None:
    block = GuardedBlock(100)
    block.bytes[:] = 3
    block.seal()
    assert (block.bytes == 3).all()

    def write() -> None:
        block.bytes[0] = 4

    assert ends_by(write) == signal.SIGSEGV
