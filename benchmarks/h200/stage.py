"""What was carried to a lent machine is put in its place, and what works there is said.

    python benchmarks/h200/stage.py [--no-card] [--quick]

Reads $CARRY, writes $LENT (`environment.sh`): `site` (wheels of what this Python lacks, and what
tells PyTorch of burnish's back end), `ortgpu` when all of its parts have come, `openvino`,
`models.tar.xz`, `ledger.sqlite`. Nothing but Python's own library is needed. Then checks run
side by side, a line each, and bytecode is left behind for those that come after.
"""

from __future__ import annotations

import argparse
import importlib.util
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = """
import importlib, pkgutil, burnish
bad = {}
for module in pkgutil.walk_packages(burnish.__path__, "burnish."):
    if ".__main__" in module.name: continue
    try: importlib.import_module(module.name)
    except BaseException as error: bad[module.name] = f"{type(error).__name__}: {error}"
assert not bad, bad
print("all modules import")
"""
CARD = """
import torch, triton
assert torch.cuda.is_available(), "PyTorch sees no card"
x = torch.randn(512, 512, device="cuda", dtype=torch.float16)
assert (x @ x).isfinite().all()
print(torch.cuda.get_device_name(), "torch", torch.__version__, "triton", triton.__version__)
"""
OPENING = """
import time
began = time.process_time()
def lap(name):
    global began
    now = time.process_time(); print(f"{name} {now - began:.1f}", end=", "); began = now
import torch; lap("torch")
from burnish.zoo import factory
from burnish.zoo.entry import NetworkOptions
names = ("bert-base", "vit-s32", "swin-t", "mobilevit-s", "mobilenet-v2", "conformer", "nafnet",
         "restormer", "bsrn", "nerf")
for name in names: factory.build(name, NetworkOptions(precision="fp16", small=True))
lap("ten small models")
factory.build("bert-base", NetworkOptions(precision="fp16")); lap("BERT-base")
if torch.cuda.is_available(): torch.zeros(1, device="cuda"); lap("the card")
print("processor seconds")
"""
OPTIMIZE = "-m burnish -q optimize examples/bert-mini/torchscript -o {scratch} --no-verify"
BACK_END = """
import torch._dynamo as d
assert "burnish" in d.list_backends(exclude_tags=()), "PyTorch does not know burnish's back end"
print("torch.compile knows burnish")
"""
ORT = """
import onnxruntime, numpy as np, onnx
from onnx import TensorProto, helper
assert "CUDAExecutionProvider" in onnxruntime.get_available_providers(), "no CUDA in ONNX Runtime"
x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT16, [64, 64]) for n in "xy")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "x"], ["y"])], "g", [x], [y])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
how = ["CUDAExecutionProvider"]
import torch
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=how)
assert session.get_providers()[0] == how[0], session.get_providers()
assert (session.run(None, {"x": np.ones((64, 64), np.float16)})[0] == 64).all()
print("onnxruntime", onnxruntime.__version__, "on the card")
"""
OPENVINO = "import openvino; openvino.Core(); print('openvino', openvino.__version__)"


@dataclass(frozen=True)
class Check:
    """A line that is said."""

    name: str
    command: Sequence[str]
    seconds: float = 60.0
    needs_card: bool = False
    first_on_path: str = ""
    is_long: bool = False


def main(arguments: Sequence[str] | None = None) -> int:
    """Put everything in its place and check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-card", action="store_true", help="leave out what needs one")
    parser.add_argument("--quick", action="store_true", help="leave out what takes long")
    asked = parser.parse_args(arguments)
    lent, carry = Path(os.environ["LENT"]), Path(os.environ["CARRY"])
    for folder in ("parts", "site"):
        (lent / folder).mkdir(parents=True, exist_ok=True)
    lines = []
    for line in lines_of(lent, carry, asked):
        print(line, flush=True)
        lines.append(line)
    return int(any(line.startswith("WRONG") for line in lines))


def lines_of(lent: Path, carry: Path, asked: argparse.Namespace) -> Iterator[str]:
    """Yield what is to be said, as soon as it is known."""
    yield from map(told, placing(lent, carry))
    chosen = [one for one in checks(lent) if not (asked.quick and one.is_long)]
    with ThreadPoolExecutor(8) as pool:
        for done in as_completed([pool.submit(checked, one, asked.no_card) for one in chosen]):
            yield done.result()


def placing(lent: Path, carry: Path) -> list[tuple[str, Callable[[], str]]]:
    """Return what is to be put in its place, each with its name."""
    openvino = carry / "openvino" / "openvino.tar.xz"
    return [
        ("site", lambda: site(lent / "site", sorted(carry.glob("kit/wheels/*.whl")))),
        ("models", lambda: copied(carry / "openvino" / "models.tar.xz", lent)),
        ("ledger", lambda: widened(carry / "kit" / "ledger.sqlite.xz", lent)),
        ("openvino", lambda: unpacked(openvino, lent / "openvino")),
        ("onnxruntime-gpu", lambda: joined(lent, carry)),
    ]


def told(one: tuple[str, Callable[[], str]]) -> str:
    """Return the line of something that is put in its place."""
    name, place = one
    began = time.monotonic()
    try:
        return f"ok     {name}: {place()} ({time.monotonic() - began:.0f} s)"
    except Exception as error:
        return f"WRONG  {name}: {type(error).__name__}: {error}"


def site(folder: Path, wheels: Sequence[Path]) -> str:
    """Unpack the wheels of what this Python lacks; tell PyTorch where burnish's back end is."""
    if not wheels:
        raise FileNotFoundError("no wheels were carried")
    lacking = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = {name.partition("/")[0] for name in archive.namelist()}
            modules = [name.removesuffix(".py") for name in names if "-" not in name]
            there = [name for name in modules if importlib.util.find_spec(name)]
            if not there:
                archive.extractall(folder)
                lacking.append(wheel.name.partition("-")[0])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    own: dict[str, str] = {}
    exec((ROOT / "src" / "burnish" / "version.py").read_text(), own)  # imports nothing
    facts = folder / f"burnish-{own['__version__']}.dist-info"
    facts.mkdir(exist_ok=True)
    told = f"Metadata-Version: 2.1\nName: burnish\nVersion: {own['__version__']}\n"
    (facts / "METADATA").write_text(told)
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (facts / "entry_points.txt").write_text(points)
    return f"added {', '.join(lacking) or 'nothing'}"


