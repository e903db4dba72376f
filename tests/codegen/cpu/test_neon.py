"""Kernels for ARM, compiled on any machine: linked, with the instructions that they should have."""

from __future__ import annotations

import platform
import re
import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from burnish.codegen.cpu import driver
from burnish.codegen.cpu.backend import CpuBackend, open_cpu
from burnish.codegen.cpu.compile import assembly, load, object_code
from burnish.codegen.cpu.image import link
from burnish.codegen.cpu.relocations import NotLinkableError
from burnish.codegen.cpu.target import TARGETS, available
from burnish.core import records
from burnish.core.errors import MissingCapabilityError
from burnish.hw.detect import ARM, X86
from burnish.runtime.cpu.driver import FUNCTIONS
from burnish.runtime.cpu.runner import CpuCode
from burnish.runtime.folder import IMAGE
from burnish.tile.expr import Argument, cast
from codegen.cpu.element_kernels import text
from codegen.cpu.kinds import KINDS, built

NEON = TARGETS["neon"]
ON_X86 = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="ARM is not foreign here"
)

SINE = """
declare double @sin(double)
define double @sine(double %x) {
  %y = call double @sin(double %x)
  %z = call double @sin(double %y)
  ret double %z
}
"""
ABSOLUTE = """
@table = private constant [2 x ptr] [ptr @one, ptr @two]
define double @one(double %x) { ret double %x }
define double @two(double %x) {
  %n = fptosi double %x to i64
  %p = getelementptr ptr, ptr @table, i64 %n
  %f = load ptr, ptr %p
  %y = call double %f(double %x)
  ret double %y
}
"""


@pytest.fixture
def backend() -> CpuBackend:
    return open_cpu("neon", 2)


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_of_each_kind_are_linked(kind: str, backend: CpuBackend) -> None:
    made = built(kind, backend)
    assert not made.plan.ort_steps
    assert (made.plan.target, made.plan.requires) == ("cpu: neon", (ARM,))
    code = backend.build(made.kernels)
    table = records.decode(CpuCode, dict(code.table)).image
    assert table is not None
    assert set(table.symbols) == {*made.kernels, *FUNCTIONS}
    assert not table.externals
    for place in table.symbols.values():
        assert place % 4 == 0
    for name in made.kernels:
        assert struct.unpack_from("<H", code.files[f"kernels/{name}.o"], 18) == (183,)
    jumps = list(branches(code.files[IMAGE], table.symbols))
    assert all(0 <= target < len(code.files[IMAGE]) for target in jumps)


def branches(code: bytes, symbols: dict[str, int]) -> Iterator[int]:
    """Yield where the calls (BL) lead that stand between the first and the last function."""
    for at in range(min(symbols.values()), max(symbols.values()), 4):
        (word,) = struct.unpack_from("<I", code, at)
        if word >> 26 == 0b100101:
            yield at + 4 * ((word & 0x3FFFFFF) - (word >> 25 & 1) * (1 << 26))


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("product with epilogue", r"fmla\tv\d+\.4s"),
        ("softmax", r"fmla\tv\d+\.4s"),
        ("reduction", r"fadd\tv\d+\.4s"),
        ("product of bytes", r"sadalp\tv\d+\.4s, v\d+\.8h"),
        ("convolution", r"fmla\tv\d+\.4s"),
    ],
)
def test_vectors_of_four_are_computed_at_once(kind: str, wanted: str, backend: CpuBackend) -> None:
    listings = [backend.listing(source) for source in built(kind, backend).kernels.values()]
    assert {suffix for suffix, _ in listings} == {".s"}
    assert re.search(wanted, "".join(content for _, content in listings))


@pytest.mark.parametrize(
    ("dot", "wanted", "flag"),
    [("dot4_sdot", "sdot", "asimddp"), ("dot4_usdot", "usdot", "i8mm")],
)
def test_bytes_are_multiplied_by_fours_where_a_processor_can(
    dot: str, wanted: str, flag: str, backend: CpuBackend
) -> None:
    able = replace(backend, instructions=replace(NEON, dot=dot))
    made = built("product of bytes", able)
    assert made.plan.requires == (ARM, flag)
    listing = "".join(able.listing(source)[1] for source in made.kernels.values())
    assert re.search(rf"\t{wanted}\tv\d+\.4s, v\d+\.16b", listing)
    assert "sadalp" not in listing


def test_halves_are_converted_by_instructions() -> None:
    wide = assembly(text(cast(Argument(0, "f16"), "f32"), 1, 4), NEON)
    narrow = assembly(text(cast(Argument(0, "f32"), "f16"), 1, 4), NEON)
    assert "fcvtl\tv" in wide
    assert "fcvtn\tv" in narrow
    assert "\tbl\t" not in wide + narrow


def test_a_thread_that_waits_lets_go_of_its_core() -> None:
    assert "isb" in assembly(driver.ir_text(ARM), NEON)
    assert "llvm.x86" not in driver.ir_text(ARM)
    assert "llvm.x86.sse2.pause" in driver.ir_text(X86)
    assert "@llvm." not in driver.ir_text("riscv64")


@ON_X86
def test_another_processor_is_priced_by_the_catalog_and_nothing_is_timed(
    backend: CpuBackend,
) -> None:
    assert backend.device == "another processor, priced as arm-neoverse-n1"
    assert (backend.trials, backend.features, backend.target) == ("", (), "cpu: neon")
    hw = backend.machine.hw
    assert (hw.name, hw.compute_units, hw.is_measured) == ("arm-neoverse-n1", 2, False)
    assert backend.machine.lanes("f32") == 4


def test_arm_plans_for_x86_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    found = open_cpu("avx512", 1)
    assert found.device == "another processor, priced as x86-avx512"
    assert found.trials == ""
    assert found.requires[0] == X86


@ON_X86
def test_code_for_arm_is_written_down_and_not_loaded() -> None:
    available.cache_clear()
    code = object_code(driver.ir_text(ARM), NEON)
    with pytest.raises(MissingCapabilityError) as found:
        load(code, NEON)
    assert found.value.problem == "this processor cannot run code for neon"


def test_calls_of_the_system_go_to_a_jump_with_its_address() -> None:
    image = link([object_code(SINE, NEON)])
    (place,) = image.table.externals.values()
    assert place % 8 == 0
    assert image.code[place : place + 8] == bytes(8)
    load_address, jump = struct.unpack_from("<2I", image.code, place - 8)
    # LDR x16 from what lies 8 bytes behind it, BR x16
    assert load_address == 0x58000000 | (8 // 4) << 5 | 16
    assert jump == 0xD61F0000 | 16 << 5
    # the second of the calls may be a jump
    (first, *_) = branches(image.code, {"sine": 0, "end": place - 8})
    assert first == place - 8


def test_objects_of_two_families_are_not_linked() -> None:
    loop = object_code(driver.ir_text(ARM), NEON)
    other = object_code(driver.ir_text(X86), TARGETS["portable"])
    with pytest.raises(NotLinkableError, match="it is for x86-64, and others are not"):
        link([loop, other])


def test_code_that_holds_addresses_is_not_linked_and_still_stored(backend: CpuBackend) -> None:
    with pytest.raises(NotLinkableError):
        link([object_code(ABSOLUTE, NEON)])
    code = backend.build({"two": ABSOLUTE})
    assert set(code.files) == {"kernels/two.ll", "kernels/two.o"}
    assert records.decode(CpuCode, dict(code.table)).image is None
