"""The factory of a stored model is found, or the reason is told."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.engines.torch_source import module_and_inputs
from burnish.store.stored import StoredModel, TorchSource

FACTORY = """
class Fake:
    def eval(self):
        self.evaluated = True
        return self


def good(width):
    return Fake(), [width]


def only_a_module():
    return Fake()
"""


def model(tmp_path: Path, factory: str, **arguments: int) -> StoredModel:
    (tmp_path / "factory.py").write_text(FACTORY)
    source = TorchSource("function", factory, arguments)
    return StoredModel(tmp_path / "m.onnx", "m", torch=source, trusted=True)


@pytest.mark.parametrize("place", ["factory.py", "{folder}/factory.py"])
def test_a_file_is_found_beside_the_model_or_by_its_full_path(tmp_path: Path, place: str) -> None:
    source = f"{place.format(folder=tmp_path)}:good"
    module, inputs = module_and_inputs(model(tmp_path, source, width=3))
    assert module.evaluated
    assert inputs == [3]


def test_a_package_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_package.py").write_text(FACTORY)
    monkeypatch.syspath_prepend(tmp_path)
    assert module_and_inputs(model(tmp_path, "their_package:good", width=3))[1] == [3]


@pytest.mark.parametrize("factory", ["factory.py:good", "burnish.evil.py:make", "os:system"])
def test_nothing_runs_that_the_user_has_not_named(tmp_path: Path, factory: str) -> None:
    trap = f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef make(): pass\n"
    (tmp_path / "burnish.evil.py").write_text(trap)
    untrusted = dataclasses.replace(model(tmp_path, factory, width=3), trusted=False)
    (tmp_path / "factory.py").write_text(trap)
    with pytest.raises(UsageError, match="is not burnish's code and was not run") as caught:
        module_and_inputs(untrusted)
    full = f"{tmp_path}/{factory}" if factory.startswith(("f", "b")) else factory
    assert caught.value.problem.startswith(f"m: its PyTorch module is made by {full}, which")
    assert caught.value.hint == f"read it; to run it, add --trust-factory {full}"
    assert caught.value.more == ("--trust-factory", full)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("factory", ["os:system", "burnish.core.files:write_text"])
def test_what_makes_no_modules_does_not_run_even_if_it_is_named(
    tmp_path: Path, factory: str
) -> None:
    with pytest.raises(UsageError, match=f"{factory} is no factory"):
        module_and_inputs(model(tmp_path, factory))


def test_arguments_that_nothing_has_are_refused(tmp_path: Path) -> None:
    source = TorchSource("zoo", "bert-mini", {"layers": "many"})
    with pytest.raises(ModelError, match="bert-mini cannot be built again: its source"):
        module_and_inputs(StoredModel(tmp_path / "m.onnx", "m", torch=source))


@pytest.mark.parametrize(
    ("factory", "problem"),
    [
        ("factory.py", "'factory.py' does not name a function"),
        ("factory.py:missing", "factory.py has no function 'missing'"),
        ("nowhere.py:good", "nowhere.py: no such file"),
        ("no_such_package:good", "there is no module 'no_such_package'"),
        ("factory.py:only_a_module", "returned Fake, not a module and its inputs"),
    ],
)
def test_what_cannot_be_built_says_why(tmp_path: Path, factory: str, problem: str) -> None:
    with pytest.raises((ModelError, UsageError)) as caught:
        module_and_inputs(model(tmp_path, factory))
    assert problem in caught.value.problem


def test_a_model_without_a_source_points_at_other_engines() -> None:
    with pytest.raises(UsageError) as caught:
        module_and_inputs(StoredModel(Path("m.onnx"), "m", "dynamo"))
    assert caught.value.problem.startswith("m/dynamo does not say which PyTorch module")
    assert "--engine onnxruntime-cpu" in caught.value.hint
