"""Where models lie: `<store>/<model>/<variant>/<model>_<variant>.onnx`, and what lies beside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.core import records
from burnish.core.drafts import recover
from burnish.core.errors import ModelError, UsageError
from burnish.core.files import write_text
from burnish.core.nearest import suggestion
from burnish.store import compiled
from burnish.store.stored import Scalar, StoredModel, TorchSource

SOURCE_FILE = "source.json"
SOURCE_KIND = "torch-source"
SOURCE_SCHEMA = 2
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")
_DATA_SET = re.compile(r"test_data_set_(\d+)")


def resolve(name: str, store: Path) -> StoredModel:
    """Return the model that `name` means: a file, a folder, or a name in the store.

    A folder, and a name without a variant, will do where there is only one model to mean. The
    folder of a compiled model means the model that it was made from, and itself.
    """
    found = resolve_all(name, store)
    if len(found) == 1:
        return found[0]
    choices = ", ".join(_choice(model, Path(name)) for model in found)
    raise UsageError(f"{name!r} names {len(found)} models", hint=f"name one of: {choices}")


def resolve_all(name: str, store: Path) -> tuple[StoredModel, ...]:
    """Return every model that `name` may mean: all variants of a name, all models of a folder."""
    path = Path(name)
    recover(path)
    if path.is_file():
        return (stored(path),)
    if compiled.is_compiled(path):
        return (replace(stored(compiled.source_of(path)), compiled=path),)
    if found := _in_folder(path) if path.is_dir() else _in_store(name, store):
        return found
    if path.is_dir():
        raise UsageError(
            f"{name}: no model in this folder", hint="name an .onnx file or the folder of one"
        )
    known = (*_all_names(store), *(str(file) for file in path.parent.glob("*.onnx")))
    raise UsageError(
        f"{name!r} is neither a file nor a model in the store {store}",
        hint=suggestion(name, known) if known else "see what can be exported: burnish zoo list",
    )


def place(store: Path, name: str, variant: str) -> Path:
    """Return where the ONNX file of a model's variant belongs."""
    for part in (name, variant):
        if not _NAME.fullmatch(part):
            raise UsageError(
                f"{part!r} cannot be part of a model's name",
                hint="use letters, digits, '_', '-', '.' and '+', beginning with a letter or digit",
            )
    return store / name / variant / f"{name}_{variant}.onnx"


def listing(store: Path) -> tuple[StoredModel, ...]:
    """Return all models of a store, by name and variant."""
    if not store.is_dir():
        raise UsageError(
            f"{store}: no such folder", hint="name the store with --store or BURNISH_STORE"
        )
    return _models(store)


def stored(onnx: Path) -> StoredModel:
    """Return the model in an ONNX file, with what lies beside it."""
    require_utf8(str(onnx))
    folder = onnx.absolute().parent
    name, variant = folder.parent.name, folder.name
    in_layout = onnx.stem == f"{name}_{variant}"
    return StoredModel(
        onnx=onnx,
        name=name if in_layout else onnx.stem,
        variant=variant if in_layout else None,
        data_sets=data_sets(onnx.parent),
        torch=_torch_source(onnx.parent),
    )


def require_utf8(name: str) -> None:
    """Raise if a model's name is bytes that are no text: engines and reports are given text."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        shown = name.encode(errors="backslashreplace").decode()
        raise ModelError(
            f"{shown}: is no name in UTF-8, which engines and reports need",
            hint="give the file, or its folder, another name",
        ) from error


def data_sets(folder: Path) -> tuple[Path, ...]:
    """Return the `test_data_set_N` folders in `folder`, by number."""
    matches = ((_DATA_SET.fullmatch(path.name), path) for path in folder.iterdir())
    return tuple(path for _, path in sorted((int(m[1]), path) for m, path in matches if m))


def write_source(onnx: Path, source: TorchSource) -> None:
    """Write down, beside an ONNX file, which PyTorch module it was exported from."""
    text = records.text_of(records.document(source, schema=SOURCE_SCHEMA))
    write_text(onnx.parent / SOURCE_FILE, text)


def _torch_source(folder: Path) -> TorchSource | None:
    path = folder / SOURCE_FILE
    if not path.is_file():
        return None
    if records.holds(path, SOURCE_KIND, schema=1):
        return _of_first_schema(path)
    return records.read_document(TorchSource, path, schema=SOURCE_SCHEMA)


@dataclass(frozen=True, slots=True)
class _FirstSource:
    """How sources were written down once: also burnish's own as functions one can import."""

    factory: str
    arguments: Mapping[str, Scalar]


def _of_first_schema(path: Path) -> TorchSource:
    old = records.read_document(_FirstSource, path, schema=1, kind=SOURCE_KIND)
    given = dict(old.arguments)
    # the exact names of what wrote them: what begins alike is somebody else's
    if old.factory == "burnish.zoo.factory:module_and_inputs":
        return TorchSource("zoo", str(given.pop("name", "")), given)
    if old.factory == "burnish.zoo.exporting.sources:module_and_inputs":
        if "factory" in given:
            return TorchSource("module", str(given.pop("factory")), given)
        return TorchSource("folder", str(given.pop("folder", "")), given)
    return TorchSource("function", old.factory, given)


def _in_folder(folder: Path) -> tuple[StoredModel, ...]:
    """Return the models of a variant's folder, else of a model's, else of a store."""
    own = tuple(stored(path) for path in sorted(folder.glob("*.onnx")))
    variants = sorted(path for path in folder.iterdir() if path.is_dir())
    return own or _first_in_each(variants) or _models(folder)


def _in_store(name: str, store: Path) -> tuple[StoredModel, ...]:
    parts = name.split("/")
    if len(parts) > 2 or not all(_NAME.fullmatch(part) for part in parts):
        return ()
    folder = store.joinpath(*parts)
    return _in_folder(folder) if folder.is_dir() else ()


def _models(store: Path) -> tuple[StoredModel, ...]:
    if not store.is_dir():
        return ()
    return _first_in_each(sorted(path for path in store.glob("*/*") if path.is_dir()))


def _first_in_each(variants: Iterable[Path]) -> tuple[StoredModel, ...]:
    """Return the models that lie where the layout says."""
    places = (folder / f"{folder.absolute().parent.name}_{folder.name}.onnx" for folder in variants)
    return tuple(stored(path) for path in places if path.is_file())


def _all_names(store: Path) -> list[str]:
    models = _models(store)
    return sorted({model.label for model in models} | {model.name for model in models})


def _choice(model: StoredModel, asked: Path) -> str:
    return str(model.onnx) if asked.is_dir() else model.label
