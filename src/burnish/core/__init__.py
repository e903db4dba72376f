"""What everyone may use; imports nothing else of burnish."""

from __future__ import annotations
