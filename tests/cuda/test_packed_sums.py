"""Pairs of 16-bit integers are added one by one: an assembler loses one of them."""

from __future__ import annotations

import pytest

from burnish.cuda import triton_worker
from burnish.cuda.build import build
from burnish.cuda.kernel import BuiltCubin
from burnish.cuda.packed_sums import apart, packed_sums
from burnish.cuda.triton_worker import CompileTask
from triton_kernels import SOURCES

WINDOW = SOURCES["window"]


def test_sums_of_pairs_become_two_sums() -> None:
    found = apart("\tadd.s32 %r1, %r2, %r3;\n\tadd.s16x2 \t%r4, %r5, 2228258;\n")
    assert found.startswith("\tadd.s32 %r1, %r2, %r3;\n\t{\n")
    assert "mov.b32 %both0, %r5;" in found
    assert "mov.b32 %both1, 2228258;" in found
    assert "mov.b32 %r4, {%one0, %one1};" in found
    assert not packed_sums(found)


def test_what_cannot_be_taken_apart_is_seen() -> None:
    text = "\t@%p1 add.u16x2 %r4, %r5, %r6;\n"
    assert packed_sums(apart(text))


def test_a_kernel_that_would_have_them_is_assembled_without() -> None:
    pytest.importorskip("triton")
    (found,) = build([WINDOW], "sm_90")
    assert isinstance(found, BuiltCubin)


def test_triton_may_ask_first_what_its_cache_is_to_tell_such_kernels_by() -> None:
    knobs = pytest.importorskip("triton").knobs
    with knobs.runtime.scope():
        triton_worker.add_one_by_one()
        hook = knobs.runtime.add_stages_inspection_hook
        key, content = hook()  # as Triton 3.9 does, before it compiles
        stages = {"ptx": lambda source, _metadata: source}
        assert hook(object(), stages, object(), object(), 90) is None
    assert key
    assert key == content
    assert "add.s16x2" not in stages["ptx"]("\tadd.s16x2 \t%r4, %r5, 2228258;\n", {})


def test_a_kernel_that_still_has_them_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    knobs = pytest.importorskip("triton").knobs
    monkeypatch.setattr(triton_worker, "apart", lambda ptx: ptx)
    refused = pytest.raises(ValueError, match="adds pairs of 16-bit integers")
    with knobs.cache.scope(), knobs.compilation.scope(), knobs.runtime.scope(), refused:
        triton_worker.build(CompileTask(WINDOW, "sm_90"))
