"""What the parser refuses, in our words: what is wrong, and what to write instead."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import click

from burnish.cli.commands import COMMANDS, found
from burnish.core.errors import UsageError
from burnish.core.nearest import nearest, suggestion
from burnish.study.requests.option import fields

_ELSEWHERE: Mapping[str, Sequence[str]] = {
    "--shape batch=8": ("--batch", "--batch-size", "--batch_size", "--bs"),
    "--shape sequence=128": ("--sequence", "--seq", "--seq-len", "--sequence-length", "--length"),
    "--past-length 128": ("--past", "--past-sequence-length", "--past_sequence_length"),
    "--precision fp16": ("--fp16", "--float16", "--half"),
    "--precision bf16": ("--bf16",),
    "--precision int8": ("--int8", "--quantize"),
    "--engine": ("--provider", "--ep", "--backend", "--device", "--execution-provider"),
    "--target cuda": ("--gpu", "--use-gpu", "--use_gpu", "--cuda"),
    "--runs": ("--iterations", "--iters", "--repeat", "--repetitions", "--num-runs"),
    "--rounds": ("--runs", "--iterations", "--iters", "--repeat", "--repetitions"),
    "--budget 60s": ("--time", "--timeout", "--duration", "--max-time"),
    "--output": ("--out", "--dst", "--destination", "--save", "--save-model"),
    "--data": ("--inputs", "--feeds", "--load-inputs"),
    "--disable": ("--skip", "--exclude", "--skip-fusions"),
    "--trial": ("--check",),
    "--no-trial": ("--no-check",),
    "--measure": ("--check",),
    "--cast": ("--precision",),
    "--atol": ("--tol", "--tolerances"),
    "--threads": ("--num-threads", "--intra-op", "--intra-op-threads"),
}
"""What to write here, by what people write elsewhere; the first that the command has is meant."""

_EXTRA = re.compile(r"got unexpected extra arguments? \((.*)\)")


def usage_error(error: click.ClickException, args: Sequence[str]) -> UsageError:
    """Return what a user should read who wrote these words, and was refused by the parser."""
    context: click.Context | None = getattr(error, "ctx", None)
    path = context.command_path if context is not None else _path(args)
    said = error.message[:1].lower() + error.message[1:].rstrip(".")
    match error:
        case click.NoSuchOption(option_name=option):
            meant = meant_by(option, _options(context))
            return UsageError(f"{path} has no option {option}", hint=_hint(path, meant))
        case click.MissingParameter(param=click.Parameter() as missing):
            problem = f"{path} needs {_name(missing)}"
            whole = _usage(path, context)
            if isinstance(missing, click.Option):  # all but that was written already
                whole = f"{shlex.join(['burnish', *args])} {_written(missing)}"
            return UsageError(problem, hint=_hint(path, whole))
        case click.BadParameter(param=click.Option() as option):
            problem, instead = _refused(option, said)
            return UsageError(problem, hint=f"{instead}; see {path} --help")
        case click.UsageError(ctx=click.Context(command=click.Group(commands=known))):
            word = said.partition("'")[2].partition("'")[0]
            return UsageError(f"{path} has no command {word!r}", hint=suggestion(word, known))
        case click.UsageError() if (extra := _EXTRA.fullmatch(said)) is not None:
            problem = f"{path} has no place for {extra[1]!r}"
            return UsageError(problem, hint=_hint(path, _usage(path, context)))
        case click.BadOptionUsage(option_name=option) if "requires" in said:
            problem = f"{path}: {option} needs a value"
            return UsageError(problem, hint=_hint(path, f"{option} {_value(path, option)}"))
        case _:
            return UsageError(f"{path}: {said}", hint=_hint(path, None))


def meant_by(option: str, known: Sequence[str]) -> str | None:
    """Return what to write in place of an unknown option of a command; None: nobody knows."""
    for here, elsewhere in _ELSEWHERE.items():
        if option.lower() in elsewhere and here.partition(" ")[0] in known:
            return here
    return nearest(option, known, likeness=0.75)  # dashes make any two options alike


def _hint(path: str, instead: str | None) -> str:
    see = f"see {path} --help"
    return f"write {instead}; {see}" if instead else see


def _path(args: Sequence[str]) -> str:
    """Return the command that words ask for, where the parser did not get to it."""
    words = [word for word in args if not word.startswith("-")]
    names = (" ".join(words[:length]) for length in (2, 1))
    return " ".join(["burnish", *(name for name in names if name in COMMANDS)])


def _value(path: str, flag: str) -> str:
    """Return what stands for the value of an option."""
    entry = COMMANDS[path.removeprefix("burnish ")]
    every = [
        field for spec in (entry.request, entry.rows) if spec
        for field in fields(found("study.requests", spec))
    ]  # fmt: skip
    said = next((field.said for field in every if flag in field.flags), None)
    return (said.metavar if said is not None else None) or "VALUE"


def _options(context: click.Context | None) -> list[str]:
    params = context.command.params if context is not None else []
    return [name for one in params for name in (*one.opts, *one.secondary_opts)]


def _usage(path: str, context: click.Context | None) -> str:
    """Return a command with all that it must be given."""
    params = context.command.params if context is not None else []
    needed = [one for one in params if one.required or isinstance(one, click.Argument)]
    return " ".join([path, *map(_written, needed)])


def _written(param: click.Parameter) -> str:
    value = param.metavar or param.type.name.upper()
    return value if isinstance(param, click.Argument) else f"{param.opts[0]} {value}"


def _name(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else _written(param)


def _refused(option: click.Option, said: str) -> tuple[str, str]:
    """Return what is wrong with what was written for an option, and what may be."""
    flag, wrong = option.opts[0], said.partition("'")[2].partition("'")[0]
    match option.type:
        case click.Choice(choices=known):
            return f"{flag} has no {wrong!r}", suggestion(wrong, map(str, known))
        case click.IntRange(min=least) | click.FloatRange(min=least) if not said.startswith("'"):
            return f"{flag} is at least {least}, and not {said.partition(' ')[0]}", (
                f"write for instance {flag} {option.default or least}"
            )
        case click.types.IntParamType() | click.types.FloatParamType() as kind:
            number = "whole number" if isinstance(kind, click.types.IntParamType) else "number"
            usual = 1 if number == "whole number" else 0.001
            example = option.default if isinstance(option.default, int | float) else usual
            return f"{flag} {wrong!r} is not a {number}", f"write for instance {flag} {example}"
        case _:
            return f"{flag}: {said}", "write another value"
