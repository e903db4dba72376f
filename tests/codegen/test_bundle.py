"""Candidates are built without a card and timed on one; each can only spoil its own result."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.cli.main import run
from burnish.codegen import bundle as bundles
from burnish.codegen import bundle_times
from burnish.codegen.bundle import SUFFIX, BundledGroup
from burnish.codegen.bundle_times import BundleWorker, CandidateRun, time_bundle
from burnish.codegen.tune.recipe import Recipe
from burnish.codegen.tune.trial import Trial
from burnish.core.closing import Closing
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.process import wire
from burnish.runtime.cuda import runner
from burnish.runtime.cuda.executable import CudaExecutable
from burnish.study.compile_report import CompileReport
from burnish.tile.schedule import Schedule
from codegen.gpu.compiled import FEW_ROWS, NETWORK, written
from codegen.gpu.interpreted_card import interpreted_card
from fake_driver import H200, FakeDriver

ENTRY = "scripted_worker:ScriptedWorker"


@pytest.fixture(autouse=True)
def card(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> FakeDriver:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=":")
    found = FakeDriver()
    monkeypatch.setattr(runner, "_OPEN", [found])
    return found


def group(*failures: str) -> BundledGroup:
    trials = (
        Trial(Schedule((8,), settings={"m": n}), failure=failure, predicted_s=1e-6 * n)
        for n, failure in enumerate(failures)
    )
    return BundledGroup("cuda: sm_90", ("sm_90a",), {}, {}, {}, tuple(trials))


def bundle_of(folder: Path, **groups: BundledGroup) -> Path:
    for name, each in groups.items():
        (folder / f"{name}{SUFFIX}").write_bytes(wire.written(each))
    return folder


def test_each_candidate_has_a_time_or_a_reason(tmp_path: Path) -> None:
    folder = bundle_of(tmp_path, adding=group("", "", "it spills", "", ""))
    found = time_bundle(folder, entry=ENTRY)
    slow, crashes, spills, fast, wrong = found.groups["adding"].trials
    assert (slow.seconds, fast.seconds) == (8e-6, 2e-6)
    assert found.groups["adding"].best == fast
    assert crashes.failure.startswith("ended by SIGKILL during 'time'")
    assert spills.failure == "it spills"
    assert wrong.failure == "y: 3 of 1,024 elements are wrong"
    assert found.target == "cuda: sm_90"
    # one that is far behind is not timed again
    assert (len(slow.samples_s), len(fast.samples_s)) == (1, 5)
    # what was predicted comes back with what was measured
    assert fast.predicted_s == 3e-6


def test_one_that_hangs_is_ended_and_the_next_group_is_timed(tmp_path: Path) -> None:
    told: list[str] = []

    class Heard:
        def step(self, stage: str, done: int, total: int, note: str = "") -> None:
            told.append(f"{stage} {done}/{total}: {note}")

    folder = bundle_of(tmp_path, a=group(*("it spills",) * 3, "", "", "", "", ""), b=group(""))
    found = time_bundle(folder, limit_s=5.0, entry=ENTRY, progress=Heard())
    assert found.groups["a"].trials[-1].failure.startswith("gave no answer within 5.00 s")
    assert told == [
        "time 1/2: 2.00 µs, 6 of 8 candidates failed",
        "time 2/2: 8.00 µs, 0 of 1 candidate failed",
    ]


def test_a_bundle_for_another_card_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = FakeDriver(device=dataclasses.replace(H200, capability=(8, 0)))
    monkeypatch.setattr(runner, "_OPEN", [older])
    with pytest.raises(MissingCapabilityError) as caught:
        time_bundle(bundle_of(tmp_path, a=group("")), entry=ENTRY)
    assert caught.value.problem == (
        f"{tmp_path}: its kernels are for cuda: sm_90, and here there is no sm_90a"
    )
    assert caught.value.hint == "make the bundle for this device: burnish compile --target"


def test_what_is_no_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no bundle of candidates") as caught:
        time_bundle(tmp_path)
    assert f"--bundle {tmp_path} -o FOLDER" in caught.value.hint


@pytest.mark.parametrize("content", [b"", b"PK nothing", wire.written(group())[:-1]])
def test_what_is_no_group_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.case").write_bytes(content)
    with pytest.raises(ModelError, match="is no group of a bundle"):
        bundles.read(tmp_path / "a.case")


def test_a_group_is_read_as_it_was_written(tmp_path: Path) -> None:
    recipe = Recipe("f16", (3, 4), seed=2)
    given = dataclasses.replace(group("", "no"), drawn={"x": recipe}, stored={"i": np.arange(5)})
    found = bundles.read(bundle_of(tmp_path, a=given) / "a.case")
    assert (found.trials, found.drawn) == (given.trials, given.drawn)
    np.testing.assert_array_equal(found.inputs["i"], np.arange(5))
    assert found.inputs["x"].dtype == np.float16


class Here(Closing):
    """The device in this process, each group's kernels in Triton's interpreter."""

    def __init__(self, load: Callable[[Path], object]) -> None:
        self._load = load
        self._workers: dict[Path, BundleWorker] = {}

    def time(self, asked: CandidateRun) -> bundle_times.CandidateTime:
        if asked.folder not in self._workers:
            self._load(asked.folder)
            self._workers[asked.folder] = BundleWorker()
        return self._workers[asked.folder].time(asked)

    def close(self) -> None:
        self._workers.clear()


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    def device(_entry: str, _limit_s: float) -> Here:
        return Here(lambda folder: interpreted_card(monkeypatch, folder))

    def times_s(_: object, _feeds: object, *, warmup: int, runs: int, repeats: int = 1) -> object:
        assert warmup * repeats
        return (1e-6,) * runs

    pytest.importorskip("triton")
    monkeypatch.setattr(bundle_times, "_Device", device)
    # a run in the interpreter takes a while, and its time tells nothing
    monkeypatch.setattr(CudaExecutable, "times_s", times_s)


def compiled(text: str, folder: Path, **options: object) -> CompileReport:
    """Return what compiling gave, where there is no card."""
    path = written(text, folder)
    with pytest.MonkeyPatch.context() as here:
        here.setattr(runner, "_OPEN", [])
        return burnish.compile(  # type: ignore[no-any-return]
            path, output=folder / "c", target="sm_90", threads=1, topk=2, **options
        )


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("text", [NETWORK, FEW_ROWS])
def test_kernels_give_what_a_bundle_expects(text: str, tmp_path: Path) -> None:
    report = compiled(text, tmp_path, bundle=tmp_path / "b")
    assert any("burnish time" in note for note in report.notes)
    found = time_bundle(tmp_path / "b")
    assert found.groups
    for key, tuned in found.groups.items():
        assert not [trial.failure for trial in tuned.trials if trial.failure], key
        assert tuned.seconds


@pytest.mark.usefixtures("interpreted")
def test_what_computes_something_else_is_not_timed(tmp_path: Path) -> None:
    compiled(FEW_ROWS, tmp_path, bundle=tmp_path / "b")
    for path in (tmp_path / "b").glob(f"*{SUFFIX}"):
        known = bundles.read(path)
        outputs = {
            name: dataclasses.replace(
                output,
                parts=tuple(
                    dataclasses.replace(part, values=part.values + 1) for part in output.parts
                ),
            )
            for name, output in known.outputs.items()
        }
        path.write_bytes(wire.written(dataclasses.replace(known, outputs=outputs)))
    for tuned in time_bundle(tmp_path / "b").groups.values():
        assert tuned.best is None
        assert "elements are wrong" in tuned.trials[0].failure


@pytest.mark.usefixtures("interpreted")
def test_a_plan_is_made_of_what_was_fastest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    predicted = compiled(FEW_ROWS, tmp_path, bundle=tmp_path / "b")
    times = tmp_path / "t.json"
    assert run(["time", str(tmp_path / "b"), "-o", str(times)]) == 0
    said = capsys.readouterr().out
    assert "as predicted" in said
    assert f"next: burnish compile MODEL --timings {times} -o FOLDER" in said
    told = json.loads(times.read_text())
    for tuned in told["groups"].values():
        assert len(tuned["trials"]) == 2
        tuned["trials"][1]["samples_s"] = [1e-9]
    times.write_text(json.dumps(told))
    fastest = compiled(FEW_ROWS, tmp_path, timings=times)
    assert kernels(fastest) != kernels(predicted)
    told_so = "nothing is timed for cuda: sm_90: 1 group as timed elsewhere, the rest is predicted"
    assert told_so in fastest.notes
    # it is kept, and a second model adds nothing that is there
    again = compiled(FEW_ROWS, tmp_path, bundle=tmp_path / "b")
    assert kernels(again) == kernels(fastest)
    assert any(f"{tmp_path / 'b'}: 0 groups more" in note for note in again.notes)
    assert kernels(compiled(FEW_ROWS, tmp_path, tune=False)) == kernels(predicted)


def kernels(report: CompileReport) -> list[str]:
    return [step.name for plan in report.plans for step in plan.steps]


def test_times_of_another_kind_of_card_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    known = {"kind": "candidate-timings", "schema": bundle_times.SCHEMA, "burnish": "0"}
    told: Mapping[str, object] = {"target": "cuda: sm_80", "device": "d", "date": "", "groups": {}}
    (tmp_path / "t.json").write_text(json.dumps({**known, **told}))
    with pytest.raises(UsageError, match="was timed for cuda: sm_80, and this is for cuda: sm_90"):
        compiled(FEW_ROWS, tmp_path, timings=tmp_path / "t.json")


@pytest.mark.parametrize("option", ["bundle", "timings"])
def test_kernels_for_cpus_are_timed_where_they_are_compiled(option: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="kernels for CPUs are timed here"):
        burnish.compile("m.onnx", output=tmp_path / "c", **{option: tmp_path / "b"})
