"""Timelines: what ran when, and for which node."""

from __future__ import annotations
