"""Decisions from records: pure arithmetic."""

from __future__ import annotations
