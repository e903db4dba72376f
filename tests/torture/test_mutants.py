"""Mutants are the same for the same seed, and what goes wrong with one is seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import onnx
import pytest

from torture import broken_models, mutants, mutate_models, mutate_traces
from torture.commands import Command
from torture.hands import Hands
from torture.mutate_models import Mutant

SOURCES = [mutate_models.mutants, mutate_traces.mutants]


def _written(folder: Path, mutant: Mutant) -> dict[str, bytes]:
    folder.mkdir()
    mutant.write(folder)
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("source", SOURCES)
def test_equal_seeds_give_equal_mutants(tmp_path: Path, source: object) -> None:
    assert callable(source)
    pairs = zip(source(7), source(7), source(8), strict=False)
    other = 0
    for number, (one, same, different) in enumerate(itertools.islice(pairs, 60)):
        assert one.name == same.name
        found = _written(tmp_path / f"{number}a", one)
        assert found == _written(tmp_path / f"{number}b", same)
        other += one.name != different.name
    assert other > 30


@pytest.mark.parametrize("source", SOURCES)
def test_mutants_are_the_same_from_wherever_they_are_counted(source: object) -> None:
    assert callable(source)
    for first in (0, 1, 25, 700):
        from_there = [each.name for each in itertools.islice(source(3, first), 6)]
        assert from_there == [each.name for each in itertools.islice(source(3), first, first + 6)]


def test_every_seed_is_a_valid_model() -> None:
    from torture.seed_models import small

    for model in small().values():
        onnx.checker.check_model(model)


def test_the_catalogue_is_large_and_has_valid_ones_too() -> None:
    named = broken_models.named()
    assert len(named) > 150
    assert {"chain: valid", "external: fine", "doubles 60 times"} <= named.keys()


class _Said:
    """A child that answers as it is told."""

    def __init__(self, code: int, said: str, leaves: str = "") -> None:
        self._answer = code, said
        self._leaves = leaves

    def ask(self, folder: Path, command: Command, limit_s: float = 0.0) -> tuple[int, str]:
        del command, limit_s
        if self._leaves:
            (folder / self._leaves).write_text("")
        return self._answer

    def scratch(self) -> frozenset[str]:
        return frozenset({"TMPDIR/burnish-x"}) if self._leaves == "scratch" else frozenset()


def _one(folder: Path, number: int) -> Iterator[Command]:
    del folder, number
    yield Command(("-q", "optimize", "m.onnx"))


FINE = "burnish: it is broken\n  hint: mend it\n"


@pytest.mark.parametrize(
    ("child", "kinds"),
    [
        (_Said(0, ""), []),
        (_Said(0, "", "out.onnx"), []),
        (_Said(3, FINE), []),
        (_Said(70, "burnish: this is a bug in burnish (IndexError)\n  hint: x\n"), ["traceback"]),
        (_Said(3, "Traceback (most recent call last)\n"), ["traceback"]),
        (_Said(3, "it did not work\n"), ["traceback"]),
        (_Said(3, FINE, "out.onnx"), ["litter"]),
        (_Said(0, "", "core"), ["litter"]),
        (_Said(0, "", "scratch"), ["litter"]),
        (_Said(-11, ""), ["crash"]),
        (_Said(1000, ""), ["hang"]),
    ],
)
def test_what_goes_wrong_is_seen(tmp_path: Path, child: _Said, kinds: list[str]) -> None:
    trial = mutants._Trial(child, Mutant("x", b"1"), tmp_path / "m")  # type: ignore[arg-type]
    trial.run(_one, 0)
    assert [finding.kind for finding in trial.findings] == kinds


@pytest.mark.slow
def test_what_became_of_mutants_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with Hands(1) as hands:
        assert mutants.main(4, 1, hands).findings == []
    assert "\n4 mutants, " in capsys.readouterr().out
