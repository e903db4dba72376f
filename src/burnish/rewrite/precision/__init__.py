"""Models in fewer bits, one kind of number per file."""

from __future__ import annotations
