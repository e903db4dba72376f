"""Linked code does what the compiler's own loader makes of the same objects."""

from __future__ import annotations

import ctypes
import math
import platform
from collections.abc import Callable

import pytest

from burnish.codegen.cpu import driver
from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.image import Image, ImageTable, link
from burnish.codegen.cpu.relocations import NotLinkableError
from burnish.codegen.cpu.target import TARGETS
from burnish.hw.detect import X86
from burnish.runtime.cpu.driver import FUNCTIONS
from burnish.runtime.cpu.loaded_image import LoadedImage, system_address

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64"), reason="images are for x86-64"
)

CONSTANTS = """
define double @scaled(double %x) {
  %a = fmul double %x, 3.25
  %b = fadd double %a, 0.125
  ret double %b
}
"""

CALLS = """
declare double @sin(double)
declare double @cos(double)
define double @both(double %x) {
  %s = call double @sin(double %x)
  %c = call double @cos(double %x)
  %r = fsub double %s, %c
  %t = call double @sin(double %r)
  ret double %t
}
"""

SWITCH = """
define double @chosen(double %x) {
  %n = fptosi double %x to i64
  switch i64 %n, label %other [ i64 0, label %a i64 1, label %b i64 2, label %c i64 3, label %d
                               i64 4, label %e ]
a: ret double 10.5
b: ret double 7.25
c: ret double -3.0
d: ret double 0.75
e: ret double 99.0
other: ret double -1.0
}
"""

VARIABLE = """
@count = global i64 0
define double @next(double %x) {
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  %r = sitofp i64 %m to double
  ret double %r
}
"""


def object_code(text: str) -> bytes:
    return compile_module(text, TARGETS["portable"]).object_code


def function(address: int) -> Callable[[float], float]:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)


@pytest.mark.parametrize(
    ("text", "name"), [(CONSTANTS, "scaled"), (CALLS, "both"), (SWITCH, "chosen")]
)
def test_it_computes_what_the_compilers_loader_computes(text: str, name: str) -> None:
    compiled = compile_module(text, TARGETS["portable"])
    image = LoadedImage(link([compiled.object_code]))
    ours, theirs = function(image.address(name)), function(compiled.address(name))
    for x in (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 1e6, math.inf):
        found, expected = ours(x), theirs(x)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_several_objects_share_an_image() -> None:
    image = link([object_code(CONSTANTS), object_code(CALLS), object_code(driver.ir_text(X86))])
    assert {"scaled", "both", *FUNCTIONS} <= set(image.table.symbols)
    assert set(image.table.externals) == {"sin", "cos"}
    loaded = LoadedImage(image)
    assert function(loaded.address("scaled"))(2.0) == 6.625


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(NotLinkableError, match="there are two functions 'scaled'"):
        link([object_code(CONSTANTS), object_code(CONSTANTS)])


def test_what_can_be_written_is_refused() -> None:
    with pytest.raises(NotLinkableError, match=r"it has (data that can be written|a relocation)"):
        link([object_code(VARIABLE)])


@pytest.mark.parametrize("content", [b"", b"\x7fELF\x02\x01\x01" + bytes(100)])
def test_what_is_no_object_is_refused(content: bytes) -> None:
    with pytest.raises(NotLinkableError, match="it is no object for x86-64 or AArch64"):
        link([content])


def test_a_function_that_the_system_lacks_is_named() -> None:
    with pytest.raises(KeyError, match="the system has no function 'no_such_function'"):
        system_address("no_such_function")
    with pytest.raises(KeyError, match="no_such_function"):
        LoadedImage(Image(bytes(64), ImageTable({}, {"no_such_function": 0})))
