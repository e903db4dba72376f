"""Records in, text out."""

from __future__ import annotations
