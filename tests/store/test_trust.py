"""Code beside a model is told by its full path, and runs only if the user has named it."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.store.stored import Origin, Scalar, StoredModel, TorchSource
from burnish.store.trust import foreign_code, is_runnable, require_trust, trusting


def model(folder: Path, origin: Origin, name: str, **arguments: Scalar) -> StoredModel:
    return StoredModel(folder / "m.onnx", "m", torch=TorchSource(origin, name, arguments))


def test_the_zoo_and_plain_weights_are_ours(tmp_path: Path) -> None:
    for own in (model(tmp_path, "zoo", "bert"), model(tmp_path, "folder", "/weights")):
        assert foreign_code(own) is None
        assert is_runnable(own)
        require_trust(own)


def test_a_model_without_a_module_has_nothing_to_run(tmp_path: Path) -> None:
    assert foreign_code(StoredModel(tmp_path / "m.onnx", "m")) is None
    assert not is_runnable(StoredModel(tmp_path / "m.onnx", "m"))


@pytest.mark.parametrize(
    ("origin", "name", "code"),
    [
        ("function", "net.py:make", "{folder}/net.py:make"),
        ("module", "/elsewhere/net.py:make", "/elsewhere/net.py:make"),
        ("function", "package.net:make", "package.net:make"),
        ("function", "burnish.evil.py:make", "{folder}/burnish.evil.py:make"),
        ("function", "burnish.zoo.factory:module_and_inputs",
         "burnish.zoo.factory:module_and_inputs"),
    ],
)  # fmt: skip
def test_everything_else_is_foreign(tmp_path: Path, origin: Origin, name: str, code: str) -> None:
    foreign = model(tmp_path, origin, name)
    assert foreign_code(foreign) == code.format(folder=tmp_path)
    assert not is_runnable(foreign)


def test_pickled_weights_are_foreign(tmp_path: Path) -> None:
    pickled = model(tmp_path, "folder", str(tmp_path), trust_pickle=True)
    assert foreign_code(pickled) == str(tmp_path)
    (trusted,) = trusting([pickled], [str(tmp_path)])
    assert is_runnable(trusted)


@pytest.mark.parametrize("named", ["net.py:make", "./net.py:make", "{folder}/net.py:make"])
def test_the_file_that_is_named_is_the_one_that_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    found = model(tmp_path, "function", "net.py:make")
    (trusted,) = trusting([found], [named.format(folder=tmp_path)])
    require_trust(trusted)


def test_a_file_of_the_same_name_elsewhere_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = model(tmp_path, "function", "net.py:make")
    with pytest.raises(UsageError) as caught:
        trusting([found], ["net.py:make"])
    assert caught.value.problem == "--trust-factory net.py:make: makes none of these models"
    assert caught.value.hint == f"they are made by: {tmp_path}/net.py:make"


def test_trust_that_nobody_needs_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        trusting([model(tmp_path, "zoo", "bert")], ["net.py:make"])
    assert caught.value.hint == "leave it away"


def test_trust_is_for_the_models_that_it_names(tmp_path: Path) -> None:
    one, other = (model(tmp_path, "function", f"{name}.py:make") for name in "ab")
    found = trusting([one, other], [f"{tmp_path}/a.py:make"])
    assert [each.trusted for each in found] == [True, False]
