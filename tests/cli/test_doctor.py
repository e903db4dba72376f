"""`burnish doctor` prints what it found, and fails only for engines that were asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.bench import probe
from burnish.cli.main import run
from burnish.engines.probes import examine
from burnish.engines.probes.findings import DoctorReport, FindingKind, ProbeFinding, Status
from devices import LAPTOP

WORKS = ProbeFinding(
    FindingKind.ENGINE, "onnxruntime-cpu", Status.WORKS, "1.31.1", "cpu, f32, 2 threads"
)
MISSING = ProbeFinding(
    FindingKind.ENGINE, "openvino", Status.MISSING, "", "openvino is not installed",
    "pip install 'burnish[openvino]'",
)  # fmt: skip
PRIVACY = ProbeFinding(
    FindingKind.PRIVACY, "ORT_DISABLE_TELEMETRY", Status.WORKS, detail="set to 1"
)


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    asked: list[tuple[str, ...]] = []

    def fake(engines: tuple[str, ...], **_: object) -> DoctorReport:
        asked.append(engines)
        rows = (WORKS, MISSING, PRIVACY)
        return DoctorReport(tuple(row for row in rows if not engines or row.name in engines))

    monkeypatch.setattr(examine, "examine", fake)
    return asked


def test_missing_engines_are_rows_and_not_a_failure(
    found: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert found == [()]
    for text in ("engines", "privacy", "1.31.1", "missing", "pip install 'burnish[openvino]'"):
        assert text in out


def test_an_engine_that_was_asked_for_and_is_missing_is_a_failure(
    found: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--engine", "onnxruntime-cpu,openvino"]) == 4
    assert found == [("onnxruntime-cpu", "openvino")]
    assert capsys.readouterr().err.endswith(
        "burnish: engine openvino is missing: openvino is not installed\n"
        "  hint: pip install 'burnish[openvino]'\n"
    )


def test_an_unknown_engine_is_a_usage_error(
    found: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--engine", "openvin"]) == 2
    assert "did you mean 'openvino'?" in capsys.readouterr().err
    assert found == []


def test_json_is_one_document(
    found: list[tuple[str, ...]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-q", "doctor", "--json"]) == 0
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert (document["kind"], document["schema"]) == ("doctor-report", 1)
    assert document["findings"][1] == {
        "group": "engine", "name": "openvino", "status": "missing", "version": "",
        "detail": "openvino is not installed", "remedy": "pip install 'burnish[openvino]'",
    }  # fmt: skip


def test_one_engine_is_really_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-q", "doctor", "--engine", "onnxruntime-cpu", "--json"]) == 0
    (finding,) = json.loads(capsys.readouterr().out)["findings"]
    assert finding["status"] == "works"


def test_a_probe_is_written_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(probe, "probe_cpu", lambda **_: LAPTOP)
    target = tmp_path / "cpu.toml"
    assert run(["doctor", "--probe", "cpu", "-o", str(target)]) == 0
    out = capsys.readouterr().out
    for text in ("products in f32", "100.0 GFLOP/s", "10.0 GB/s", "1.00 µs", str(target)):
        assert text in out
    assert 'name = "laptop"' in target.read_text()


def test_a_target_without_a_probe_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "-o", "x.toml"]) == 2
    assert "hint: add --probe" in capsys.readouterr().err
