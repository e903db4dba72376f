"""One reader per trace format."""

from __future__ import annotations
