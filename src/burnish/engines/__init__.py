"""Anything that runs a model."""

from __future__ import annotations
