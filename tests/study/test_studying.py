"""What a study makes of models whose files share a name has names that are unlike."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.store.stored import StoredModel
from burnish.study.studying import stems


def models(*names: str) -> list[StoredModel]:
    """Return models with these file names, each in a folder of its own."""
    return [StoredModel(Path(f"{n}/{name}.onnx"), name) for n, name in enumerate(names)]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("a", "b"), ["a", "b"]),
        (("a", "a", "a"), ["a", "a-2", "a-3"]),
        (("a", "a", "a-2"), ["a", "a-3", "a-2"]),
        (("a-2", "a", "a"), ["a-2", "a", "a-3"]),
    ],
)
def test_what_is_there_is_numbered(names: tuple[str, ...], found: list[str]) -> None:
    assert stems(models(*names)) == found


@given(st.lists(st.sampled_from(["a", "a-2", "a-3", "a-2-2", "b"]), max_size=8))
def test_no_two_models_become_one_file(names: list[str]) -> None:
    found = stems(models(*names))
    assert len(set(found)) == len(names)
    assert all(name.startswith(stem) for name, stem in zip(found, names, strict=True))
