"""One file per model."""

from __future__ import annotations
