"""A model in, a better model out."""

from __future__ import annotations
