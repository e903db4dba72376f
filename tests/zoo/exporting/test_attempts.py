from __future__ import annotations

import onnx_ir as ir
import pytest

from burnish.core.errors import ModelError
from burnish.store.stored import TorchSource
from burnish.zoo.entry import BuiltModel
from burnish.zoo.exporting.attempts import Attempt, first_success
from burnish.zoo.exporting.graph import ExportedGraph
from burnish.zoo.exporting.sources import BuiltModule
from burnish.zoo.exporting.stages import Workaround

EXPORTED = ExportedGraph(ir.Model(ir.Graph([], [], nodes=[]), ir_version=10))


def _attempt(what: str, error: Exception | None = None) -> Attempt:
    def export(_: BuiltModel) -> ExportedGraph:
        if error is not None:
            raise error
        return EXPORTED

    built = BuiltModule(BuiltModel(None, {}, {}, (), {}), TorchSource("module", what, {}))
    return Attempt(what, lambda: built, export)


def test_nothing_is_worked_around_where_the_first_attempt_succeeds() -> None:
    assert first_success([_attempt("as asked")]).workarounds == ()


def test_a_workaround_says_what_was_done_and_why() -> None:
    failed = _attempt("as asked", ValueError("Cannot view"))
    found = first_success([failed, _attempt("eager"), _attempt("never tried")])
    assert found.workarounds == (Workaround("eager", "ValueError: Cannot view"),)
    assert found.built.torch.name == "eager"


def test_if_all_fail_the_first_error_is_told() -> None:
    with pytest.raises(ValueError, match="first"):
        first_success([_attempt("a", ValueError("first")), _attempt("b", TypeError("second"))])


def test_an_error_of_the_user_is_not_worked_around() -> None:
    with pytest.raises(ModelError):
        first_success([_attempt("a", ModelError("p", hint="h")), _attempt("b")])
