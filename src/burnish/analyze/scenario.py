"""What-if scenarios as data, and the files that users write them in."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burnish.analyze import selector as selectors
from burnish.analyze.selector import Selector
from burnish.core import documents, units
from burnish.core.errors import ModelError, UsageError
from burnish.core.nearest import suggestion
from burnish.core.precisions import element_type

NEEDS: Mapping[str, tuple[bool, bool]] = {
    "scale": (True, True), "set": (True, True), "remove": (True, False), "fuse": (True, False),
    "precision": (True, True), "roofline": (True, True), "batch": (False, True),
    "overlap": (False, False), "cuda-graph": (False, False),
}  # fmt: skip
"""What can be done → whether it takes a selector, whether it takes a value."""

_TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_QUANTITY = re.compile(r"\s*([0-9.]+(?:e[+-]?\d+)?)\s*([a-zµ%×]*)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Action:
    """One change."""

    do: str
    """One of NEEDS."""
    select: tuple[Selector, ...] = ()
    by: float | str | None = None
    """A factor (scale), seconds (set), a fraction (roofline), a type (precision), a batch size."""

    def __str__(self) -> str:
        what = ", ".join(map(str, self.select))
        return " ".join(part for part in (self.do, what, self._value()) if part)

    def _value(self) -> str:
        match self.do, self.by:
            case "scale", float(factor):
                return "∞×" if math.isinf(factor) else units.ratio(factor)
            case "set", float(seconds):
                return units.seconds(seconds)
            case "roofline", float(fraction):
                return f"at {units.share(fraction)}"
            case _, None:
                return ""
            case _, value:
                return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True, slots=True)
class Scenario:
    """Changes that are made together."""

    name: str
    actions: tuple[Action, ...]


def action(do: str, select: Sequence[str] = (), by: object = None) -> Action:
    """Return a change as a user writes it, or say what is wrong with it."""
    if do not in NEEDS:
        raise UsageError(f"{do!r} is nothing that can be done", hint=suggestion(do, NEEDS))
    wants_selector, wants_value = NEEDS[do]
    if wants_selector and not select:
        raise UsageError(f"{do} does not say what to change", hint=f"for instance {_EXAMPLES[do]}")
    if wants_value and by in (None, ""):
        raise UsageError(f"{do} has no value", hint=f"for instance {_EXAMPLES[do]}")
    return Action(do, tuple(map(selectors.parse, select)), _value(do, by) if wants_value else None)


_EXAMPLES = {
    "scale": "--scale Softmax=4", "set": "--set op:MatMul=20us", "remove": "--remove Softmax",
    "fuse": "--fuse 'Mul,Add'", "precision": "--cast MatMul=i8",
    "roofline": "--roofline 'top:3=80%'", "batch": "--batch 8",
}  # fmt: skip


def option(do: str, text: str) -> Action:
    """Return the change in an option like `Softmax=4`; several selectors stand between commas."""
    if not NEEDS[do][1]:
        return action(do, [part.strip() for part in text.split(",") if part.strip()])
    what, separator, value = text.rpartition("=")
    if not separator:
        raise UsageError(f"--{do} {text!r} is not WHAT=VALUE", hint=f"for instance {_EXAMPLES[do]}")
    return action(do, [part.strip() for part in what.split(",") if part.strip()], value)


def read(path: Path) -> tuple[Scenario, ...]:
    """Return the scenarios in a TOML or JSON file, or in a `speedups.json` of Amdahl4ML.

    Of the latter, also its list alone.
    """
    read = documents.read_json if path.suffix == ".json" else documents.read_toml
    table = read(path, hint="name a .toml or .json file, as docs/whatif.md shows them")
    if isinstance(table, list) and any("speedup" in one for one in table if isinstance(one, dict)):
        table = {"speedups": table}
    if not isinstance(table, dict):
        raise _wrong(path, "holds no table")
    if "speedups" in table:
        return (Scenario(path.stem, _speedups(path, table["speedups"])),)
    written = table.get("scenario", [table])
    if not isinstance(written, list) or not written:
        raise _wrong(path, "'scenario' is not a list")
    return tuple(_scenario(path, one, number) for number, one in enumerate(written))


def _scenario(path: Path, table: object, number: int) -> Scenario:
    if not isinstance(table, dict):
        raise _wrong(path, f"scenario {number} is not a table")
    actions = table.get("action")
    if not isinstance(actions, list) or not actions:
        raise _wrong(path, f"scenario {number} has no 'action'")
    name = str(table.get("name", path.stem if number == 0 else f"{path.stem} {number}"))
    return Scenario(name, tuple(_action(path, one) for one in actions))


def _action(path: Path, table: object) -> Action:
    if not isinstance(table, dict):
        raise _wrong(path, f"an action is {table!r}, not a table")
    for key in table:
        if key not in ("do", "select", "by"):
            raise _wrong(path, f"{key!r} is not known", suggestion(key, ("do", "select", "by")))
    chosen = table.get("select", [])
    select = chosen if isinstance(chosen, list) else [chosen]
    try:
        return action(str(table.get("do", "")), [str(one) for one in select], table.get("by"))
    except UsageError as error:
        raise _wrong(path, error.problem, error.hint) from error


def _speedups(path: Path, entries: object) -> tuple[Action, ...]:
    """Return Amdahl4ML's entries: an id wins over a type, so types come first."""
    if not isinstance(entries, list):
        raise _wrong(path, "'speedups' is not a list")
    found: list[tuple[int, Action]] = []
    for entry in entries:
        if not isinstance(entry, dict):
            raise _wrong(path, f"a speed-up is {entry!r}, not a table")
        rank, select = _chosen(path, entry)
        try:
            by = _value("scale", entry.get("speedup"))
        except UsageError as error:
            raise _wrong(path, error.problem, error.hint) from error
        found.append((rank, Action("scale", (select,), by)))
    return tuple(one for _, one in sorted(found, key=lambda pair: pair[0]))


