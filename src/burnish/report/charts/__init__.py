"""One chart per file, each a function that returns SVG text."""

from __future__ import annotations
