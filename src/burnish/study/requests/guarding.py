"""What may be asked of commands that guard speed over time: compare, gate, history, dashboard."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from burnish.core.errors import UsageError
from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, Positional, Saying


def share(text: str) -> float:
    """Return `5%` or `0.05` as 0.05; `5` is refused, for nobody means five times as long."""
    whole, sign, rest = text.strip().partition("%")
    try:
        found = float(whole) / (100 if sign else 1)
    except ValueError:
        found = -1.0
    if rest or not 0 < found < (10 if sign else 1):
        raise UsageError(
            f"{text!r} is not a slowdown", hint="write for instance 5%: --max-slowdown 5%"
        )
    return found


@dataclass(frozen=True, slots=True)
class CompareCommand:
    """Compare what `burnish bench -o` stored: A is the baseline, B the candidate.

    Subjects of one name are compared, else those of one engine at one size. Nothing is measured.
    Files of unlike machines are refused.
    """

    a: Annotated[v.Place, Positional("A")]
    b: Annotated[v.Place, Positional("B")]


@dataclass(frozen=True, slots=True)
class GateCommand:
    """Fail if MODEL is slower, or computes something else, than a baseline of `burnish bench -o`.

    Every engine of the baseline is measured again, as it was then. Where the baseline's model is
    another one and still there, both take turns; else stored samples are compared. What does not
    pass is measured again before it fails. Exit code 1: slower; 5: results differ from the
    baseline's; 4: a slowdown as large as the limit could not have been seen, or results could not
    be compared.
    """

    model: v.Model
    _: KW_ONLY
    baseline: Annotated[v.Baseline, Saying(
        "A file of `burnish bench -o`, or a folder with one for each machine.")
    ]  # fmt: skip
    max_slowdown: Annotated[float, Option(
        "The limit: slower by less than this passes (default: 5%).", metavar="SHARE", read=share,
    )] = 0.05  # fmt: skip
    engine: Annotated[v.Engines, Saying("Default: all of the baseline.")] = ()
    budget: Annotated[v.Budget, Saying("For each try of each engine (default: 60s).")] = None
    padding: v.Padding = "right"
    verify: Annotated[v.Verified, Saying("With the baseline's model, or with what it gave.")] = True
    trust_factory: v.TrustFactory = ()
    store: v.Store = None
    output: Annotated[v.OutputFiles, Saying(
        "As its ending says: .md, .xml (JUnit) or .json; may be repeated.")
    ] = ()  # fmt: skip


@dataclass(frozen=True, slots=True)
class HistoryCommand:
    """Show what was measured of MODEL on this machine, over time.

    The newest measurement of each series is compared with the one before, from their samples.
    """

    model: Annotated[str, Positional("MODEL")]
    _: KW_ONLY
    engine: Annotated[v.Engines, Saying("Default: all.")] = ()
    ledger: v.Ledger = None


@dataclass(frozen=True, slots=True)
class DashboardCommand:
    """Write all measurements as one page: models by engines, gaps to the fastest, trends.

    A name that ends in .json gives the JSON of PyTorch's benchmark dashboard (version 3) instead.
    """

    _: KW_ONLY
    output: Annotated[v.TargetFile, Saying("One page, with nothing beside it.")]
    ledger: v.Ledger = None
