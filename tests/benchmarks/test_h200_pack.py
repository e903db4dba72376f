"""What is carried to a lent machine fits beside the tree, or is told not to."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "h200" / "pack.sh"
MIB = 2**20


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a repository in which everything was fetched and packed before."""
    root = tmp_path / "tree"
    place = root / "benchmarks" / "h200" / "pack.sh"
    place.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, place)
    (root / "constraints.txt").write_text("msgspec==0.22.0\n")
    (root / ".gitignore").write_text(".carry/\nout/\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    names = re.search(r"for name in (.*?); do", SCRIPT.read_text(), re.DOTALL)
    assert names is not None
    held = {
        f"kit/wheels/{name.replace('-', '_')}-1-py3-none-any.whl": 10
        for name in names[1].replace("\\", " ").split()
    }
    held |= {"openvino/models.tar.xz": 1000, "openvino/openvino.tar.xz": MIB // 2}
    for name, size in held.items():
        path = root / ".carry" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    (root / "out" / "pack").mkdir(parents=True)
    (root / "out" / "pack" / "ort.tar.xz").write_bytes(bytes(range(256)) * (3 * MIB // 256))
    return root


def packed(tree: Path, most_mib: int, *words: str) -> subprocess.CompletedProcess[str]:
    script = tree / "benchmarks" / "h200" / "pack.sh"
    environment = {"MOST_MIB": str(most_mib), "PATH": "/usr/bin:/bin", "PYTHON": "/bin/false"}
    return subprocess.run(
        ["bash", str(script), *words], env=environment, capture_output=True, text=True, check=False
    )


def parts(tree: Path) -> list[str]:
    found = sorted((tree / ".carry").glob("*/ort.part.*"))
    return [str(path.relative_to(tree / ".carry")) for path in found]


def test_what_fits_travels_with_the_first_call(tree: Path) -> None:
    done = packed(tree, 8)
    assert done.returncode == 0, done.stderr
    assert parts(tree) == ["ort/ort.part.aa"]
    assert (tree / ".carry" / "kit" / "ort.bytes").read_text() == f"{3 * MIB}\n"
    assert done.stdout.count(f"of {8 * 1024} KiB") == 2


def test_what_has_no_room_travels_with_the_next(tree: Path) -> None:
    packed(tree, 8)
    done = packed(tree, 3)
    assert done.returncode == 0, done.stderr
    assert parts(tree) == ["openvino/ort.part.ab", "ort/ort.part.aa"]
    whole = b"".join((tree / ".carry" / name).read_bytes() for name in reversed(parts(tree)))
    assert whole == (tree / "out" / "pack" / "ort.tar.xz").read_bytes()


def test_what_does_not_fit_at_all_is_refused(tree: Path) -> None:
    done = packed(tree, 2)
    assert done.returncode == 1
    assert "three parts" in done.stderr


def test_a_ledger_is_taken_along(tree: Path) -> None:
    (tree / "out" / "ledger.sqlite").write_text("figures")
    done = packed(tree, 8, str(tree / "out" / "ledger.sqlite"))
    assert done.returncode == 0, done.stderr
    carried = (tree / ".carry" / "kit" / "ledger.sqlite.xz").read_bytes()
    assert lzma.decompress(carried) == b"figures"


def test_models_of_the_race_do_not_travel_with_every_call(tree: Path) -> None:
    models = tree / ".carry" / "openvino" / "models.tar.xz"
    models.rename(tree / ".carry" / "kit" / "models.tar.xz")
    done = packed(tree, 8)
    assert done.returncode == 0, done.stderr
    assert models.is_file()
    assert not (tree / ".carry" / "kit" / "models.tar.xz").exists()
