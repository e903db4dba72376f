"""The factory of a stored model is found, or the reason is told."""

from __future__ import annotations

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
    return StoredModel(tmp_path / "m.onnx", "m", torch=TorchSource(factory, arguments))


@pytest.mark.parametrize("place", ["factory.py", "{folder}/factory.py"])
def test_a_file_is_found_beside_the_model_or_by_its_full_path(tmp_path: Path, place: str) -> None:
    source = f"{place.format(folder=tmp_path)}:good"
    module, inputs = module_and_inputs(model(tmp_path, source, width=3))
    assert module.evaluated
    assert inputs == [3]


def test_a_package_is_imported(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"returned \w*Path, not a module"):
        module_and_inputs(model(tmp_path, "pathlib:Path"))


@pytest.mark.parametrize(
    ("factory", "problem"),
    [
        ("factory.py", "'factory.py' does not name a function"),
        ("factory.py:missing", "factory.py:missing cannot be loaded (module 'factory' has no"),
        ("nowhere.py:good", "nowhere.py:good cannot be loaded (no file nowhere.py)"),
        ("no_such_package:good", "cannot be loaded (No module named 'no_such_package')"),
        ("factory.py:only_a_module", "returned Fake, not a module and its inputs"),
    ],
)
def test_what_cannot_be_built_says_why(tmp_path: Path, factory: str, problem: str) -> None:
    with pytest.raises(ModelError) as caught:
        module_and_inputs(model(tmp_path, factory))
    assert problem in caught.value.problem


def test_a_model_without_a_source_points_at_other_engines() -> None:
    with pytest.raises(UsageError) as caught:
        module_and_inputs(StoredModel(Path("m.onnx"), "m", "dynamo"))
    assert caught.value.problem.startswith("m/dynamo does not say which PyTorch module")
    assert "--engine onnxruntime-cpu" in caught.value.hint
