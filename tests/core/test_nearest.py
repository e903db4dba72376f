from __future__ import annotations

from burnish.core.nearest import suggestion


def test_the_nearest_name_comes_first() -> None:
    assert suggestion("optimise", ["run", "optimize"]) == (
        "did you mean 'optimize'? known: optimize, run"
    )


def test_without_a_near_name_all_are_listed() -> None:
    assert suggestion("zzz", ["run", "optimize"]) == "known: optimize, run"


def test_nothing_known_is_said() -> None:
    assert suggestion("x", []) == "there are none"
