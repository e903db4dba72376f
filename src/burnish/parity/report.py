"""What a comparison of two runs found: records only, readable without any engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from burnish.closeness.tolerance import Tolerance
from burnish.engines.crash import Crash

SCHEMA = 2

RECORDED = "recorded"
"""What stands for the engine of outputs that were read from files."""


@dataclass(frozen=True, slots=True)
class TensorDiff:
    """How far one tensor of the candidate is from the reference."""

    name: str
    dtype: str
    elements: int
    max_abs: float
    max_rel: float
    """The largest |candidate - reference| / max(|reference|, scale)."""
    cosine: float
    top1_agreement: float | None
    """The share of rows whose largest element is the same one; None: not a tensor of scores."""
    worst_index: tuple[int, ...]
    """Where the error exceeds what is allowed by most; empty for an empty tensor or a scalar."""
    worst_reference: float
    worst_candidate: float
    non_finite_mismatches: int
    """Elements that are NaN, +Inf or -Inf on one side only."""
    passed: bool
    reason: str
    """Why it did not pass, as a sentence; empty when it did."""
    severity: float
    """The largest error in units of what is allowed: above 1 fails."""
    non_finite_shared: int = 0
    """Elements that are NaN or the same infinity on both sides: they agree, and prove nothing."""
    scale: float = 0.0
    """The typical magnitude of the reference tensor."""
    tolerance: Tolerance | None = None
    """What it was judged by; None when there was nothing to judge."""


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """One set of inputs, and what came of it."""

    label: str
    bindings: Mapping[str, int]
    diffs: tuple[TensorDiff, ...]
    """What the candidate gave when it was run."""
    problem: str = ""
    """Why the candidate could not be run on inputs that the reference takes."""
    meant: tuple[TensorDiff, ...] = ()
    """What the candidate means, in real numbers; empty: written as the reference, or not known."""
    kind: str = ""
    """What is special about the inputs."""

    @property
    def all_diffs(self) -> tuple[TensorDiff, ...]:
        """Return what was compared, meaning first."""
        return (*self.meant, *self.diffs)

    @property
    def passed(self) -> bool:
        """Return whether there was something to compare, and all of it agrees."""
        return not self.problem and bool(self.diffs) and all(d.passed for d in self.all_diffs)

    @property
    def title(self) -> str:
        """Return the label with its shape: `2 (batch=2, sequence=7)`."""
        sizes = ", ".join(f"{name}={size}" for name, size in self.bindings.items())
        said = "; ".join(dict.fromkeys(part for part in (sizes, self.kind) if part))
        return f"{self.label} ({said})" if said else self.label


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well the two runs agree on a tensor that the accused node depends on."""

    tensor: str
    severity: float
    """The error in units of what is allowed; 0: bit for bit equal."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is written differently in the two models where their runs part."""

    kind: str
    """`initializer`, `attribute`, `operator`, or `type` (of an initializer, or its shape)."""
    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class Culprit:
    """The node of the candidate where two runs part."""

    node: str
    op_type: str
    tensor: str
    diff: TensorDiff
    inputs: tuple[Agreement, ...]
    """The nearest tensors before it that both models have."""
    candidate_nodes: tuple[str, ...]
    """The candidate's nodes between these tensors and the one that differs."""
    reference_nodes: tuple[str, ...]
    """The reference's nodes that compute the same."""
    changes: tuple[Change, ...]
    """What these nodes and their weights have that the reference's have not."""
    rule: str | None = None
    """The rewrite rule that made the node."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """Where two runs part, and how closely that was looked at."""

    sample: str
    culprit: Culprit | None
    """None: the runs agree on every tensor that both models have."""
    compared: int
    unshared: int
    """Tensors of the candidate on the way to its outputs without a counterpart to compare."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """Whether a candidate computes the same as a reference."""

    DERIVED: ClassVar = ("passed", "outcome")

    reference: str
    candidate: str
    reference_engine: str
    candidate_engine: str
    samples: tuple[JudgedSample, ...]
    bisection: Bisection | None = None
    arithmetic: str = ""
    """The type of arithmetic that the user allowed; empty: what the reference computes in."""
    searched: int = 0
    """Inputs that were looked for and tried beyond those of `samples`."""
    telling: tuple[JudgedSample, ...] = ()
    """The worst of them; the first that differs, if one does."""
    proven: tuple[str, ...] = ()
    """Outputs that are computed in the very same way: equal whatever is fed."""
    unshown: Mapping[str, str] = field(default_factory=dict)
    """Outputs of which nothing was shown, with the reason: NaN everywhere, or always the same."""
    unjudged: str = ""
    """Why meaning was not judged apart from rounding; empty: it was."""
    problems: tuple[str, ...] = ()
    """Why the two cannot be compared at all: inputs that one of them lacks."""
    notes: tuple[str, ...] = ()
    """What a reader of the verdict must know: the tolerance used, shapes that were left out."""
    crash: Crash | None = None
    """How the candidate ended its engine, where it did; its samples from there on say so."""

    @property
    def passed(self) -> bool:
        """Return whether something was compared, and all of it agrees."""
        compared = bool(self.samples) and all(sample.passed for sample in self.all_samples)
        return compared and not self.problems and not self.unshown

    @property
    def all_samples(self) -> tuple[JudgedSample, ...]:
        """Return what was asked for, then what was looked for."""
        return (*self.samples, *self.telling)

    @property
    def outcome(self) -> str:
        """Return `equal`, `differs` or `not shown`."""
        failed = self.problems or any(not sample.passed for sample in self.all_samples)
        if failed:
            return "differs"
        return "equal" if self.passed else "not shown"

    @property
    def worst_sample(self) -> JudgedSample | None:
        """Return the sample with the worst tensor; None when no tensor was compared."""
        judged = (sample for sample in self.all_samples if sample.all_diffs)
        return max(judged, key=_worst_severity, default=None)

    @property
    def worst(self) -> TensorDiff | None:
        """Return the tensor that is furthest out of its tolerance, failed or not."""
        sample = self.worst_sample
        return None if sample is None else max(sample.all_diffs, key=_failed_then_severity)

    @property
    def worst_run(self) -> TensorDiff | None:
        """Return the same of what was given when it was run: what a table of tensors shows."""
        diffs = (diff for sample in self.all_samples for diff in sample.diffs)
        return max(diffs, key=_failed_then_severity, default=None)


def _failed_then_severity(diff: TensorDiff) -> tuple[bool, float]:
    return (not diff.passed, diff.severity)


def _worst_severity(sample: JudgedSample) -> tuple[bool, float]:
    return max(map(_failed_then_severity, sample.all_diffs))
