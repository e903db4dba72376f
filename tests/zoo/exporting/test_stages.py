from __future__ import annotations

import pytest

from burnish.process import serving
from burnish.zoo.exporting.stages import StageLog


def test_a_stage_is_told_as_soon_as_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(serving, "stage", told.append)
    log = StageLog()
    with log.stage("build"):
        assert told == ["build"]
    with pytest.raises(RuntimeError), log.stage("export"):
        raise RuntimeError
    assert log.current == "export"
    assert told == ["build", "export"]
    assert [time.stage for time in log.times] == ["build"]
