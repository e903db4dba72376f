"""What the commands that rewrite a model take from the command line alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.cli import options

if TYPE_CHECKING:
    from burnish.rewrite.options import OptimizeOptions
    from burnish.study.trial import Trial


def chosen_options(asked: dict[str, Any]) -> OptimizeOptions:
    """Return what is asked of rewriting."""
    from burnish.rewrite.options import OptimizeOptions

    return OptimizeOptions(
        disable=options.names(asked["disable"]),
        only=options.names(asked.get("only", ())),
        keep_functions=asked.get("keep_functions", False),
        raise_opset=not asked.get("keep_opset", False),
        target=asked["target_device"],
        ops=asked["ops"],
        cost=asked["cost"],
    )


def chosen_trial(asked: dict[str, Any]) -> Trial:
    """Return how fusions are tried."""
    from burnish.rewrite.dump import Dump
    from burnish.rewrite.user_rules import load
    from burnish.study.trial import Trial

    watched = {"observer": Dump(asked["dump"])} if asked.get("dump") else {}
    return Trial(
        check=asked.get("check", False),
        rules=tuple(rule for path in asked["rules"] for rule in load(path)),
        bindings=options.bindings(asked.get("shape", ())),
        **watched,
    )
