"""A model's graph as a drawing: which boxes, where they stand, how they look."""

from __future__ import annotations
