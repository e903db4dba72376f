from __future__ import annotations

import argparse
from pathlib import Path

import pytest
import side_by_side
from side_by_side import (
    Running,
    SideBySide,
    cpus_of,
    groups_of,
    measured,
    options,
    study_text,
    wide_of,
)

from burnish.bench.cells import Figures, LedgerRow
from burnish.store import layout
from burnish.study.study_file import StudyModel, read

STUDY = """
title = "Two \\"models\\""
engines = ["torch-eager", "burnish-cuda"]
rounds = 3
batch = [1, 64]
models = [
    { zoo = "bert-base", precision = "fp16", shapes = [{ batch = 1, sequence = 8 }] },
    { zoo = "vit-s32" }, { zoo = "swin-t" },
]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "study.toml"
    place.write_text(STUDY)
    return place


def row(model: str, engine: str, bindings: dict[str, int], processes: int = 3) -> LedgerRow:
    figures = Figures(processes=processes)
    return LedgerRow(
        1, "", "", "", "ok", "", model, "", engine, "f16", 1, bindings, "", "", False, figures
    )  # type: ignore[call-arg]


def test_every_size_of_every_model_is_a_group(file: Path) -> None:
    names = [group.name for group in groups_of(read(file, small=False), file.parent / "none")]
    assert names == [
        "bert-base-batch1-sequence8", "vit-s32-batch1", "vit-s32-batch64", "swin-t-batch1",
        "swin-t-batch64",
    ]  # fmt: skip


def test_the_study_of_a_group_asks_for_what_the_whole_one_asks(file: Path) -> None:
    whole = read(file, small=False)
    group = groups_of(whole, file.parent / "none")[0]
    file.write_text(study_text(whole, group, small=True))
    for small in (False, True):
        own = read(file, small=small)
        assert own.engines == whole.engines
        assert own.rounds == 3
        (model,) = own.models
        assert (model.zoo, model.precision, model.name) == ("bert-base", "fp16", "bert-base")
        assert [dict(sizes) for sizes in model.sizes] == [{"batch": 1, "sequence": 8}]


def test_cells_with_too_few_processes_are_not_known() -> None:
    rows = (
        row("vit/dynamo", "a", {"batch": 1, "length": 7}),
        row("vit/dynamo", "a", {"batch": 1, "length": 7}),
        row("vit/dynamo", "b", {"batch": 1, "length": 7}, processes=2),
        row("vit/dynamo", "c", {"batch": 64, "length": 7}),
    )
    assert measured(rows, {"batch": 1}) == 1
    assert measured(rows, {"batch": 64}) == 1
    assert measured(rows, {"batch": 8}) == 0


class Planned(SideBySide):
    """Notes what would be started."""

    def _start(self, what: StudyModel | side_by_side.Group, cpus: list[int]) -> None:
        self.running.append(Running(what, cpus, None))  # type: ignore[arg-type]


def planned(
    file: Path, cpus: str, seconds: float = 500, wide: str = "none=0", first: tuple[str, ...] = ()
) -> Planned:
    asked = argparse.Namespace(
        output=file.parent / "out", ledger=file.parent / "none", seconds=seconds, cpus=cpus,
        small=False, wide=wide_of(wide), least=100.0, whole=[], later=["vit-s32-batch1"],
        carried=file.parent / "carried", first=first,
    )  # fmt: skip
    return Planned(asked, read(file, small=False))


def test_processors_without_a_group_export_models(file: Path) -> None:
    one = planned(file, "0-1")
    assert one._begin()
    assert [(each.what.name, each.cpus) for each in one.running] == [
        ("bert-base", [0]),
        ("vit-s32", [1]),
    ]
    assert not one._begin()


def test_what_computes_much_is_exported_on_more_processors(file: Path) -> None:
    one = planned(file, "0-6", wide="swin-t=4")
    one._begin()
    assert {each.what.name: len(each.cpus) for each in one.running} == {
        "bert-base": 1, "vit-s32": 2, "swin-t": 4,
    }  # fmt: skip


def test_groups_go_before_further_exports(file: Path) -> None:
    one = planned(file, "0-1")
    one.exported.add("vit-s32")
    one._begin()
    assert [each.what.name for each in one.running] == ["vit-s32-batch64", "vit-s32-batch1"]


def test_what_goes_first_has_the_processors_until_it_has_begun(file: Path) -> None:
    one = planned(file, "0-3", first=("swin-t-batch64",), wide="swin-t-batch64=3")
    one.exported.add("vit-s32")
    one._begin()
    assert [each.what.name for each in one.running] == ["swin-t"], "its export, and nothing else"
    one.running.clear()
    one.free, one.exported = [0, 1, 2, 3], {"vit-s32", "swin-t"}
    one._begin()
    assert [(each.what.name, len(each.cpus)) for each in one.running] == [
        ("swin-t-batch64", 3), ("vit-s32-batch64", 1)]  # fmt: skip


def test_what_goes_first_and_cannot_be_exported_holds_nobody_up(file: Path) -> None:
    one = planned(file, "0", first=("swin-t-batch64",))
    one.exported.add("vit-s32")
    one.failed.add("swin-t")
    one._begin()
    assert [each.what.name for each in one.running] == ["vit-s32-batch64"]


def test_a_cell_that_nobody_has_comes_before_another_process_of_one(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Known:
        def __init__(self, _: Path) -> None: ...

        def rows(self) -> list[LedgerRow]:
            engines = ("torch-eager", "burnish-cuda")
            return [row("swin-t/dynamo", name, {"batch": 1}, processes=1) for name in engines]

    monkeypatch.setattr(side_by_side, "Ledger", Known)
    groups = [(one.name, one.met, one.known) for one in planned(file, "0").groups]
    assert groups[-2:] == [("vit-s32-batch1", 0, 0), ("swin-t-batch1", 2, 0)]


def test_what_was_carried_is_restored_and_else_exported(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = file.parent / "carried" / "vit-s32.tar.xz"
    archive.parent.mkdir()
    archive.touch()
    one = planned(file, "0-6", wide="vit-s32=4")
    one._begin()
    assert {each.what.name: len(each.cpus) for each in one.running} == {
        "bert-base": 3, "vit-s32": 1, "swin-t": 3,
    }  # fmt: skip
    (vit,) = (each.what for each in one.running if each.what.name == "vit-s32")
    assert isinstance(vit, StudyModel)
    store = str(file.parent / "out" / "models")
    assert one._exporting(vit)[1:] == ["make", str(archive), store]
    one._exported(vit, good=False)
    assert "vit-s32 is exported anew: what was carried" in capsys.readouterr().out
    assert one._exporting(vit)[:4] == ["-m", "burnish", "export", "vit-s32"]
    one._exported(vit, good=False)
    assert one.failed == {"vit-s32"}


def test_what_was_exported_before_is_not_exported_again(file: Path) -> None:
    place = layout.place(file.parent / "out" / "models", "vit-s32", side_by_side.VARIANT)
    place.parent.mkdir(parents=True)
    place.touch()
    assert planned(file, "0").exported == {"vit-s32"}


def test_what_would_not_end_in_time_is_not_begun_and_told(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = planned(file, "0-1", seconds=60)
    one.exported.add("vit-s32")
    assert not one._begin()
    one.run()
    assert "not begun, for want of time or of an export: bert-base" in capsys.readouterr().out


@pytest.mark.parametrize(("cpus", "waiting", "share_s"), [
    ("0-3", 4, 410.0), ("0-3", 5, 205.0), ("0-3", 8, 205.0), ("0", 20, 100.0),
])  # fmt: skip
def test_the_time_is_shared_with_those_that_wait(
    file: Path, cpus: str, waiting: int, share_s: float
) -> None:
    one = planned(file, cpus)
    group = one.groups[0]
    one.groups = [group] * (waiting - 1)
    assert one._share_s(group) == pytest.approx(share_s, abs=2)


def test_a_group_may_have_all_the_time_on_a_processor_of_its_own(file: Path) -> None:
    one = planned(file, "0-2")
    first, *one.groups = one.groups
    one.asked.whole = [first.name]
    assert one._share_s(first) == pytest.approx(410, abs=2)
    one.running.append(Running(first, [0], None))  # type: ignore[arg-type]
    second, *one.groups = one.groups
    assert one._share_s(second) == pytest.approx(205, abs=2)  # four on two processors


def test_a_group_that_computes_much_has_more_processors(file: Path) -> None:
    one = planned(file, "0-3", wide="vit-s32-batch64=2")
    one.exported.add("vit-s32")
    one._begin()
    assert [(each.what.name, each.cpus) for each in one.running[:2]] == [
        ("vit-s32-batch64", [0, 1]),
        ("vit-s32-batch1", [2]),
    ]


def test_a_group_waits_for_the_processors_that_it_needs(file: Path) -> None:
    one = planned(file, "0-3", wide="vit-s32-batch64=3")
    one.exported.add("vit-s32")
    one.free = [0, 1]
    assert not one._begin(), "it would be on one processor for all of the time, or on two"
    one.free = [0, 1, 2]
    assert one._begin()
    assert [(each.what.name, each.cpus) for each in one.running] == [
        ("vit-s32-batch64", [0, 1, 2]),
    ]


def test_a_group_has_all_processors_where_there_are_fewer_than_it_needs(file: Path) -> None:
    one = planned(file, "0-1", wide="vit-s32-batch64=3")
    one.exported.add("vit-s32")
    assert one._begin()
    assert one.running[0].cpus == [0, 1]


def test_processors_are_named_as_for_taskset() -> None:
    assert cpus_of("0-2,7") == [0, 1, 2, 7]


def test_the_script_for_a_lent_card_asks_for_what_there_is(
    tmp_path: Path,
) -> None:
    repository = Path(__file__).parents[2]
    text = (repository / "benchmarks" / "h200_study.sh").read_text()
    command = text.rpartition("python3 benchmarks/side_by_side.py")[2].partition(">>")[0]
    words = [word for word in command.replace("\\\n", " ").split() if word.startswith("--")]
    known = {name for each in options()._actions for name in each.option_strings}
    assert {"--ledger", "--seconds", "--cpus", "--wide", "--whole", "--least"} <= set(words)
    assert set(words) <= known
    study = read(repository / "examples" / "studies" / "h200.toml", small=False)
    names = {group.name for group in groups_of(study, tmp_path / "none")}
    asked = command.split("--whole")[1].split()[0].split(",")
    assert set(asked) <= names, "groups that the study has"
