"""What the commands that rewrite a model take from the command line alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnish.cli import options
from burnish.core.errors import UsageError

if TYPE_CHECKING:
    from burnish.rewrite.options import Conversion, Edges, OptimizeOptions
    from burnish.study.trial import Trial


def chosen_options(asked: dict[str, Any]) -> OptimizeOptions:
    """Return what is asked of rewriting."""
    from burnish.rewrite.options import OptimizeOptions

    return OptimizeOptions(
        disable=options.names(asked["disable"]),
        only=options.names(asked.get("only", ())),
        keep_functions=asked.get("keep_functions", False),
        raise_opset=not asked.get("keep_opset", False),
        target=asked["target_device"],
        ops=asked["ops"],
        cost=asked["cost"],
        conversion=chosen_conversion(asked),
    )


def chosen_conversion(asked: dict[str, Any]) -> Conversion:
    """Return which types and names of a model are to be others."""
    from burnish.rewrite.options import Conversion, HalfRequest

    half, kept = asked.get("precision") == "fp16", asked.get("keep_fp32", ())
    for option, given in (("--keep-io", asked.get("keep_io")), ("--keep-fp32", kept)):
        if given and not half:
            raise UsageError(f"{option} says nothing without -p fp16", hint="add -p fp16")
    edges: Edges = "keep" if asked.get("keep_io") else "convert"
    return Conversion(
        axes=_renamings(asked.get("rename_axis", ())),
        i32_inputs=asked.get("int32_inputs", False),
        half=HalfRequest(edges, options.names(kept)) if half else None,
    )


def _renamings(values: tuple[str, ...]) -> dict[str, str]:
    """Return `("unk__6=batch,unk__7=sequence",)` as a dictionary."""
    result: dict[str, str] = {}
    for part in options.names(values):
        old, separator, new = part.partition("=")
        if not separator or not old.strip() or not new.strip():
            raise UsageError(
                f"--rename-axis {part!r} is not OLD=NEW",
                hint="for instance --rename-axis unk__6=batch",
            )
        result[old.strip()] = new.strip()
    return result


def variant_suffix(conversion: Conversion) -> str:
    """Return how the variant of a stored model is called after such a conversion."""
    parts = ["optimized"]
    if conversion.half is not None:
        parts.append("fp16")
    if conversion.i32_inputs:
        parts.append("int32")
    return "_".join(parts)


def chosen_trial(asked: dict[str, Any]) -> Trial:
    """Return how fusions are tried."""
    from burnish.rewrite.dump import Dump
    from burnish.rewrite.user_rules import load
    from burnish.study.trial import Trial

    watched = {"observer": Dump(asked["dump"])} if asked.get("dump") else {}
    return Trial(
        check=asked.get("check", False),
        rules=tuple(rule for path in asked["rules"] for rule in load(path)),
        bindings=options.bindings(asked.get("shape", ())),
        **watched,
    )
