"""From the fields of a request to the options of a command, and from what was written back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from burnish.cli import output
from burnish.core import files
from burnish.core.errors import UsageError
from burnish.core.whole import whole
from burnish.store.compiled import require_outside
from burnish.study.requests.apart import require_apart, targets
from burnish.study.requests.option import Option, Positional, RequestField, fields

R = TypeVar("R")
_WRITABLE: Mapping[str, Callable[[Path], object]] = {
    "file": files.check_file,
    "folder": files.check_room,
}
_JSON = "as_json"


def command(
    request: type, *shown_as: type, name: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Return a decorator: a function of a request becomes a command with the request's options.

    `shown_as`: records that say only how the result is shown; they follow the request.
    """
    kinds = (request, *shown_as)

    def made(do: Callable[..., None]) -> click.Command:
        def callback(**given: Any) -> None:  # noqa: ANN401  (what a parser found)
            output.as_json(wanted=given[_JSON] or given.get("format") == "json")
            do(*(built(kind, click.get_current_context()) for kind in kinds))

        params = [parameter(field) for kind in kinds for field in fields(kind)]
        params.append(
            click.Option(
                ["--json", _JSON], is_flag=True, help="Print one JSON document instead of tables."
            )
        )
        return _Command(name, callback=callback, params=params, help=request.__doc__)

    return made


class _Command(click.Command):
    """A command whose options are written once, unless all that is written counts."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for param, times in Counter(order).items():
            if times > 1 and isinstance(param, click.Option) and _counts_once(param):
                names = " or ".join((param.opts[0], *param.secondary_opts))
                raise UsageError(
                    f"one {names} is taken here, and {times} were given",
                    hint=f"write it once; see {ctx.command_path} --help",
                )
        return super().parse_args(ctx, args)


def _counts_once(option: click.Option) -> bool:
    """Return whether of two values one would be lost; a flag twice is no contradiction."""
    return not option.multiple and (not option.is_flag or bool(option.secondary_opts))


def parameter(field: RequestField) -> click.Parameter:
    """Return how a field is written on a command line."""
    match field.said:
        case Positional(metavar, many):
            return click.Argument(
                [field.name], metavar=metavar, nargs=-1 if many else 1, required=field.required
            )
        case option:
            return _option(field, option)


def _option(field: RequestField, said: Option) -> click.Option:
    # what is read from text is shown only where its default is text, too
    shown = said.read is None or isinstance(field.default, str)
    default = field.default if shown and not field.required else None
    if said.repeated and isinstance(default, str):
        default = (default,)
    kind: dict[str, Any] = {"type": _type(said.kind, said.least)}
    if said.kind is bool:
        kind = {"is_flag": True}
    elif said.unless is not None:
        kind |= {"is_flag": False, "flag_value": said.unless}
    if not field.required:  # even None would count as given
        kind["default"] = default
    return click.Option(
        [*field.flags, field.name],
        **kind,
        multiple=said.repeated,
        metavar=said.metavar,
        required=field.required,
        show_default=not (default is None or default is False or default == ()),
        help=said.help,
    )


class _PathOrNothing(click.Path):
    """A path; an empty text stays one, which `Path` would take for the folder one is in."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401  (click's own)
        return value if value == "" else super().convert(value, param, ctx)


class _Whole(click.types.IntParamType):
    """A whole number as everywhere else: plain digits, and no more than 64 bits hold."""

    def convert(self, value: Any, param: Any, ctx: Any) -> int:  # noqa: ANN401  (click's own)
        if isinstance(value, str) and whole(value.removeprefix("-")) is None:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        return super().convert(value, param, ctx)


class _WholeRange(_Whole, click.IntRange):
    """One that is not too small."""


class _Number(click.FloatRange):
    """A number that one can count with: neither `nan` nor `inf`."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:  # noqa: ANN401  (click's own)
        found = super().convert(value, param, ctx)
        if not math.isfinite(found) or not str(value).isascii() or "_" in str(value):
            self.fail(f"{value!r} is not a number", param, ctx)
        return found


def _type(kind: Any, least: float | None) -> click.ParamType[Any]:  # noqa: ANN401  (see Option.kind)
    match kind:
        case tuple():
            return click.Choice(kind)
        case _ if kind is Path:
            return _PathOrNothing(path_type=Path)
        case _ if kind is int:
            return _Whole() if least is None else _WholeRange(min=int(least))
        case _ if kind is float:
            return _Number(min=least)
        case _:
            return click.STRING


def built(request: type[R], context: click.Context) -> R:
    """Return the request that was written; what was not keeps the request's own default."""
    written = {
        field.name: _value(field, context.params[field.name])
        for field in fields(request)
        if context.get_parameter_source(field.name) is ParameterSource.COMMANDLINE
    }
    asked = request(**written)
    require_apart(asked)
    for target in targets(asked):
        require_outside(target)
    return asked


def _value(field: RequestField, written: Any) -> Any:  # noqa: ANN401  (what a parser found)
    _require_text(field, written)
    if isinstance(field.said, Positional):
        return written
    value = written if field.said.read is None else _read(field, written)
    if check := _WRITABLE.get(field.said.writes):
        for path in value if isinstance(value, tuple) else (value,):
            check(path)
    return value


def _require_text(field: RequestField, written: Any) -> None:  # noqa: ANN401
    """Raise where something was written that says nothing: '' is mostly an unset variable."""
    for one in written if isinstance(written, tuple) else (written,):
        if isinstance(one, str) and not one.strip(" ,"):
            if isinstance(field.said, Positional):
                name = field.said.metavar.strip("[]…")
                raise UsageError(f"{name} is empty", hint=f"write {name} as a name or a path")
            flag, value = field.flags[0], field.said.metavar or "VALUE"
            raise UsageError(f"{flag} is empty", hint=f"leave it out, or write {flag} {value}")


def _read(field: RequestField, written: Any) -> Any:  # noqa: ANN401
    """Return what the written text means; a refusal names the option."""
    assert isinstance(field.said, Option)
    assert field.said.read is not None
    try:
        return field.said.read(written)
    except UsageError as error:
        if field.flags[0] in error.problem:
            raise
        raise UsageError(f"{field.flags[0]}: {error.problem}", hint=error.hint) from error
