"""Keys say under which conditions a result holds."""

from __future__ import annotations

from burnish.codegen.tune.cache import conditions, generator_version
from burnish.version import __version__
from codegen.models import PORTABLE


def test_conditions_are_those_of_this_process() -> None:
    found = conditions(PORTABLE)
    assert (found.device, found.target) == ("a CPU", "cpu: portable")
    assert (found.threads, found.burnish) == (1, __version__)
    assert found.generator == generator_version("cpu")
    assert found.compiler.startswith("llvmlite ")


def test_what_writes_kernels_for_cards_says_nothing_of_kernels_for_cpus() -> None:
    assert generator_version("cuda: sm_90") != generator_version("cpu: avx512")
