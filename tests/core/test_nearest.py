from __future__ import annotations

import pytest

from burnish.core.nearest import nearest, suggestion


def test_the_nearest_name_comes_first() -> None:
    assert suggestion("optimise", ["run", "optimize"]) == (
        "did you mean 'optimize'? known: optimize, run"
    )


def test_without_a_near_name_all_are_listed() -> None:
    assert suggestion("zzz", ["run", "optimize"]) == "known: optimize, run"


def test_nothing_known_is_said() -> None:
    assert suggestion("x", []) == "there are none"


@pytest.mark.parametrize(
    ("name", "meant"),
    [("bert", "bert-base"), ("TF", "bert_tf"), ("gpt-2", "gpt2"), ("xyz", None), ("", None)],
)
def test_a_whole_word_counts_for_more_than_likeness(name: str, meant: str | None) -> None:
    assert nearest(name, ["albert", "bert-base", "bert_tf", "gpt2", "roberta"]) == meant
