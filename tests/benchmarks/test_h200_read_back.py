"""What came back from a lent machine becomes tables; `recorded_round.json` was recorded on one."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from h200 import read_back
from h200.round import read

from benchmarks.test_study_table import MS, STUDY, session
from burnish.bench.ledger import Ledger

RECORDED = json.loads((Path(__file__).parent / "recorded_round.json").read_text())
PLANS = Path(__file__).parents[2] / "benchmarks" / "h200"


def packed(folder: Path, files: dict[str, str], name: str = "results.tgz") -> Path:
    with tarfile.open(folder / name, "w:gz") as archive:
        for place, text in files.items():
            path = folder / "packed" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            archive.add(path, place)
    return folder / name


def tables(folder: Path, *archives: Path) -> tuple[int, dict[str, str]]:
    code = read_back.main([*map(str, archives), "-o", str(folder / "back")])
    found = (folder / "back" / "tables").glob("*.md")
    return code, {path.stem: path.read_text() for path in found}


def test_every_job_of_every_plan_is_read() -> None:
    names = {job.name for path in PLANS.glob("round*.toml") for job in read(path).jobs}
    assert names == set(read_back.READERS) | read_back.WITHOUT


def test_recorded_results_become_tables(tmp_path: Path) -> None:
    files = {place: json.dumps(told) for place, told in RECORDED.items()}
    code, found = tables(tmp_path, packed(tmp_path, files))
    assert code == 0
    assert "| unet_b1 | 0.544 | 0.429 default+channels-last | **0.79**" in found["table"]
    assert "| bsrn_b1 | not prepared within 250.0 s |" in found["table"]
    assert "| lstm_tagger | " in found["race"]
    assert "**1.49×** (1.40–1.58)" in found["race"]
    assert "| 4 s |" in found["race"]
    assert "not measured: resnet50, " in found["race"]
    assert "| bert-base b1 | 6,591 µs | 3,935 µs | 1,158 µs | 3.42" in found["torch"]
    assert "| (1,128) | launching | 9.060 ms | 6.969 ms | 0.696 ms" in found["cuda-graph"]
    assert "launch everything at once with a CUDA graph" in found["cuda-graph"]
    assert "| nerf-mlp_b1 | 1 | 308.0 + 22.5 | 265.0 |" in found["traffic"]


def test_of_a_job_that_ran_twice_the_last_counts(tmp_path: Path) -> None:
    first = packed(tmp_path, {"tf32/verify.txt": "first\n", "refused/gpu_refused.jsonl": "{}\n"})
    second = packed(tmp_path, {"tf32/verify.txt": "second\n"}, "second.tgz")
    _, found = tables(tmp_path, first, second)
    assert found == {"tf32": "second\n", "refused": "{}\n"}


def test_a_job_without_figures_is_told_and_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "table/output.txt": "no such option: --whole\n", "race/output.txt": "", "odd/x": "",
        "study/output.txt": "", "tf32/verify.txt": "equal\n", "torch/gpu_torch.json": "[{",
    }  # fmt: skip
    code, found = tables(tmp_path, packed(tmp_path, files))
    said = capsys.readouterr().out
    assert code == 1
    assert set(found) == {"tf32"}
    assert "no such option: --whole" in said
    assert "race: no table: FileNotFoundError: no model was raced" in said
    assert "study: no table: FileNotFoundError: there is no ledger" in said
    assert "odd: no table: LookupError: nothing here reads the job odd" in said
    assert "torch: no table: JSONDecodeError" in said


def test_a_ledger_without_a_group_of_the_study_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Ledger(tmp_path / "ledger.sqlite").append(session("s", 7, MS))
    with tarfile.open(tmp_path / "results.tgz", "w:gz") as archive:
        archive.add(tmp_path / "ledger.sqlite", "study/ledger.sqlite")
    code, found = tables(tmp_path, tmp_path / "results.tgz")
    assert (code, found) == (1, {})
    assert "the ledger has no group of this study" in capsys.readouterr().out


def test_the_ledger_becomes_the_studys_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_back, "STUDY", tmp_path / "study.toml")
    (tmp_path / "study.toml").write_text(STUDY)
    book = Ledger(tmp_path / "ledger.sqlite")
    book.append(session("s", 1, MS))
    with tarfile.open(tmp_path / "results.tgz", "w:gz") as archive:
        archive.add(book.path, "study/ledger.sqlite")
    code, found = tables(tmp_path, tmp_path / "results.tgz")
    assert code == 0
    assert "| bert-base | batch 1 |" in found["study"]
    assert "burnish-cuda over the best other" in found["study"]
    drawn = tmp_path / "back" / "tables" / "study" / "h200-speed-up.svg"
    assert drawn.read_text().startswith("<svg")
