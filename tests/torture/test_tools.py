"""The attack's own eyes: each check sees what it is for."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from torture import __main__ as attack
from torture.bases.decoders import GPT2
from torture.bases.rewriters import renamed, shuffled
from torture.case import Family, normal
from torture.draft import in_order
from torture.judging import Answer
from torture.kills import Measured, Place, litter, lost
from torture.plants import PLANTS
from torture.proof import objection
from torture.running import deviation, outputs_of
from torture.scoreboard import Score, chosen
from torture.victims import Victim
from torture.writing import MODEL, Writing, contents, unreadable

RELU = "g (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }"


def test_a_case_without_a_difference_is_objected_to() -> None:
    family = Family("none")
    family.text("same", "Nothing.", RELU, ("Relu(x)", "Relu(x)"), witness={"x": normal(2, 4)})
    assert "shows 0.0e+00 only" in objection(family.cases[0])


def test_a_difference_that_plain_inputs_show_is_not_hidden() -> None:
    family = Family("open")
    family.text("open", "Not Relu.", RELU, ("Relu(x)", "Neg(x)"), witness={"x": normal(2, 4)},
                hidden=True)  # fmt: skip
    assert "plain inputs show it" in objection(family.cases[0])


def test_a_replacement_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="is not in the text"):
        Family("f").text("n", "W.", RELU, ("Tanh(x)", "Relu(x)"), witness={"x": normal(2, 4)})


@pytest.mark.parametrize(
    ("other", "apart"),
    [
        (np.zeros((2, 2), np.float32), np.inf),
        (np.zeros(3, np.float64), np.inf),
        (np.asarray([1, 2, np.nan], np.float32), np.inf),
        (np.asarray([1, 2, 2], np.float32), 0.0),
        (np.asarray([1, 2, 3.5], np.float32), 1.5 / np.sqrt(3)),
    ],
)
def test_deviation_sees_shape_type_nan_and_size(other: np.ndarray, apart: float) -> None:
    found = deviation({"y": np.asarray([1, 2, 2], np.float32)}, {"y": other})
    assert found == pytest.approx(apart)


@pytest.mark.parametrize("rewrite", [shuffled(3), renamed])
def test_other_orders_and_names_compute_the_same(rewrite: object) -> None:
    inputs = GPT2.feed()
    other = rewrite(GPT2.model)  # type: ignore[operator]
    assert [n.output[0] for n in other.graph.node] != [n.output[0] for n in GPT2.model.graph.node]
    assert deviation(outputs_of(GPT2.model, inputs), outputs_of(other, inputs)) == 0.0


def test_nodes_that_wait_for_each_other_have_no_order() -> None:
    circle = [
        onnx.helper.make_node("Relu", ["a"], ["b"]),
        onnx.helper.make_node("Relu", ["b"], ["a"]),
    ]
    with pytest.raises(ValueError, match="in a circle"):
        in_order(circle)


def test_the_score_counts_misses_and_wrong_calls() -> None:
    first, second = (case.name for case in PLANTS[:2])
    said = {
        first: "differs",
        second: "equal",
        "right/other-order": "differs",
        "right/by-onnxsim": "skipped",
        "blank/nan-on-both-sides": "equal",
        "right/other-names": "hung",
    }
    score = Score(tuple(Answer(name, word, "", 1.0) for name, word in said.items()))
    assert score.found == 0.5
    assert score.wrongly_called == 2
    assert score.broken == 1


def test_a_sample_is_drawn_by_its_seed() -> None:
    assert chosen(sample=9, seed=1) == chosen(sample=9, seed=1) != chosen(sample=9, seed=2)
    assert chosen("masks/*", sample=9999) == chosen("masks/*")


WRITING = Writing("folder", (), (), ())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return the three folders, with an earlier result of two files."""
    place = Place(tmp_path)
    for folder in (place.work, place.tmp, place.cache):
        folder.mkdir()
    for name in ("a.json", "b.json"):
        (place.work / name).write_text("[1]")
    return place


@pytest.fixture
def measured(place: Place) -> Measured:
    """Return what is known of a command whose new files both differ."""
    old = contents(place.work)
    return Measured(place.root, old, dict.fromkeys(old, "new"), frozenset(old), 1.0)


def test_an_earlier_result_that_stands_is_not_lost(place: Place, measured: Measured) -> None:
    assert [*lost(place, WRITING, measured), *litter(place, WRITING, measured)] == []


def test_a_file_that_vanished_is_lost(place: Place, measured: Measured) -> None:
    (place.work / "b.json").unlink()
    assert list(lost(place, WRITING, measured)) == [("lost", "b.json is gone")]


def test_half_a_file_is_lost(place: Place, measured: Measured) -> None:
    for name in ("a.json", "b.json"):
        (place.work / name).write_text("[1")
    assert [kind for kind, _ in lost(place, WRITING, measured)] == ["lost", "lost"]


def test_a_mix_of_two_results_is_lost(place: Place, measured: Measured) -> None:
    (place.work / "b.json").write_text("[2]")
    problem = "some files are of the earlier result, others of the new one"
    assert list(lost(place, WRITING, measured)) == [("lost", problem)]


def test_scratch_is_litter_wherever_it_lies(place: Place, measured: Measured) -> None:
    (place.work / ".a.json.x").mkdir()
    (place.tmp / "burnish-x").mkdir()
    (place.cache / "entry.tmp").write_text("")
    (place.tmp / "torchinductor_root").mkdir()
    found = [what for _, what in litter(place, WRITING, measured)]
    assert found == ["in the folder: .a.json.x", "in TMPDIR: burnish-x", "in the cache: entry.tmp"]


def test_a_truncated_model_is_not_whole(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(MODEL.read_bytes()[:-1000])
    assert unreadable(MODEL) == ""
    assert unreadable(tmp_path / "m.onnx")


def test_a_child_that_outlives_its_parent_is_an_orphan(tmp_path: Path) -> None:
    child = "import time; time.sleep(60)"
    parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', '{child}']); {child}"
    victim = Victim([sys.executable, "-c", parent], tmp_path, tmp_path / "log", {})
    seen: list[int] = []

    def has_a_child(_cpu_s: float) -> bool:
        seen[:] = victim.living()
        return len(seen) == 2

    ended = victim.strike(has_a_child, signal.SIGKILL)
    assert ended.struck
    assert ended.code == -signal.SIGKILL
    assert len(victim.orphans()) == 1
    assert victim.orphans() == []


def test_an_attack_on_what_does_not_run_is_not_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = (sys.executable, "-c", "import a_package_that_is_not_there")
    problem = "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"
    assert attack.unable(broken) == problem
    assert attack.unable((sys.executable, "-c", "pass")) == ""
    monkeypatch.setattr(attack, "unable", lambda: problem)
    assert attack.main(["--quick"]) == 2
    assert capsys.readouterr().out.endswith(f"burnish does not run here: {problem}\n")


def test_a_traceback_is_seen(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "raise OSError('no room')"]
    ended = Victim(words, tmp_path, tmp_path / "log", {}).finish()
    assert ended.traceback == "OSError: no room"
