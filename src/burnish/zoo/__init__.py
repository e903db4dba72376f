"""Models that burnish can build and export by itself."""

from __future__ import annotations
