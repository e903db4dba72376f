"""What is to be exported, and how; records only, so that a child process can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from burnish.core.errors import UsageError
from burnish.zoo.entry import NetworkOptions

Exporter = Literal["dynamo", "torchscript"]


@dataclass(frozen=True, slots=True)
class ZooSource:
    """A model of the zoo."""

    name: str


@dataclass(frozen=True, slots=True)
class FactorySource:
    """A user's function that returns a module and its inputs."""

    factory: str
    """`package.module:function` or `path/to/file.py:function`."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder with `config.json` and weights, as the `transformers` library writes it."""

    folder: Path
    trust_pickle: bool = False


Source = ZooSource | FactorySource | FolderSource


@dataclass(frozen=True, slots=True)
class OpsetRange:
    """Which opsets an exporter writes, and the one it is asked for if nobody chooses."""

    lowest: int
    highest: int
    default: int


OPSETS: Mapping[Exporter, OpsetRange] = {
    # dynamo writes opset 18 and converts up; down it converts so little that it is refused.
    "dynamo": OpsetRange(18, 23, 20),
    # 14 is the lowest with what attention needs (Trilu); PyTorch stopped adding to it at 20.
    "torchscript": OpsetRange(14, 20, 17),
}


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """One export."""

    source: Source
    options: NetworkOptions = field(default_factory=NetworkOptions)
    exporter: Exporter = "dynamo"
    opset: int | None = None
    """None: the exporter's default."""
    dynamic: bool | None = None
    """None: where the model says which axes are; True: or fail; False: no axis."""

    functions: bool = False
    """Keep each module of the network as a function of the ONNX model."""

    @property
    def chosen_opset(self) -> int:
        """Return the opset to write."""
        return self.opset or OPSETS[self.exporter].default


def check(request: ExportRequest) -> None:
    """Refuse what cannot work before anything is built."""
    opsets, opset = OPSETS[request.exporter], request.chosen_opset
    if not opsets.lowest <= opset <= opsets.highest:
        others = [
            f"--exporter {name}"
            for name, others in OPSETS.items()
            if name != request.exporter and others.lowest <= opset <= others.highest
        ]
        also = f", or {others[0]} for this one" if others else ""
        raise UsageError(
            f"the exporter {request.exporter} does not write opset {opset}",
            hint=f"choose --opset {opsets.lowest} to {opsets.highest}{also}",
        )
    if request.functions and request.exporter != "dynamo":
        raise UsageError(
            f"the exporter {request.exporter} does not say which module a node belongs to",
            hint="use --exporter dynamo with --functions",
        )