def _chosen(path: Path, entry: Mapping[str, Any]) -> tuple[int, Selector]:
    keys = (("op_id", "id"), ("name", "name"), ("op_type", "any"))
    for rank, (key, kind) in enumerate(keys):
        if key in entry:
            return -rank, Selector(kind, str(entry[key]))
    raise _wrong(path, "a speed-up names no op_id, op_type or name", "add one of these")


def _value(do: str, given: object) -> float | str:
    if do == "precision":
        return element_type(str(given))
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        if abs(given) > sys.float_info.max:  # an integer of hundreds of digits
            raise UsageError(
                f"{do}: a number is out of range", hint=f"for instance {_EXAMPLES[do]}"
            )
        return _checked(do, float(given), given)
    text = str(given)
    if do == "scale" and text.lower() in ("inf", "infinity", "∞"):
        return math.inf
    found = _QUANTITY.fullmatch(text)
    unit = found.group(2).lower() if found else ""
    factors = {"set": _TIME, "roofline": {"%": 0.01, "": 1.0}}.get(
        do, {"": 1.0, "x": 1.0, "×": 1.0}
    )
    if found is None or unit not in factors:
        raise UsageError(f"{do}: {text!r} is no value for it", hint=f"for instance {_EXAMPLES[do]}")
    return _checked(do, float(found.group(1)) * factors[unit], given)


def _checked(do: str, value: float, given: object) -> float:
    least_ok = value >= 0 if do == "set" else value > 0
    if (
        not least_ok
        or (math.isinf(value) and do != "scale")
        or (do == "roofline" and value > 1)
        or (do == "batch" and value % 1)
    ):
        raise UsageError(f"{do}: {given} is out of range", hint=f"for instance {_EXAMPLES[do]}")
    return value


def _wrong(path: Path, finding: str, hint: str = "see docs/whatif.md") -> ModelError:
    return ModelError(f"{path}: {finding}", hint=hint)
