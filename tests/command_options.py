"""The options that each command of `burnish` has, for tests of scripts that start them."""

from __future__ import annotations

from burnish.cli.commands import COMMANDS, found
from burnish.study.requests.option import Option, fields

EVERYWHERE = {"--json", "--help", "-h"}


def known(command: str) -> set[str]:
    """Return the options of a command."""
    entry = COMMANDS[command]
    every = [
        field for spec in (entry.request, entry.rows) if spec
        for field in fields(found("study.requests", spec)) if isinstance(field.said, Option)
    ]  # fmt: skip
    return EVERYWHERE | {
        name for field in every for flag in field.flags for name in flag.split("/")
    }
