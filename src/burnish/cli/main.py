"""The command `burnish`: loads a command when it is called; every outcome has an exit code."""

from __future__ import annotations

import gc
import logging
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import click

from burnish.cli import commands, mishaps, output, signals
from burnish.core import settings
from burnish.core.errors import INTERRUPTED, BurnishError, UsageError
from burnish.core.nearest import nearest
from burnish.version import __version__

logger = logging.getLogger(__name__)
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


class _LazyGroup(click.Group):
    """Imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(commands.summaries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return commands.made(cmd_name) if cmd_name in commands.summaries() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = commands.summaries()
        if args and not args[0].startswith("-") and args[0] not in known:
            from burnish.core.nearest import suggestion

            raise UsageError(f"no such command {args[0]!r}", hint=suggestion(args[0], known))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(commands.summaries().items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="burnish %(version)s")
@click.option("-v", "--verbose", count=True, help="Say what is done; twice: and why.")
@click.option("-q", "--quiet", is_flag=True, help="Show results and errors only.")
def burnish(verbose: int, quiet: bool) -> None:
    """Make neural networks run fast at inference, and prove it."""
    from burnish.core.memory import require_addresses

    output.configure(verbose=verbose, quiet=quiet)
    require_addresses()


def run(args: Sequence[str]) -> int:
    """Run one command and return its exit code; never raises."""
    try:
        return _ran(args)
    except BurnishError as error:
        output.failure(_with_command(error, args))
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        output.note(error.format_message())
        return UsageError.exit_code
    except click.ClickException as error:
        output.failure(_as_usage_error(error))
        return UsageError.exit_code
    except (click.Abort, KeyboardInterrupt):
        output.note("interrupted; run the same command again to go on")
        return INTERRUPTED
    except signals.Interrupted as error:
        with suppress(OSError):  # the terminal may be gone
            output.note(f"interrupted by {error}; run the same command again to go on")
        return error.exit_code
    except (BrokenPipeError, SystemExit) as error:
        return _pipe_closed(error)
    except Exception as error:
        return _unforeseen(error)


def entry() -> None:
    """Run the command line of this process and exit."""
    settings.calm()
    signals.heed()
    # graphs and traces are many objects and few cycles: by default a third of the time goes there
    gc.set_threshold(50_000, 20, 50)
    try:
        code = run(sys.argv[1:])
    except signals.Interrupted as error:  # while an error was being told
        code = error.exit_code
    signals.heed_no_more()
    sys.exit(code)


def _ran(args: Sequence[str]) -> int:
    code = _code(burnish.main(list(args), prog_name="burnish", standalone_mode=False))
    output.flush()  # now, while a closed pipe can still be told from a failure
    return code


def _code(result: Any) -> int:  # noqa: ANN401  (what a click command returns is untyped)
    return result if isinstance(result, int) else 0


def _with_command(error: BurnishError, args: Sequence[str]) -> BurnishError:
    """Return an error whose hint ends with the command that goes through, where there is one."""
    if error.more:
        hint = error.hint.removesuffix(f", add {shlex.join(error.more)}")
        error.hint = f"{hint}: {shlex.join(['burnish', *args, *error.more])}"
    return error


def _unforeseen(error: Exception) -> int:
    """Say that the machine failed, or that burnish did; return the exit code."""
    problem = mishaps.explained(error)
    if problem is None:
        problem = mishaps.reported(error)
        if output.is_verbose():
            logger.error("the error came from here", exc_info=error)
    output.failure(problem)
    return problem.exit_code


def _as_usage_error(error: click.ClickException) -> UsageError:
    context: click.Context | None = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "burnish"
    if isinstance(error, click.NoSuchOption) and context is not None:
        known = [
            name for one in context.command.params for name in (*one.opts, *one.secondary_opts)
        ]
        meant = meant_by(error.option_name, known)
        hint = f"see {path} --help" if meant is None else f"write {meant}; see {path} --help"
        return UsageError(f"{path} has no option {error.option_name}", hint=hint)
    return UsageError(error.format_message(), hint=f"see {path} --help")


def _pipe_closed(error: BaseException) -> int:
    """Return success: the reader (`head`, a pager) has seen enough; silence Python's last flush."""
    # click leaves so for a pipe, and wraps stdout first; else it was a user's rule that left
    if isinstance(error, SystemExit) and "PacifyFlush" not in type(sys.stdout).__name__:
        raise error
    sys.stdout = None
    return 0


def meant_by(option: str, known: Sequence[str]) -> str | None:
    """Return what to write in place of an unknown option of a command; None: nobody knows."""
    for here, elsewhere in _ELSEWHERE.items():
        if option.lower() in elsewhere and here.partition(" ")[0] in known:
            return here
    return nearest(option, known, likeness=0.75)  # dashes make any two options alike
