"""Candidates are prepared without a card and timed on one; each can only spoil its own result."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from burnish.core.array_types import array_type
from burnish.core.errors import MissingCapabilityError, ModelError
from burnish.core.tensors import TensorSpec
from burnish.cuda import bundle as bundles
from burnish.cuda import timings
from burnish.cuda.assemble import BoundWork, CubinCall
from burnish.cuda.bundle import BundledCandidate, BundledGroup, Contents, Stored
from burnish.cuda.expected import Expected
from burnish.cuda.kernel import TritonSource
from burnish.cuda.recipe import Recipe, made
from burnish.cuda.time_bundle import TimingRequest, TimingRules, main, time_bundle
from burnish.cuda.timings import CandidateTiming, TimingCache
from fake_card import SIZE
from triton_kernels import SOURCES

pytest.importorskip("triton")

RULES = TimingRules(rounds=2, runs=2)
RECIPE = Recipe("f32", (SIZE,), seed=3)


def candidate(label: str, name: str, programs: int) -> BundledCandidate:
    text = SOURCES["double"].text.replace("double", name)
    source = TritonSource(name, text, ("f32", "f32"), warps=4, stages=1)
    tensors = {each: TensorSpec(each, "f32", (SIZE,)) for each in "xy"}
    call = CubinCall(source, ("x", "y"), ("y",), (programs, 1, 1))
    return BundledCandidate(label, BoundWork((call,), tensors, ("x",), ("y",)))


def spilling() -> BundledCandidate:
    tensors = {each: TensorSpec(each, "f32", (64 * 256,)) for each in "xy"}
    call = CubinCall(SOURCES["spilling"], ("x", "y"), ("y",), (1, 1, 1))
    return BundledCandidate("spills", BoundWork((call,), tensors, ("x",), ("y",)))


@pytest.fixture(scope="module")
def contents() -> Contents:
    candidates = (
        candidate("slow", "double", 8),
        candidate("crashes", "crashing", 8),
        candidate("fast", "double", 2),
        candidate("wrong", "wrong", 1),
        candidate("does not compile", "if", 1),
        spilling(),
    )
    return prepared("adding", candidates)


def prepared(signature: str, candidates: tuple[BundledCandidate, ...]) -> Contents:
    expected = Expected((((0, SIZE),),), ("right",), relative=1e-5, scale=1.0)
    group = BundledGroup(signature, {"x": RECIPE}, {"y": expected}, candidates)
    return bundles.prepare([group], {"right": 2 * made(RECIPE)}, "sm_90", generator="g1")


@pytest.fixture
def path(contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    bundles.write(tmp_path / "all.bundle", contents)
    return tmp_path / "all.bundle"


def test_a_bundle_is_read_as_it_was_written(path: Path, contents: Contents) -> None:
    found = bundles.read(path)
    assert found.bundle == contents.bundle
    assert found.code == contents.code
    np.testing.assert_array_equal(found.values["right"], contents.values["right"])


def test_inputs_whose_elements_matter_are_stored(path: Path, contents: Contents) -> None:
    array = np.array([[1, 2], [3, 4]], array_type("bf16"))
    values = {**contents.values, "small": array.reshape(-1).view(np.uint8)}
    bundles.write(path, dataclasses.replace(contents, values=values))
    found = bundles.read(path).made(Stored("small", "bf16", (2, 2)))
    np.testing.assert_array_equal(found, array)


def test_each_candidate_has_a_time_or_a_reason(path: Path) -> None:
    told: list[str] = []
    found = time_bundle(TimingRequest(path, "fake_card:FakeDriver", RULES), told.append)
    (adding,) = found.groups
    by_label = {each.label: each for each in adding.timings}
    # the fake's clock: a microsecond for each program
    assert by_label["slow"].seconds == pytest.approx(8e-6)
    assert by_label["fast"].seconds == pytest.approx(2e-6)
    assert adding.best == by_label["fast"]
    assert by_label["crashes"].failure == "ended by SIGKILL"
    assert by_label["wrong"].failure.startswith("y: 3 of 1,024 elements are wrong, the worst at [")
    assert by_label["does not compile"].failure.startswith("if: SyntaxError")
    assert "values of each thread are in memory" in by_label["spills"].failure
    assert found.conditions.device == "Fake H200"
    assert found.conditions.generator == "g1"
    assert told == ["1/1 adding: 2.0 us, 4 of 6 failed"]
    # one that is far behind is not timed again
    assert (len(by_label["slow"].samples_s), len(by_label["fast"].samples_s)) == (1, 2)


def test_one_that_hangs_is_ended(path: Path) -> None:
    bundles.write(path, prepared("hanging", (candidate("h", "hanging", 1),)))
    told: list[str] = []
    rules = TimingRules(rounds=1, runs=1, limit_s=10.0)
    (found,) = time_bundle(TimingRequest(path, "fake_card:FakeDriver", rules), told.append).groups
    assert found.timings == (CandidateTiming("h", failure="gave no answer within 10.0 s"),)
    assert told == ["1/1 hanging: none worked, 1 of 1 failed"]


def test_timings_travel_and_are_remembered(path: Path, tmp_path: Path) -> None:
    words = [str(path), "-o", str(tmp_path / "t.json"), "--driver", "fake_card:FakeDriver"]
    assert main([*words, "--rounds", "1"]) == 0
    found = timings.read(tmp_path / "t.json")
    cache = TimingCache(tmp_path / "cache")
    cache.add(found)
    kept = cache.get("adding", found.conditions)
    assert kept == found.groups[0]
    other = dataclasses.replace(found.conditions, device="another card")
    assert cache.get("adding", other) is None
    later = timings.GroupTimings(
        "adding", (CandidateTiming("fast", (1.0,)), CandidateTiming("new", (2.0,)))
    )
    cache.add(dataclasses.replace(found, groups=(later,)))
    again = cache.get("adding", found.conditions)
    assert again is not None
    labels = {each.label: each.samples_s for each in again.timings}
    assert labels["fast"] == (1.0,)
    assert labels["new"] == (2.0,)
    assert "slow" in labels


def test_without_a_card_the_script_says_so(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cuda.bindings")
    if main([str(path), "-o", str(path.with_suffix(".json"))]) == 0:
        pytest.skip("there is a card")
    assert "error: no NVIDIA card can be used here" in capsys.readouterr().err


def test_a_bundle_for_another_card_is_refused(path: Path, contents: Contents) -> None:
    other = dataclasses.replace(contents.bundle, architecture="sm_80")
    bundles.write(path, dataclasses.replace(contents, bundle=other))
    with pytest.raises(MissingCapabilityError) as caught:
        time_bundle(TimingRequest(path, "fake_card:FakeDriver", RULES))
    assert caught.value.problem == (
        f"{path}: its kernels are for sm_80, and this card is Fake H200 (sm_90)"
    )
    assert caught.value.hint == "make the bundle for sm_90"


@pytest.mark.parametrize("content", [b"", b"PK nothing"])
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(ModelError, match="is no bundle of candidates"):
        bundles.read(tmp_path / "b")
