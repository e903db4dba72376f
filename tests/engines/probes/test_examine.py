"""Everything is tried; what fails is a row with a reason and a way out."""

from __future__ import annotations

import pytest

from burnish.core import settings
from burnish.engines.base import ENGINES, Availability
from burnish.engines.probes import examine
from burnish.engines.probes.findings import DoctorReport, FindingKind, ProbeFinding, Status
from burnish.process.child import Child, ChildEndedError

CPU = "onnxruntime-cpu"


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(*_: object) -> None:
        raise ChildEndedError("ended by SIGSEGV", "probe", signal="SIGSEGV")

    monkeypatch.setattr(Child, "ask", fall)


def test_an_engine_that_is_named_is_tried_and_nothing_else() -> None:
    (finding,) = examine.examine([CPU]).findings
    assert (finding.name, finding.status) == (CPU, Status.WORKS)
    assert finding.detail.startswith("cpu, f32, ")
    assert finding.version


def test_a_crash_is_a_row_with_the_command_that_shows_it(ended: None) -> None:
    finding = examine.engine_finding(CPU, time_limit_s=1)
    assert (finding.status, finding.detail) == (
        Status.BROKEN, "ended by SIGSEGV during 'probe'",
    )  # fmt: skip
    assert finding.remedy == "python -m burnish.engines.probes.engine_probe onnxruntime-cpu"


def test_an_engine_that_is_not_installed_is_not_tried(
    ended: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = Availability(ok=False, reason="it is not installed", remedy="pip install it")
    monkeypatch.setattr(type(ENGINES[CPU]), "availability", lambda _: absent)
    finding = examine.engine_finding(CPU, time_limit_s=1)
    assert (finding.status, finding.remedy) == (Status.MISSING, "pip install it")


def test_without_torch_exporters_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "version_of", lambda _: None)
    finding = examine.exporter_finding("dynamo", time_limit_s=1)
    assert (finding.status, finding.remedy) == (Status.MISSING, "pip install 'burnish[torch]'")


def test_a_broken_exporter_is_a_row(ended: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examine, "version_of", lambda _: "2.13")
    finding = examine.exporter_finding("dynamo", time_limit_s=1)
    assert finding.remedy == "python -m burnish.engines.probes.exporter_probe dynamo"


def test_telemetry_is_off_and_its_absence_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    settings.force()
    assert {finding.status for finding in examine.privacy()} == {Status.WORKS}
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")
    broken = [finding for finding in examine.privacy() if finding.status is Status.BROKEN]
    assert [finding.remedy for finding in broken] == ["export ORT_DISABLE_TELEMETRY=1"]


def test_everything_has_a_row(ended: None, monkeypatch: pytest.MonkeyPatch) -> None:
    report = examine.examine()
    assert [finding.name for finding in report.of(FindingKind.ENGINE)] == list(ENGINES)
    assert {finding.group for finding in report.findings} == set(FindingKind)
    for finding in report.findings:
        assert finding.status is Status.WORKS or (finding.detail and finding.remedy)


def test_broken_engines_are_those_that_do_not_work() -> None:
    works = ProbeFinding(FindingKind.ENGINE, "a", Status.WORKS)
    missing = ProbeFinding(FindingKind.ENGINE, "b", Status.MISSING)
    device = ProbeFinding(FindingKind.DEVICE, "c", Status.MISSING)
    assert DoctorReport((works, missing, device)).broken_engines == (missing,)
