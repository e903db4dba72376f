from __future__ import annotations

import sys
from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.core.registry import Registry


@pytest.fixture
def animals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    package = tmp_path / "animals_for_test"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from burnish.core.registry import Registry\n"
        "ANIMALS = Registry('animal', package='animals_for_test')\n"
    )
    (package / "cat.py").write_text(
        "from animals_for_test import ANIMALS\nANIMALS.register('cat')('miaow')\n"
    )
    (package / "dog.py").write_text(
        "from animals_for_test import ANIMALS\nANIMALS.register('dog')('woof')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("animals_for_test")]:
        del sys.modules[name]
    import animals_for_test  # type: ignore[import-not-found]

    registry: Registry[str] = animals_for_test.ANIMALS
    return registry


def test_adding_a_file_is_the_whole_registration(animals: Registry[str]) -> None:
    assert animals.names() == ("cat", "dog")
    assert animals["dog"] == "woof"
    assert "cat" in animals
    assert list(animals) == ["cat", "dog"]


def test_an_unknown_name_answers_with_the_nearest(animals: Registry[str]) -> None:
    with pytest.raises(UsageError, match="unknown animal 'cats'") as caught:
        animals["cats"]
    assert caught.value.hint == "did you mean 'cat'? known: cat, dog"


def test_a_name_is_taken_once(animals: Registry[str]) -> None:
    assert "cat" in animals
    with pytest.raises(ValueError, match="animal 'cat' is registered twice"):
        animals.register("cat")("purr")
