"""Candidates for many groups of nodes in one file: prepared without a card, timed on one.

A bundle is a ZIP archive: `bundle.json`, cubins under their sums, and expected values as `.npy`.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from burnish.core import records
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from burnish.core.errors import ModelError
from burnish.core.files import written_beside
from burnish.cuda.assemble import BoundWork, assemble, sources
from burnish.cuda.build import BuildOptions, build, triton_version
from burnish.cuda.expected import Expected
from burnish.cuda.kernel import BuiltCubin, CubinKernel, Failed, TritonSource
from burnish.cuda.recipe import Recipe, made
from burnish.cuda.table import DeviceTable

SCHEMA = 2

MOST_SPILLED_WORDS = 100
"""Kernels that keep more than this many values of a thread in memory were never the fastest."""

_HEAD = "bundle.json"


@dataclass(frozen=True, slots=True)
class Stored:
    """An input whose elements matter: small constants, indices."""

    array: str
    """The name of its bytes among the bundle's values."""
    dtype: str
    shape: tuple[int, ...]


Input = Recipe | Stored


@dataclass(frozen=True, slots=True)
class BundledCandidate:
    """One way to compute a group."""

    label: str
    """Tells the candidates of a group apart: a schedule, as whoever asks writes it."""
    work: BoundWork
    """Its inputs are the group's."""


@dataclass(frozen=True, slots=True)
class BundledGroup:
    """What is computed, and every way of doing so that is to be timed."""

    signature: str
    """Equal for equal groups of any model."""
    inputs: Mapping[str, Input]
    expected: Mapping[str, Expected]
    candidates: tuple[BundledCandidate, ...]


@dataclass(frozen=True, slots=True)
class PreparedCandidate:
    """A candidate as it stands in a bundle."""

    label: str
    table: DeviceTable | None
    """None: it could not be compiled, or needs not be timed."""
    reason: str = ""
    """Why not."""


@dataclass(frozen=True, slots=True)
class PreparedGroup:
    """A group as it stands in a bundle."""

    signature: str
    inputs: Mapping[str, Input]
    expected: Mapping[str, Expected]
    candidates: tuple[PreparedCandidate, ...]


@dataclass(frozen=True, slots=True)
class Bundle:
    """What stands in `bundle.json`."""

    architecture: str
    triton: str
    generator: str
    """Which version of whoever wrote the kernels."""
    groups: tuple[PreparedGroup, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """A bundle, and what it refers to."""

    bundle: Bundle
    code: Mapping[str, bytes] = field(default_factory=dict)
    """Cubins by their sums."""
    values: Arrays = field(default_factory=dict)
    """What outputs must hold, and stored inputs as bytes, by name."""

    def made(self, wanted: Input) -> Array:
        """Return an input."""
        if isinstance(wanted, Recipe):
            return made(wanted)
        return self.values[wanted.array].view(array_type(wanted.dtype)).reshape(wanted.shape)


def prepare(
    groups: Sequence[BundledGroup],
    values: Arrays,
    architecture: str,
    *,
    generator: str,
    options: BuildOptions = BuildOptions(),  # noqa: B008  (frozen)
) -> Contents:
    """Return a bundle of all candidates, compiled; those that cannot be have a reason."""
    works = [candidate.work for group in groups for candidate in group.candidates]
    needed = sources(works)
    found = dict(zip(needed, build(needed, architecture, options), strict=True))
    code: dict[str, bytes] = {}
    prepared = tuple(
        PreparedGroup(
            group.signature,
            group.inputs,
            group.expected,
            tuple(_prepared(each, found, code) for each in group.candidates),
        )
        for group in groups
    )
    bundle = Bundle(architecture, triton_version(), generator, prepared)
    return Contents(bundle, code, values)


def _prepared(
    candidate: BundledCandidate,
    found: Mapping[TritonSource, BuiltCubin | Failed],
    code: dict[str, bytes],
) -> PreparedCandidate:
    built = {}
    for source in sources([candidate.work]):
        match found[source]:
            case Failed(reason):
                return PreparedCandidate(candidate.label, None, f"{source.name}: {reason}")
            case BuiltCubin() as one:
                spilled = one.kernel.spilled_words
                if spilled > MOST_SPILLED_WORDS:
                    reason = f"{source.name}: {spilled} values of each thread are in memory"
                    return PreparedCandidate(candidate.label, None, reason)
                built[source] = one
    done = assemble([candidate.work], built)
    code.update({done.table.kernels[name].key: each for name, each in done.code.items()})
    return PreparedCandidate(candidate.label, done.table)


def kernels(prepared: PreparedCandidate) -> tuple[CubinKernel, ...]:
    """Return the kernels of a candidate."""
    return tuple(each.kernel for each in prepared.table.kernels.values()) if prepared.table else ()


def write(path: Path, contents: Contents) -> None:
    """Write a bundle: all of it, or nothing."""
    head = json.dumps(records.document(contents.bundle, schema=SCHEMA))
    with (
        written_beside(path) as folder,
        zipfile.ZipFile(folder / path.name, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(_HEAD, head)
        for key, code in contents.code.items():
            archive.writestr(f"{key}.cubin", code)
        for name, array in contents.values.items():
            stream = io.BytesIO()
            np.save(stream, array, allow_pickle=False)
            archive.writestr(f"{name}.npy", stream.getvalue())


def read(path: Path) -> Contents:
    """Return what a bundle holds."""
    with _explained(path), zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read(_HEAD))
        if (data.get("kind"), data.get("schema")) != (records.kind_of(Bundle), SCHEMA):
            raise ValueError(f"it holds {data.get('kind')} with schema {data.get('schema')}")
        bundle: Bundle = records.decode(Bundle, data)
        code, values = {}, {}
        for name in archive.namelist():
            stem, _, kind = name.rpartition(".")
            if kind == "cubin":
                code[stem] = archive.read(name)
            elif kind == "npy":
                values[stem] = _array(archive.read(name))
    return Contents(bundle, code, values)


def _array(content: bytes) -> Array:
    found: Array = np.load(io.BytesIO(content), allow_pickle=False)
    return found


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{path}: is no bundle of candidates ({error})",
            hint="make it again where the models are",
        ) from error
