"""Clean-up steps that work on the whole graph, in the order in which they run."""

from __future__ import annotations

from burnish.rewrite.facts import Facts
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.passes.branches import ChooseBranches
from burnish.rewrite.passes.common_expressions import ShareExpressions
from burnish.rewrite.passes.constants import LiftConstants, ShareConstants
from burnish.rewrite.passes.counted import InPlacePass, step_name
from burnish.rewrite.passes.dead_code import DropDeadCode
from burnish.rewrite.passes.fold import FoldConstants
from burnish.rewrite.passes.inline import InlineFunctions
from burnish.rewrite.passes.names import FixNames, SortNodes
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.passes.simplify import Simplify
from burnish.rewrite.passes.sizes import ReadSizes


def preparing(options: OptimizeOptions) -> tuple[InPlacePass, ...]:
    """Return the steps that run once, first."""
    inline = () if options.keep_functions else (InlineFunctions(),)
    return (*inline, LiftConstants(), DropDeadCode(), FixNames())


def inferring(facts: Facts) -> tuple[InPlacePass, ...]:
    """Return the steps that run first, and again whenever folding has made shapes known."""
    return (InferShapes(facts),)


def folding(options: OptimizeOptions, facts: Facts) -> tuple[InPlacePass, ...]:
    """Return the steps that compute what is known."""
    fold = FoldConstants(facts, options.fold_input_bytes, options.fold_growth_bytes)
    return (fold, ChooseBranches(facts))


def tidying(facts: Facts) -> tuple[InPlacePass, ...]:
    """Return the steps that run, with folding, until none of them changes anything."""
    return (
        Simplify(facts),
        ReadSizes(facts),
        ShareConstants(facts),
        ShareExpressions(),
        DropDeadCode(),
    )


def finishing() -> tuple[InPlacePass, ...]:
    """Return the steps that run once, last."""
    return (SortNodes(), FixNames())


STEPS: tuple[str, ...] = tuple(
    dict.fromkeys(
        step_name(kind)
        for kind in (
            InlineFunctions, LiftConstants, InferShapes, FoldConstants,
            ChooseBranches, Simplify, ReadSizes, ShareConstants, ShareExpressions, DropDeadCode,
            SortNodes, FixNames,
        )
    )
)  # fmt: skip
"""Their names, as `--disable` takes them."""
