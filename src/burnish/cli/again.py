"""The command line of a running command, to be suggested again with more options."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource


def again(context: click.Context, *more: str) -> str:
    """Return the same command with `more` options, ready to be pasted into a shell."""
    words = context.command_path.split()
    for parameter in context.command.get_params(context):
        name = parameter.name or ""
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += _words(parameter, context.params.get(name))
    return shlex.join([*words, *more])


def _words(parameter: click.Parameter, value: Any) -> list[str]:  # noqa: ANN401  (any option)
    values: Sequence[Any] = value if isinstance(value, tuple) else (value,)
    given = [str(each) for each in values if each is not None]
    if isinstance(parameter, click.Argument):
        return given
    name = max(parameter.opts, key=len)
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return [name] if value else []
    return [word for each in given for word in (name, each)]
