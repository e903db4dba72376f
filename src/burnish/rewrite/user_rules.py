"""Fusion rules from a file of the user's own."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.rewrite.fusions import FUSIONS
from burnish.rewrite.rule import Rule

_HINT = "see docs/user-rules.md for a file that works"


def load(path: Path) -> tuple[Rule, ...]:
    """Return the rules in the `RULES` of a Python file; running the file is the caller's wish."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file", hint=_HINT)
    spec = importlib.util.spec_from_file_location(f"burnish_user_rules_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: is not a Python file", hint=_HINT)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(
            f"{path}: cannot be run: {type(error).__name__}: {error}", hint=_HINT
        ) from error
    rules = getattr(module, "RULES", None)
    if not isinstance(rules, (tuple, list)) or not all(isinstance(rule, Rule) for rule in rules):
        raise UsageError(f"{path}: has no RULES, a tuple of burnish.rewrite.rule.Rule", hint=_HINT)
    _refuse_taken_names(path, tuple(rules))
    return tuple(rules)


def _refuse_taken_names(path: Path, rules: tuple[Rule, ...]) -> None:
    taken = {rule.name for rule in FUSIONS}
    for rule in rules:
        if rule.name in taken:
            raise UsageError(
                f"{path}: there is already a rule {rule.name!r}", hint="give it another name"
            )
        taken.add(rule.name)
