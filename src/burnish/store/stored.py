"""A model on disk, and what lies beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Scalar = str | int | float | bool | None

Origin = Literal["zoo", "folder", "module", "function"]
"""What makes a PyTorch module.

`zoo`: an entry of burnish's own zoo. `folder`: weights and a configuration. `module`: the function
that `burnish export --module` was given. `function`: one that is called with the arguments.
"""


@dataclass(frozen=True, slots=True)
class TorchSource:
    """How to build the PyTorch module that a model was exported from."""

    origin: Origin
    name: str
    """The zoo's entry, the folder, `package.module:function` or `path/to/file.py:function`."""
    arguments: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model named by its ONNX file, with its place in a store where it has one."""

    onnx: Path
    name: str
    """The model's name in the store, or the file's stem."""
    variant: str | None = None
    """`dynamo`, `torchscript`, `dynamo_optimized` …; None outside a store."""
    data_sets: tuple[Path, ...] = ()
    """The `test_data_set_N` folders beside the file, by number."""
    torch: TorchSource | None = None
    compiled: Path | None = None
    """The folder of `burnish compile` that was made from it, where that was named instead."""
    trusted: bool = False
    """Whether the user has named the code that makes its PyTorch module; no file can say so."""
    sizes: tuple[Mapping[str, int], ...] = ()
    """At which to measure it, where whoever names it says so; empty: as is asked for all."""

    @property
    def label(self) -> str:
        """Return how people call it: `bert/dynamo`, or the file's stem."""
        return f"{self.name}/{self.variant}" if self.variant else self.name
