"""Errors a user can act on, one class per exit code; anything else is a bug in burnish."""

from __future__ import annotations

BUG = 70
INTERRUPTED = 130


class BurnishError(Exception):
    """A problem the user can act on: what was found, and what to do about it."""

    exit_code = BUG

    def __init__(self, problem: str, *, hint: str, more: tuple[str, ...] = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
        self.more = more
        """Words with which the same command goes through."""

    def name(self, known: object, stand_in: object) -> None:
        """Speak of what the user knows, where the error spoke of a copy of ours."""
        self.problem = self.problem.replace(str(stand_in), str(known))
        self.hint = self.hint.replace(str(stand_in), str(known))
        self.args = (self.problem,)


class CheckFailedError(BurnishError):
    """The question was answered, and the answer is no."""

    exit_code = 1


class WrongResultError(CheckFailedError):
    """The question was answered: what is computed is not what was."""

    exit_code = 5


class UsageError(BurnishError):
    """The request makes no sense."""

    exit_code = 2


class ModelError(BurnishError):
    """This input cannot be used."""

    exit_code = 3


class MissingCapabilityError(BurnishError):
    """This machine lacks something."""

    exit_code = 4
