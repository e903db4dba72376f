"""Models and their recorded data on disk."""

from __future__ import annotations
