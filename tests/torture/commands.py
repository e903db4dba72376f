"""Which commands of burnish read what, and how a mutant is given to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import google.protobuf.message
import onnx

_PLAIN_NAME = re.compile(r"[A-Za-z_]\w{0,40}")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line for a mutant in the working folder."""

    words: tuple[str, ...]
    leaves_something: bool = False
    """Whether what it leaves behind when it fails is wanted: steps to go on from, a dump."""

    def __str__(self) -> str:
        return " ".join(self.words)


ALWAYS = (
    "model show {m}",
    "model show {m} --json",
    "inputs {m} -o out.npz {shape}",
    "explain {m}",
    "graph {m} -o out.svg -o out.html {shape}",
)
"""Cheap ones, and those that the others begin with."""
IN_TURN = (
    "optimize {m} -o out.onnx --budget 2",
    "verify {m} {shape} --budget 2",
    "profile {m} --runs 2 --warmup 0 --by node {shape}",
    "compile {m} --no-tune -o out {shape}",
    "whatif {m} --sweep {shape}",
    "optimize {m} -o out.onnx --no-verify -p fp16",
    "advise {m} {shape}",
    "run {m} -o out --rounds 1 --budget 1 --engine onnxruntime-cpu {shape}",
    "distill {m} --pattern attention -o out {shape}",
    "bench {m} --engine onnxruntime-cpu --rounds 1 --budget 1 {shape}",
    "reduce {m} -o out {shape}",
    "verify {m} {m} --bisect --engine openvino --budget 2",
    "explain {m} --no-trial --cost off --json",
    "optimize {m} -o out.onnx --keep-functions --int32-inputs --budget 2",
    "distill {m} --function inner -o out {shape}",
    "verify {m} --engine burnish {shape} --budget 2",
    "graph {m} -o out.csv -o out.model-explorer.json --engine onnxruntime-cpu {shape}",
    "optimize {m} -o out.onnx --no-verify --no-trial --ops standard --dump out",
)
_EACH = 4


def of_model(folder: Path, number: int) -> Iterator[Command]:
    """Yield the commands for the model in `folder`; the dear ones take turns by number."""
    model = next(
        iter(sorted(p.name for p in folder.iterdir() if p.name.startswith("m."))), "m.onnx"
    )
    shape = _bindings(folder / model)
    turns = [IN_TURN[(number * _EACH + n) % len(IN_TURN)] for n in range(_EACH)]
    for text in (*ALWAYS, *turns):
        words = text.format(m=model, shape=shape).split()
        yield Command(("-q", *words), leaves_something=words[0] == "run" or "--dump" in words)


def _bindings(path: Path) -> str:
    """Return `--shape` for the names of sizes in a model, as far as it can be parsed."""
    names: set[str] = set()
    try:
        if path.is_file():
            proto = onnx.ModelProto.FromString(path.read_bytes())
            names = {
                dim.dim_param
                for info in proto.graph.input
                for dim in info.type.tensor_type.shape.dim
                if dim.dim_param
            }
    except (google.protobuf.message.DecodeError, UnicodeDecodeError, OSError):
        pass
    texts = [name for name in names if isinstance(name, str)]  # bytes: it is no UTF-8
    plain = sorted(name for name in texts if _PLAIN_NAME.fullmatch(name))
    return "--shape " + ",".join(f"{name}=2" for name in plain) if plain else ""


_TRACE = (
    "profile m.onnx --trace {f} --by kernel",
    "profile m.onnx --trace {f} --json --trace-out out.json",
    "whatif {f} --sweep",
    "whatif {f} --model m.onnx --scale MatMul=2 --shape batch=2,sequence=2",
    "graph m.onnx --trace {f} -o out.svg -o out.html --shape batch=2,sequence=2",
)
_SCENARIO = (
    "whatif base.json --scenario {f}",
    "graph m.onnx --trace base.json --scenario {f} -o out.svg --shape batch=2,sequence=2",
)
_DATA = (
    "verify m.onnx --data {f}",
    "profile m.onnx --data {f} --runs 1 --warmup 0",
    "optimize m.onnx -o out.onnx --data {f}",
)
BY_NAME: Mapping[str, tuple[str, ...]] = {
    "trace.json": _TRACE,
    "trace.json.gz": _TRACE,
    "trace_profile.json": _TRACE,
    "trace.sqlite": _TRACE,
    "scenario.toml": _SCENARIO,
    "scenario.json": _SCENARIO,
    "groups.toml": ("profile m.onnx --trace base.json --groups {f}",
                    "whatif base.json --sweep --groups {f}"),
    "groups.xml": ("profile m.onnx --trace base.json --groups {f}",),
    "hw.toml": ("whatif base.json --sweep --hw {f}",
                "advise m.onnx --hw {f} --shape batch=2,sequence=2"),
    "data.npz": _DATA,
    "test_data_set_0": (*_DATA, "verify m.onnx --recorded", "model show m.onnx"),
    "source.json": ("model show m.onnx", "inputs m.onnx -o out.npz"),
}  # fmt: skip
"""What reads a document, by the name that it has in its folder."""


def of_documents(folder: Path, number: int) -> Iterator[Command]:
    """Yield the commands that read the document in `folder`."""
    del number
    for name in sorted(path.name for path in folder.iterdir()):
        for text in BY_NAME.get(name, ()):
            yield Command(("-q", *text.format(f=name).split()))
