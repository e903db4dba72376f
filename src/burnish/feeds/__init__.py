"""Inputs for any model: made from names, types and shapes, or read from disk."""

from __future__ import annotations
