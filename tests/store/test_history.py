from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from burnish.store import history
from burnish.store.history import History, HistoryStep

STEPS = st.lists(st.builds(HistoryStep, st.text(), st.text()), max_size=4).map(tuple)
HISTORIES = st.builds(History, st.text(), STEPS)


def model(metadata: dict[str, str]) -> SimpleNamespace:
    return SimpleNamespace(metadata_props=metadata)


def test_a_model_without_metadata_has_no_history() -> None:
    assert history.read(model({"author": "someone"})) is None


@given(HISTORIES)
def test_reading_metadata_gives_the_history_back(written: History) -> None:
    assert history.read(model(history.metadata(written))) == written


@given(HISTORIES, HISTORIES)
def test_appending_keeps_the_first_source_and_all_steps(first: History, second: History) -> None:
    both = history.appended(model(history.metadata(first)), second)
    assert both == History(first.source_key, first.steps + second.steps)


@pytest.mark.parametrize("text", ["{", "3", '[{"name": 1, "detail": ""}]', '[{"name": "x"}]'])
def test_damaged_history_is_said(text: str) -> None:
    with pytest.raises(ModelError, match=r"burnish\.steps is not a list of steps") as error:
        history.read(model({"burnish.steps": text}))
    assert error.value.hint == "remove the entry, or use the file as burnish wrote it"


@pytest.mark.parametrize("text", ["[" * 100_000, "[{}]", "9" * 5000])
def test_a_history_of_any_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(ModelError, match="is not a list of steps"):
        history.read(SimpleNamespace(metadata_props={"burnish.steps": text}))
