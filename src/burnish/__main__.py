"""Run `python -m burnish` as the command `burnish`."""

from __future__ import annotations

from burnish.cli.main import entry

if __name__ == "__main__":
    entry()
