"""Machine code: what is compiled runs and is loaded again; what is wrong raises, none crashes."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.codegen.cpu import compile as machine_code
from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.compile import assembly, compile_module, load, object_code
from burnish.codegen.cpu.target import TARGETS, InstructionSet, available, detect
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.tile.expr import Argument, call
from codegen.cpu.element_kernels import on_each_target, text
from codegen.models import MACHINE

TWICE = """
define double @twice(double %x) {{
  %y = fmul double %x, {factor}.0
  ret double %y
}}
"""
SINE = """
declare double @sin(double)
define double @sine(double %x) {
  %y = call double @sin(double %x)
  ret double %y
}
"""
SUM = """
define double @sum(ptr %x, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %t, %loop ]
  %p = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %p
  %t = fadd reassoc double %s, %v
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret double %t
}
"""


def function(address: int) -> ctypes._CFuncPtr:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)


@on_each_target
def test_code_runs_and_may_call_the_system(target: InstructionSet) -> None:
    assert function(compile_module(TWICE.format(factor=2), target).address("twice"))(3) == 6
    assert function(compile_module(SINE, target).address("sine"))(0.5) == pytest.approx(0.479425538)


@on_each_target
def test_object_code_is_loaded_again(target: InstructionSet) -> None:
    compiled = compile_module(SINE, target)
    again = load(compiled.object_code, target)
    assert again == compiled
    assert function(again.address("sine"))(0.5) == function(compiled.address("sine"))(0.5)


def test_object_code_is_loaded_in_another_process(tmp_path: Path) -> None:
    stored = tmp_path / "kernel.o"
    stored.write_bytes(compile_module(SINE, detect()).object_code)
    program = f"""
import ctypes, pathlib
from burnish.codegen.cpu.compile import load
from burnish.codegen.cpu.target import detect
loaded = load(pathlib.Path({str(stored)!r}).read_bytes(), detect())
sine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(loaded.address("sine"))
print(f"{{sine(0.5):.6f}}")
"""
    run = [sys.executable, "-c", program]
    assert subprocess.run(run, check=True, capture_output=True, text=True).stdout == "0.479426\n"


def test_code_stays_loaded_while_its_object_lives() -> None:
    kept = compile_module(TWICE.format(factor=2), detect())
    twice = function(kept.address("twice"))
    for factor in range(3, 8):
        compile_module(TWICE.format(factor=factor), detect()).address("twice")
    gc.collect()
    assert function(kept.address("twice"))(3) == twice(3) == 6


def test_threads_may_compile_at_once() -> None:
    def product(factor: int) -> float:
        compiled = compile_module(TWICE.format(factor=factor), detect())
        return float(function(compiled.address("twice"))(10))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(product, range(2, 26))) == [10.0 * factor for factor in range(2, 26)]


def test_a_missing_function_is_named() -> None:
    compiled = compile_module(TWICE.format(factor=2), detect())
    with pytest.raises(KeyError, match="the compiled module has no function 'thrice'"):
        compiled.address("thrice")


def test_a_call_of_what_is_not_there_raises() -> None:
    broken = SINE.replace("@sin(", "@no_such_sine(")
    with pytest.raises(KeyError, match="calls 'no_such_sine', which is not in this process"):
        compile_module(broken, detect())


def test_text_that_is_no_module_raises() -> None:
    with pytest.raises(RuntimeError, match="expected type"):
        compile_module("define nonsense", detect())


@pytest.mark.parametrize("end", [0, 100, -40])
def test_bytes_that_are_no_code_are_refused(end: int) -> None:
    bad = compile_module(SINE, detect()).object_code[:end]
    with pytest.raises(ModelError, match="bytes that should be machine code are not: ") as caught:
        load(bad, detect())
    assert str(caught.value).startswith(f"{len(bad)} bytes")
    assert caught.value.hint == "compile the model again"


def test_code_for_another_processor_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    portable = TARGETS["portable"]
    code = compile_module(SINE, available()[-1]).object_code
    monkeypatch.setattr(machine_code, "available", lambda: (portable,))
    with pytest.raises(MissingCapabilityError) as caught:
        load(code, TARGETS["avx512"])
    assert caught.value.problem == "this processor cannot run code for avx512"
    assert caught.value.hint == "compile the model here: it can run portable"
    with pytest.raises(MissingCapabilityError, match="cannot run code for avx512"):
        object_code(SINE, TARGETS["avx512"])


def test_loops_are_left_as_they_were_written() -> None:
    listing = assembly(SUM, TARGETS["avx2"])
    assert listing.count("vaddsd") == 1
    assert "vaddpd" not in listing


def test_wide_registers_are_used_where_there_are_any() -> None:
    expr = call("exp", Argument(0, "f32"))
    assert "%zmm" in assembly(text(expr, 1, 16), TARGETS["avx512"])
    avx2 = assembly(text(expr, 1, 8), TARGETS["avx2"])
    assert "%ymm" in avx2
    assert "%zmm" not in avx2
    assert "%ymm" not in assembly(text(expr, 1, 4), TARGETS["portable"])


def test_code_that_is_only_written_down_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = compile_module(SINE, detect()).object_code

    def linker() -> None:
        raise AssertionError("nothing needs to be linked")

    monkeypatch.setattr(machine_code, "_linker", linker)
    assert object_code(SINE, detect()) == loaded
    backend = CpuBackend(detect(), MACHINE, "a CPU")
    assert "kernels/sine.o" in backend.build({"sine": SINE}).files
