"""Nothing lies in the repository's root but what stands in this list.

An attack that ran there left odd models and links to devices behind once, and they were committed.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KNOWN = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
    "benchmarks",
    "constraints.txt",
    "docs",
    "examples",
    "pyproject.toml",
    "src",
    "tests",
}


def _tracked() -> list[str]:
    """Return the paths that git tracks, where this is a repository."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git repository")
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--stage"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip(f"git does not list this repository: {listed.stderr.strip()}")
    return [line for line in listed.stdout.split("\0") if line]


def test_the_root_holds_what_belongs_there() -> None:
    tops = {line.split("\t", 1)[1].split("/", 1)[0] for line in _tracked()}
    assert tops == KNOWN


def test_no_link_is_tracked() -> None:
    assert [line for line in _tracked() if line.startswith("120000")] == []
