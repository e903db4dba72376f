"""Every command that writes, two results of each, and how a file shows that it is whole."""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from torture.bases.text import BERT_SCRIPT, EXAMPLES

MODEL = EXAMPLES / "torchscript" / "bert-mini_torchscript.onnx"


@dataclass(frozen=True)
class Writing:
    """A command line that writes into the folder it is run in."""

    name: str
    words: tuple[str, ...]
    """`{model}`, `{wrong}`, `{compiled}` and `{inputs}` stand for what is given."""
    first: tuple[str, ...]
    """What makes the earlier result."""
    second: tuple[str, ...]
    """What makes the new one, which differs."""
    whole: bool = True
    """Whether all files of a result belong together; else each is replaced on its own."""
    settled: bool = True
    """Whether equal command lines write files of equal names."""
    needs: str = ""
    """A package without which the command cannot run."""

    def line(self, given: Mapping[str, Path], *, new: bool) -> list[str]:
        """Return the words of the earlier or of the new run."""
        words = (*self.words, *(self.second if new else self.first))
        return [word.format(**given) if "{" in word else word for word in words]


def _seeded(name: str, *words: str, whole: bool = True, needs: str = "") -> Writing:
    return Writing(name, words, ("--seed", "0"), ("--seed", "1"), whole=whole, needs=needs)


_SMALL = ("--shape", "batch=1,sequence=8")
_OTHER = ("--shape", "batch=1,sequence=16")
_BRIEF = ("--rounds", "1", "--budget", "2", "--engine", "onnxruntime-cpu", *_SMALL)
_SCRIPT = ("--exporter", "torchscript")

WRITING = (
    Writing("optimize", ("optimize", "{model}", "-o", "o.onnx"), (), ("--disable", "gelu")),
    _seeded("inputs-folder", "inputs", "{model}", "-o", "data"),
    _seeded("inputs-npz", "inputs", "{model}", "-o", "x.npz"),
    Writing(
        "graph",
        ("graph", "{model}", "-o", "g.svg", "-o", "g.html", "-o", "g.csv", *_SMALL),
        (),
        ("--left-to-right",),
        whole=False,
    ),
    _seeded("profile", "profile", "{model}", "--trace-out", "t.json", "--runs", "2", *_SMALL),
    Writing(
        "whatif",
        ("whatif", "{model}", "--trace-out", "w.json", *_SMALL),
        ("--scale", "op:MatMul=2"),
        ("--scale", "op:MatMul=3"),
    ),
    _seeded("bench", "bench", "{model}", "-o", "b.json", *_BRIEF),
    _seeded("distill", "distill", "{model}", "--pattern", "gelu", "-o", "parts", *_SMALL),
    _seeded("reduce", "reduce", "{model}", "{wrong}", "-o", "part", *_SMALL),
    Writing("compile", ("compile", "{model}", "--no-tune", "-o", "compiled"), _SMALL, _OTHER),
    Writing(
        "compile-tuned",
        ("compile", "{model}", "--topk", "2", "--budget", "3s", "-o", "compiled"),
        _SMALL,
        _OTHER,
        settled=False,  # what is fastest is found out anew
    ),
    Writing(
        "exec",
        ("exec", "{compiled}", "-o", "y.npz"),
        ("--input", "{inputs}"),
        ("--input", "{other_inputs}"),
    ),
    _seeded("run", "run", "{model}", "-o", "out", *_BRIEF, whole=False),
    Writing("doctor", ("doctor", "--probe", "cpu", "-o", "device.toml"), (), ()),
    _seeded(
        "export", "export", "bert-tiny", "--small", *_SCRIPT, "--store", "store", needs="torch"
    ),
)
"""The quick ones first."""


def contents(folder: Path) -> dict[str, str]:
    """Return the hash of every file in a folder, by its path."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def unreadable(path: Path) -> str:
    """Return why a file is not whole; empty: it is, as far as its kind can tell."""
    try:
        if path.stat().st_size == 0:
            return "it is empty"
        _READERS.get(path.suffix, Path.read_bytes)(path)
    except Exception as error:
        # whatever a reader says: the file is not what it was written to be
        return f"{type(error).__name__}: {error}"
    return ""


def wrong_candidate(path: Path) -> None:
    """Write bert-mini with one bias missing, for `reduce` to find."""
    from torture.draft import Draft

    draft = Draft(BERT_SCRIPT.model)
    draft.change("model.bert.encoder.layer.0.intermediate.dense.bias", np.zeros_like)
    onnx.save(draft.finish(), path)


def _onnx(path: Path) -> None:
    onnx.checker.check_model(onnx.load(path))


def _npz(path: Path) -> None:
    with np.load(path) as arrays:
        for name in arrays.files:
            assert arrays[name].size


def _tensor(path: Path) -> None:
    onnx.numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def _page(path: Path) -> None:
    assert path.read_text().rstrip().endswith("</html>"), "the page has no end"


def _sums(path: Path) -> None:
    for line in path.read_text().splitlines():
        digest, name = line.split(maxsplit=1)
        found = hashlib.sha256((path.parent / name.lstrip("*")).read_bytes()).hexdigest()
        assert found == digest, f"{name} does not match"


_READERS: dict[str, Callable[[Path], object]] = {
    ".onnx": _onnx,
    ".npz": _npz,
    ".pb": _tensor,
    ".html": _page,
    ".svg": lambda path: ET.parse(path),
    ".json": lambda path: json.loads(path.read_text()),
    ".toml": lambda path: tomllib.loads(path.read_text()),
    ".py": lambda path: ast.parse(path.read_text()),
    "": _sums,
}
"""By suffix; SHA256SUMS has none."""
