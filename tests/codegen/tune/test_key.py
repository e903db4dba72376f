"""Keys say under which conditions a result holds."""

from __future__ import annotations

from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.tune.key import conditions, generator_version
from burnish.hw.detect import Cpu
from burnish.version import __version__


def test_conditions_are_those_of_this_process() -> None:
    found = conditions(Cpu("a CPU", 4, None, None, ("fma", "avx2")), TARGETS["avx2"], 3)
    assert (found.device, found.features, found.target) == ("a CPU", ("avx2", "fma"), "avx2")
    assert (found.threads, found.burnish) == (3, __version__)
    assert found.generator == generator_version()
    assert found.compiler.startswith("llvmlite ")