def copied(source: Path, lent: Path) -> str:
    """Copy a file that was carried, unless one is there: what this machine wrote is newer."""
    target = lent / source.name
    if target.is_file():
        return "is there"
    if not source.is_file():
        return "was not carried"
    shutil.copy(source, target)
    return f"{source.stat().st_size >> 10} KiB"


def widened(source: Path, lent: Path) -> str:
    """Put the one file of an archive where `copied` would have put it."""
    target = lent / source.stem
    if target.is_file() or not source.is_file():
        return copied(source.with_suffix(""), lent)
    target.write_bytes(lzma.decompress(source.read_bytes()))
    return f"{target.stat().st_size >> 10} KiB"


def joined(lent: Path, carry: Path) -> str:
    """Keep the parts that came; unpack them when all are there."""
    if (lent / "ortgpu").is_dir():
        return "is there"
    for path in carry.glob("*/ort.part.*"):
        shutil.copy(path, lent / "parts" / path.name)
    there = sorted((lent / "parts").iterdir())
    wanted, come = carry / "kit" / "ort.bytes", sum(path.stat().st_size for path in there)
    if not wanted.is_file():
        return "was not carried"
    if come < int(wanted.read_text()):
        return f"waits, {come >> 20} of {int(wanted.read_text()) >> 20} MiB have come"
    whole = lent / "ort.tar.xz"
    with whole.open("wb") as file:
        for path in there:
            file.write(path.read_bytes())
    return unpacked(whole, lent / "ortgpu")


def unpacked(source: Path, folder: Path) -> str:
    """Unpack an archive of xz, whole or not at all."""
    if folder.is_dir():
        return "is there"
    if not source.is_file():
        return "was not carried"
    fresh = folder.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    with (
        subprocess.Popen(["xz", "-dcT0", source], stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as archive,
    ):
        archive.extractall(fresh, filter="tar")
    if process.returncode:
        raise OSError(f"xz ended with {process.returncode}")
    fresh.rename(folder)
    return f"{sum(path.stat().st_size for path in folder.rglob('*')) >> 20} MiB"


def checks(lent: Path) -> list[Check]:
    """Return what is looked at."""
    optimize = OPTIMIZE.format(scratch=lent / "smoke").split()
    found = [
        Check("every module", ("-c", IMPORTS), 90, is_long=True),
        Check("an opening of PyTorch", ("-c", OPENING), 90, is_long=True),
        Check("burnish optimize", optimize, 90, is_long=True),
        Check("back end", ("-c", BACK_END), 90, is_long=True),
        Check("card", ("-c", CARD), 60, needs_card=True),
    ]
    if (lent / "ortgpu").is_dir():
        where = str(lent / "ortgpu")
        found.append(Check("ONNX Runtime on the card", ("-c", ORT), 60, True, where))
    if (lent / "openvino").is_dir():
        found.append(Check("OpenVINO", ("-c", OPENVINO), 60, False, str(lent / "openvino")))
    return found


def checked(check: Check, no_card: bool) -> str:
    """Return the line of a check."""
    if check.needs_card and no_card:
        return f"left   {check.name}: no card is looked for"
    path = ":".join(each for each in (check.first_on_path, os.environ["PYTHONPATH"]) if each)
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, *check.command], cwd=ROOT, capture_output=True, text=True,
            timeout=check.seconds, check=False, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"WRONG  {check.name}: has not ended within {check.seconds:.0f} s"
    took = time.monotonic() - began
    last = (done.stdout.strip().splitlines() or ["said nothing"])[-1]
    if done.returncode:
        return f"WRONG  {check.name}: {(done.stderr or last).strip()[-400:]}"
    return f"ok     {check.name}: {last[:160]} ({took:.0f} s)"


if __name__ == "__main__":
    sys.exit(main())
