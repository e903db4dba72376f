from __future__ import annotations

import pytest

from burnish.core import errors


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.CheckFailedError, 1),
        (errors.UsageError, 2),
        (errors.ModelError, 3),
        (errors.MissingCapabilityError, 4),
    ],
)
def test_each_kind_has_its_exit_code(kind: type[errors.BurnishError], code: int) -> None:
    assert kind("found this", hint="do that").exit_code == code


def test_an_error_says_the_problem_and_the_way_out() -> None:
    error = errors.ModelError("a.onnx: is empty", hint="export it again")
    assert (str(error), error.hint) == ("a.onnx: is empty", "export it again")


def test_an_error_of_a_copy_speaks_of_what_the_user_knows() -> None:
    error = errors.ModelError("/tmp/x/copy: is empty", hint="see `burnish model show /tmp/x/copy`")
    error.name("a.onnx", "/tmp/x/copy")
    assert (str(error), error.hint) == ("a.onnx: is empty", "see `burnish model show a.onnx`")
