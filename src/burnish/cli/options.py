"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from burnish.core.errors import UsageError

Command = Callable[..., Any]

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document instead of tables."
)

model_argument = click.argument("model", metavar="MODEL")
"""A path to an ONNX file, a store folder, or `name` / `name/variant` in the store."""

store_option = click.option(
    "--store", type=click.Path(path_type=Path), default=None,
    help="Folder of models named by name and variant (default: $BURNISH_STORE, else ./models).",
)  # fmt: skip

shape_option = click.option(
    "--shape", "shape", metavar="NAME=SIZE,…", multiple=True,
    help="Bind symbolic dimensions, for instance batch=8,sequence=128.",
)  # fmt: skip

seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of made inputs."
)

padding_option = click.option(
    "--padding", type=click.Choice(["right", "left", "none"]), default="right", show_default=True,
    help="Where the attention masks of made inputs have their padding.",
)  # fmt: skip

data_option = click.option(
    "--data", type=click.Path(path_type=Path), default=None,
    help="Inputs from a file: an .npz, or a test_data_set_N folder.",
)  # fmt: skip

engine_option = click.option(
    "--engine", "engines", metavar="NAME,…", multiple=True,
    help="Engines to use; `burnish doctor` lists them.",
)  # fmt: skip

threads_option = click.option(
    "--threads",
    type=click.IntRange(min=1),
    default=None,
    help="CPU threads of the engine (default: its own choice).",
)

hw_option = click.option(
    "--hw", metavar="NAME|FILE", default=None,
    help="Limits of a device of the catalog, or in a file of burnish doctor --probe.",
)  # fmt: skip

fallback_option = click.option(
    "--allow-fallback", is_flag=True,
    help="Accept another provider, precision or placement than asked for; the result says so.",
)  # fmt: skip

trust_option = click.option(
    "--trust-factory", "trusted", metavar="SPEC", multiple=True,
    help="Let PyTorch engines run this code, which a source.json beside a model names: "
    "file.py:function. Read it first.",
)  # fmt: skip

target_option = click.option(
    "--target", "target_device", type=click.Choice(["cpu", "cuda"]), default="cpu",
    show_default=True, help="Where the model will run: only operators with kernels there are used.",
)  # fmt: skip

ops_option = click.option(
    "--ops", type=click.Choice(["auto", "standard", "contrib"]), default="auto", show_default=True,
    help="Operators that fusions may use: those of ONNX, of ONNX Runtime, or what is faster.",
)  # fmt: skip

cost_option = click.option(
    "--cost", type=click.Choice(["rules", "measured", "off"]), default="rules", show_default=True,
    help="Leave fusions out that are slower: known to be, measured here, or never.",
)  # fmt: skip

check_option = click.option(
    "--check/--no-check", default=True, show_default=True,
    help="Run each fusion, on its own part of the graph, against what it replaces.",
)  # fmt: skip

rules_option = click.option(
    "--rules", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
    metavar="FILE.py", help="Fusion rules of your own; the file is run.",
)  # fmt: skip


def output_option(
    *, required: bool, text: str, of: Literal["file", "folder", "either"] = "file"
) -> Callable[[Command], Command]:
    """Return the option `-o`, which says where the result goes."""
    return click.option(
        "-o",
        "--output",
        "target",
        type=click.Path(path_type=Path),
        callback={"file": writable, "folder": room, "either": None}[of],
        required=required,
        help=text,
    )


def budget_option(default: str | None, text: str) -> Callable[[Command], Command]:
    """Return the option `--budget`, a time; its value is in seconds, None where none was given."""
    return click.option(
        "--budget",
        metavar="TIME",
        callback=lambda _context, _option, given: None if given is None else seconds(given),
        default=default,
        show_default=default is not None,
        help=f"{text} Written as 60, 60s or 5m.",
    )


def seconds(text: str) -> float:
    """Return `60`, `60s` or `5m` in seconds."""
    factor = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 1.0)
    try:
        found = float(text.rstrip("smh")) * factor
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise UsageError(
            f"--budget {text!r} is not a time", hint="write for instance --budget 60s or 5m"
        )
    return found


def writable(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:  # noqa: ANN401
    """Return the file or files to write; one that cannot be is refused before anything is done."""
    from burnish.core import files

    for path in value if isinstance(value, tuple) else (value,):
        if path is not None:
            files.check_file(path)
    return value


def room(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Return the folder to write into; something else of this name is refused at once."""
    from burnish.core import files

    if value is not None:
        files.check_room(value)
    return value


def names(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return `("a,b", "c")` as `("a", "b", "c")`, each once."""
    return tuple(
        dict.fromkeys(part.strip() for value in values for part in value.split(",") if part.strip())
    )


def bindings(values: tuple[str, ...]) -> dict[str, int]:
    """Return `("batch=8,sequence=128",)` as a dictionary."""
    result: dict[str, int] = {}
    for part in names(values):
        name, separator, size = part.partition("=")
        if not separator or not size.strip().isdigit():
            raise UsageError(
                f"--shape {part!r} is not NAME=SIZE",
                hint="write for instance --shape batch=8,sequence=128",
            )
        result[name.strip()] = int(size)
    return result
