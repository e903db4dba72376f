"""The command `burnish`: loads a command when it is called; every outcome has an exit code."""

from __future__ import annotations

import gc
import logging
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import click

from burnish.cli import bugs, commands, output, signals
from burnish.cli.misuse import usage_error
from burnish.core import mishaps, settings
from burnish.core.errors import INTERRUPTED, BurnishError, UsageError
from burnish.version import __version__

logger = logging.getLogger(__name__)


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

            meant = " ".join(["burnish", *(word for word in args[1:2] if word in known)])
            hint = f"write {meant} --help" if args[0] == "help" else suggestion(args[0], known)
            raise UsageError(f"no such command {args[0]!r}", hint=hint)
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
        output.failure(usage_error(error, args))
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
        problem = bugs.reported(error)
        if output.is_verbose():
            logger.error("the error came from here", exc_info=error)
    output.failure(problem)
    return problem.exit_code


def _pipe_closed(error: BaseException) -> int:
    """Return success: the reader (`head`, a pager) has seen enough; silence Python's last flush."""
    # click leaves so for a pipe, and wraps stdout first; else it was a user's rule that left
    if isinstance(error, SystemExit) and "PacifyFlush" not in type(sys.stdout).__name__:
        raise error
    sys.stdout = None
    return 0
