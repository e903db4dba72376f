"""The table of traps: right rewrites, which `burnish verify` must not call different."""

from __future__ import annotations

from torture.case import Case
from torture.families.alike import RIGHT

TRAPS: tuple[Case, ...] = tuple(RIGHT.cases)
