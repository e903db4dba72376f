"""Plans for ARM, run by QEMU: a program of their linked code and of all memory that they use.

There is no ARM compiler in this, and no C library: memory is laid out here, a few instructions of
our own call the loop that runs kernels, and what comes out is what they write. A kernel that calls
the C library, for numbers that are rare, would jump to address 0 and end the program.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from burnish.codegen.cpu import driver
from burnish.codegen.cpu.compile import object_code
from burnish.codegen.cpu.image import Image, link
from burnish.codegen.cpu.target import InstructionSet
from burnish.codegen.place import BuiltPlan
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.runtime.buffers import SLACK_BYTES
from burnish.runtime.cpu.loop_table import step_row
from burnish.runtime.cpu.runner import launch_of
from burnish.runtime.host_memory import PAGE_BYTES
from burnish.runtime.plan import KernelStep, Plan, loops

EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
WHY_NOT = "no emulator of ARM here: apt-get install qemu-user-static"

_START, _CODE, _MEMORY = 0x400000, 0x401000, 0x20000000
"""Where the first instructions lie, those of the plan, and what they read and write."""
_WRITE, _EXIT = 64, 93
"""Numbers of calls of Linux on ARM."""


def run(made: BuiltPlan, feeds: Arrays, target: InstructionSet, folder: Path) -> dict[str, Array]:
    """Return what a plan of kernels alone gives, on an emulated processor that has everything."""
    image = linked(made, target)
    functions = {name: _CODE + place for name, place in image.table.symbols.items()}
    memory = _Memory(made, feeds)
    rows = np.array(
        [
            step_row(functions[step.kernel], memory.arguments(step, time), step.launch["tiles"], 1)
            for step, time in _calls(made.plan)
        ],
        np.int64,
    )
    scratch = max(launch_of(step).scratch_bytes for step in made.plan.kernel_steps)
    given = (memory.place(rows.tobytes()), len(rows), memory.place(bytes(scratch)))
    first = _instructions(functions["burnish_alone"], given)
    for name in made.plan.outputs:
        first += _system(_WRITE, 1, memory.at[name], made.plan.tensors[name].bytes or 0)
    program = folder / "program"
    program.write_bytes(_program(first + _system(_EXIT, 0), image.code, memory.content))
    program.chmod(0o755)
    command = [EMULATOR or "", "-cpu", "max", str(program)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    return _outputs(made.plan, done.stdout)


def linked(made: BuiltPlan, target: InstructionSet) -> Image:
    """Return the kernels of a plan and the loop that runs them, as folders hold them."""
    texts = (*made.kernels.values(), driver.ir_text(target.family))
    return link([object_code(text, target) for text in texts])


class _Memory:
    """All that kernels read and write, at the addresses that it will have."""

    def __init__(self, made: BuiltPlan, feeds: Arrays) -> None:
        self.content = bytearray()
        self.at: dict[str, int] = {}
        self._plan = made.plan
        arena = self.place(bytes(made.plan.arena_bytes))
        for name, tensor in made.plan.tensors.items():
            if tensor.home == "arena":
                self.at[name] = arena + tensor.offset
                continue
            array = feeds.get(name, made.constants.get(name))
            empty = bytes(tensor.bytes or 0)
            self.at[name] = self.place(empty if array is None else array.tobytes())

    def place(self, content: bytes) -> int:
        """Return where bytes lie, with room behind them as buffers have it."""
        address = _MEMORY + len(self.content)
        size = len(content) + SLACK_BYTES
        self.content += content + bytes(SLACK_BYTES + -size % PAGE_BYTES)
        return address

    def arguments(self, step: KernelStep, time: int) -> int:
        """Return where the addresses lie that a kernel is given when it runs for this time."""
        addresses = []
        for place, name in enumerate(step.arguments):
            strip = step.strip(place)
            if strip is None:
                addresses.append(self.at[name])
            else:
                tensor = strip.initial if strip.initial and not time else name
                addresses.append(self.at[tensor] + strip.begin(time))
        return self.place(struct.pack(f"<{len(addresses)}q", *addresses))


def _calls(plan: Plan) -> Iterator[tuple[KernelStep, int]]:
    """Yield the kernels of a plan as they run, those of a loop in turns, with the turn."""
    for numbers in loops(plan.steps):
        steps = [step for n in numbers if isinstance(step := plan.steps[n], KernelStep)]
        for time in range(steps[0].repeat.times if steps[0].repeat else 1):
            yield from ((step, time) for step in steps)


def _outputs(plan: Plan, written: bytes) -> dict[str, Array]:
    found, begin = {}, 0
    for name in plan.outputs:
        tensor = plan.tensors[name]
        end = begin + (tensor.bytes or 0)
        content = np.frombuffer(written[begin:end], array_type(tensor.dtype))
        found[name], begin = content.reshape(tensor.shape or ()), end
    assert begin == len(written)
    return found


def _instructions(function: int, arguments: tuple[int, ...]) -> bytes:
    """Return code that calls a function (BLR x16)."""
    return _registers({**dict(enumerate(arguments)), 16: function}) + _words(0xD63F0000 | 16 << 5)


def _system(number: int, *arguments: int) -> bytes:
    """Return code that calls the system (SVC): its arguments, and in x8 what it is to do."""
    return _registers({**dict(enumerate(arguments)), 8: number}) + _words(0xD4000001)


def _registers(numbers: dict[int, int]) -> bytes:
    """Return code that puts numbers into registers, 16 bits at a time (MOVZ, then MOVK)."""
    return b"".join(
        _words(
            (0xF2800000 if part else 0xD2800000) | part << 21 | (n >> 16 * part & 0xFFFF) << 5 | r
        )
        for r, n in numbers.items()
        for part in range(4)
    )


def _words(*words: int) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _program(first: bytes, code: bytes, memory: bytes) -> bytes:
    """Return an executable for ARM's Linux: two segments, code and memory, page by page."""
    assert len(first) <= _CODE - _START
    code = _whole_pages(first) + _whole_pages(code)
    segments = [(5, _START, PAGE_BYTES, code), (6, _MEMORY, PAGE_BYTES + len(code), bytes(memory))]
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 2, 183, 1, _START, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    for flags, address, offset, content in segments:
        size = len(content)
        header += struct.pack(
            "<IIQQQQQQ", 1, flags, offset, address, address, size, size, PAGE_BYTES
        )
    return _whole_pages(header) + code + bytes(memory)


def _whole_pages(content: bytes) -> bytes:
    return content + bytes(-len(content) % PAGE_BYTES)
