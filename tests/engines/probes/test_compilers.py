"""A compiler works if it compiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.engines.probes import compilers
from burnish.engines.probes.compilers import (
    Compiler,
    CompilerPackage,
    compiler_finding,
    library_finding,
)
from burnish.engines.probes.findings import Status


def fake(folder: Path, body: str) -> Compiler:
    program = folder / "fakecc"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return Compiler("fake", (str(program),), "c", "for tests", "apt install fake")


def test_a_compiler_that_compiles_works(tmp_path: Path) -> None:
    finding = compiler_finding(fake(tmp_path, "echo fakecc 1.2.3"))
    assert (finding.status, finding.version, finding.remedy) == (Status.WORKS, "1.2.3", "")


def test_a_compiler_that_fails_is_broken(tmp_path: Path) -> None:
    body = '[ "$1" = --version ] && exit 0\necho no headers >&2; exit 1'
    finding = compiler_finding(fake(tmp_path, body))
    assert finding.status is Status.BROKEN
    assert finding.detail.endswith("fakecc: no headers")
    assert finding.remedy == "apt install fake"


def test_a_compiler_that_is_not_there_is_missing() -> None:
    finding = compiler_finding(Compiler("none", ("no-such-cc",), "c", "for tests", "get it"))
    assert (finding.status, finding.remedy) == (Status.MISSING, "get it")


@pytest.mark.parametrize(
    ("module", "status"),
    [("json", Status.WORKS), ("no_such_module", Status.MISSING)],
)
def test_a_library_is_imported(module: str, status: Status) -> None:
    assert library_finding(CompilerPackage(module, "for tests", "get it")).status is status


def test_triton_comes_by_itself_to_a_machine_without_a_card() -> None:
    (triton,) = (one for one in compilers.LIBRARIES if one.module == "triton")
    assert triton.remedy == "pip install triton"  # burnish[gpu] has another onnxruntime, too
    assert "on any machine" in triton.purpose


def test_a_library_that_cannot_be_imported_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilers, "version_of", lambda _: "1")
    finding = library_finding(CompilerPackage("no_such_module", "for tests", "get it"))
    assert finding.status is Status.BROKEN
    assert "No module named" in finding.detail
