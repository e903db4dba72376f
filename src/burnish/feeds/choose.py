"""Choose what a model is fed: the user's data where there is some, else inputs made for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.core.tensors import TensorSpec
from burnish.feeds import dimension
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.load import load
from burnish.feeds.make import make
from burnish.feeds.roles import Role, role_of
from burnish.store import layout, onnx_files
from burnish.store.interface import Interface
from burnish.store.stored import StoredModel

_PADDINGS: tuple[Padding, ...] = ("right", "left", "none")


def choose(
    model: StoredModel,
    *,
    data: Path | None = None,
    bindings: Mapping[str, int] | None = None,
    seed: int = 0,
    padding: Padding = "right",
    samples: int = 1,
) -> tuple[Feeds, ...]:
    """Return the inputs in `data`, or `samples` made ones that differ in seed and padding.

    From the second sample on, a batch that is not bound has two rows, so that a mask can have
    both a full and a padded one. `data` may be a folder of several `test_data_set_N`.
    """
    loaded = onnx_files.look(model.onnx)
    asked = dict(bindings or {})
    if data is not None:
        return _loaded(data, onnx_files.interface(loaded), asked)
    return tuple(_made(loaded, asked, seed, padding, sample) for sample in range(samples))


def _loaded(data: Path, interface: Interface, asked: Mapping[str, int]) -> tuple[Feeds, ...]:
    paths = (layout.data_sets(data) if data.is_dir() else ()) or (data,)
    feeds = tuple(load(path, interface) for path in paths)
    for path, fed in zip(paths, feeds, strict=True):
        for name, size in asked.items():
            if fed.bindings.get(name) != size:
                found = fed.bindings.get(name, "no such dimension")
                raise UsageError(
                    f"--shape {name}={size} contradicts {path}, which has {found}",
                    hint="leave out --shape or --data: the data decides the sizes",
                )
    return feeds


def _made(
    model: ir.Model, asked: Mapping[str, int], seed: int, padding: Padding, sample: int
) -> Feeds:
    start = _PADDINGS.index(padding)
    kind = _PADDINGS[(start + sample) % len(_PADDINGS)]
    extra = _two_rows(onnx_files.interface(model).inputs, asked) if sample else {}
    return make(model, bindings={**asked, **extra}, seed=seed + sample, padding=kind)


def _two_rows(inputs: tuple[TensorSpec, ...], asked: Mapping[str, int]) -> dict[str, int]:
    masks = (spec for spec in inputs if role_of(spec) is Role.MASK and len(spec.shape) > 1)
    rows = (spec.shape[0] for spec in masks)
    return {
        dim: 2
        for dim in rows
        if isinstance(dim, str) and dimension.atoms(dim) == (dim,) and dim not in asked
    }
