"""Read JSON and TOML that anybody may have written: whatever is wrong is one error that says where.

Parsers raise more than their own errors: for text that is no UTF-8, for numbers of thousands of
digits, and for lists in lists without end.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from burnish.core.errors import ModelError

_SENSELESS = (ValueError, RecursionError)
"""`ValueError` is every parser's own error, that of undecodable text, and of endless numbers."""


def read_json(path: Path, *, hint: str) -> Any:  # noqa: ANN401  (any JSON)
    """Return what a JSON file holds."""
    return parse_json(_content(path, hint), str(path), hint=hint)


def read_toml(path: Path, *, hint: str) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    return parse_toml(_content(path, hint), str(path), hint=hint)


def parse_json(text: str | bytes, where: str, *, hint: str) -> Any:  # noqa: ANN401  (any JSON)
    """Return what JSON text holds; `where` names it in errors."""
    try:
        return json.loads(text)
    except _SENSELESS as error:
        raise ModelError(f"{where}: is not JSON ({reason(error)})", hint=hint) from error


def parse_toml(text: str | bytes, where: str, *, hint: str) -> dict[str, Any]:
    """Return the tables of TOML text; `where` names it in errors."""
    try:
        return tomllib.loads(text if isinstance(text, str) else text.decode())
    except _SENSELESS as error:
        raise ModelError(f"{where}: is not TOML ({reason(error)})", hint=hint) from error


def reason(error: Exception) -> str:
    """Return why a parser gave up, in one line."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start:,} is no UTF-8"
    return str(error).strip().partition("\n")[0]


def _content(path: Path, hint: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})", hint=hint) from error
