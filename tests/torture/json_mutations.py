"""Changes to JSON-like data, to text made of tokens, and to tables."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from typing import Any

Json = Any

_ODD: tuple[Callable[[], Json], ...] = (
    lambda: None, lambda: True, list, dict, lambda: "", lambda: "x", lambda: -1,
    lambda: 0, lambda: 2**63, lambda: 10**400, lambda: -(10**30), lambda: 1e308, lambda: -1e308,
    lambda: 1e-320, lambda: float("nan"), lambda: float("inf"), lambda: float("-inf"),
    lambda: "\x1b[2J\x1b[31mred", lambda: "a\nburnish: b", lambda: "\u202egnp", lambda: "\ud800",
    lambda: "9" * 5000, lambda: "(" * 200, lambda: [[[[]]]], lambda: [None, 1, "x", {}],
    lambda: {"name": {"name": []}}, lambda: "nan", lambda: "1e999", lambda: "1_000", lambda: 1.5,
)  # fmt: skip


def mutate(data: Json, chance: random.Random) -> tuple[str, Json]:
    """Return a changed copy of JSON data, and what was changed, in a word."""
    work = {"": copy.deepcopy(data)}
    places = list(_places(work))
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0 if holder is not work:
            del holder[key]
            return f"dropped {_shown(key)}", work[""]
        case 1 if isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[key]))
            return f"doubled {_shown(key)}", work[""]
        case 2 if isinstance(holder, dict) and holder is not work:
            holder[chance.choice(("", "x", "name", "ts", f"{key} "))] = holder.pop(key)
            return f"renamed {_shown(key)}", work[""]
        case 3:
            other, at = chance.choice(places)
            holder[key] = copy.deepcopy(other[at])
            return f"copied to {_shown(key)}", _finite(work[""])
        case _:
            holder[key] = chance.choice(_ODD)()
            return f"odd {_shown(key)}", work[""]


def text_of(data: Json) -> str:
    """Return JSON, with NaN, infinities and lone surrogates as they come."""
    return json.dumps(data)


def mutate_text(text: str, chance: random.Random) -> tuple[str, str]:
    """Return text of lines and tokens with one of them dropped, doubled or exchanged."""
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    at = chance.randrange(len(tokens))
    match chance.randrange(5):
        case 0:
            lines = text.splitlines()
            del lines[chance.randrange(len(lines))]
            return "line dropped", "\n".join(lines)
        case 1:
            lines = text.splitlines()
            lines.insert(chance.randrange(len(lines)), chance.choice(lines))
            return "line doubled", "\n".join(lines)
        case 2:
            tokens[at] = chance.choice(tokens)
        case 3:
            del tokens[at]
        case _:
            tokens[at] = chance.choice(
                ("nan", "inf", "-1", "[]", "{}", '""', "true", "1e999", "9" * 400, "[" * 300, "0",
                 "\x00", "\x1b[31m", "(?P<", "&a;", "x" * 100, "-inf", '"\u202e"')
            )  # fmt: skip
    return "token changed", "".join(tokens)


def mutate_tables(
    tables: dict[str, list[dict[str, Any]]], chance: random.Random
) -> tuple[str, dict[str, list[dict[str, Any]]]]:
    """Return tables with one of them, a column, a row or a value lost or odd."""
    work = copy.deepcopy(tables)
    name = chance.choice(sorted(work))
    rows = work[name]
    column = chance.choice(sorted(rows[0]))
    match chance.randrange(5):
        case 0:
            del work[name]
            return f"no table {name}", work
        case 1:
            for row in rows:
                del row[column]
            return f"no column {name}.{column}", work
        case 2:
            rows.clear()
            return f"no rows in {name}", work
        case _:
            row = chance.choice(rows)
            row[column] = chance.choice(
                (None, "x", b"\xff\x00", -1, 2**62, -(2**63), 1.5, float("nan"), float("inf"), "",
                 "\x1b[31m", 10**18)
            )  # fmt: skip
            return f"odd {name}.{column}", work


def deep(levels: int, inner: str = "") -> str:
    """Return lists in lists."""
    return "[" * levels + inner + "]" * levels


def _places(data: Json) -> list[tuple[Json, Json]]:
    found: list[tuple[Json, Json]] = []
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
    return found


def _finite(data: Json) -> Json:
    """Return data that was copied into itself as it is written: without an end there is none."""
    try:
        json.dumps(data)
    except (ValueError, RecursionError):
        return None
    return data


def _shown(key: Json) -> str:
    return repr(key)[:30]
