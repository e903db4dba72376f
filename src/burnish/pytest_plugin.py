"""Fixtures for tests of models: `assert_parity` and `assert_not_slower`.

pytest loads this module whenever burnish is installed, so it imports nothing but pytest until a
test asks for one of them. The gate needs a baseline of the machine that tests run on:
`burnish bench MODEL -o baseline.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

Asked = TypeVar("Asked")
Report = TypeVar("Report")

if TYPE_CHECKING:
    from burnish.parity.report import VerifyReport
    from burnish.report.guarded import GateReport


def pytest_configure(config: pytest.Config) -> None:
    """Make `-m "not burnish_gate"` possible: tests of speed are for quiet machines."""
    config.addinivalue_line(
        "markers", "burnish_gate: measures speed with burnish; wants a quiet machine"
    )


@pytest.fixture(scope="session")
def assert_parity() -> Callable[..., VerifyReport]:
    """Return a function that takes what `burnish verify` takes, and fails if results differ."""

    def check(model: Any, candidate: Any = None, **options: Any) -> VerifyReport:  # noqa: ANN401
        __tracebackhide__ = True
        from burnish.study.requests.judging import VerifyCommand
        from burnish.study.verify import answer, require

        return _judged(VerifyCommand(model, candidate, **options), answer, require)

    return check


@pytest.fixture(scope="session")
def assert_not_slower() -> Callable[..., GateReport]:
    """Return a function that takes what `burnish gate` takes, and fails if the model is slower.

    A test is skipped, with the reason, where a slowdown as large as the limit could not have been
    seen: on a busy machine, or on one that has no baseline.
    """

    def check(model: Any, baseline: str, **options: Any) -> GateReport:  # noqa: ANN401
        __tracebackhide__ = True
        from burnish.study.gate import answer, require
        from burnish.study.requests.guarding import GateCommand

        return _judged(GateCommand(model, baseline=str(baseline), **options), answer, require)

    return check


def _judged(
    asked: Asked, answer: Callable[[Asked], Report], require: Callable[[Asked, Report], None]
) -> Report:
    __tracebackhide__ = True
    from burnish.core.errors import CheckFailedError, MissingCapabilityError

    failed = missing = ""
    try:
        report = answer(asked)
        require(asked, report)
    except CheckFailedError as error:
        failed = f"{error.problem}\n{error.hint}"
    except MissingCapabilityError as error:
        missing = f"{error.problem} ({error.hint})"
    # out of the handlers: pytest would print what was caught before what is raised here
    if failed:
        pytest.fail(failed, pytrace=False)
    if missing:
        pytest.skip(missing)
    return report
