"""All that one run of the workflow found: what a page is made of, and what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnish.analyze.advise import Advice
from burnish.analyze.profile import Profile
from burnish.bench.measure import BenchReport
from burnish.core.steps import StepMark
from burnish.parity.report import VerifyReport
from burnish.rewrite.result import RewriteReport

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class RunReport:
    """One model before and after: what was done, whether it is the same, whether it is faster."""

    model: str
    """How people call it."""
    original: str
    optimized: str
    """How the two are named on a command line."""
    source_key: str
    """The sha256 of the original's files."""
    created: str
    burnish_version: str
    command: str
    """The command line that does all of it again."""
    rewrite: RewriteReport
    parity: VerifyReport
    bench: BenchReport
    profile: tuple[Profile, ...]
    """The original first, the optimised model last; empty when no engine could tell."""
    steps: tuple[StepMark, ...]
    files: Mapping[str, str]
    """What was written: what it is → path, relative to the page."""
    smaller: tuple[Advice, ...] = ()
    """What fewer bits and fewer weights are predicted to give; neither was made."""
