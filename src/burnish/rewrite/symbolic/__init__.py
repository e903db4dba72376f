"""Sizes that are known only by name, and what is computed from them."""

from __future__ import annotations
