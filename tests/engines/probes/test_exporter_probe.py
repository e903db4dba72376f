"""Exporters are tried for real."""

from __future__ import annotations

import pytest

from burnish.engines.probes.child import run_module
from burnish.engines.probes.exporter_probe import EXPORTERS


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_exported_module_runs_and_agrees(exporter: str) -> None:
    pytest.importorskip("torch")
    module = "burnish.engines.probes.exporter_probe"
    outcome = run_module(module, exporter, time_limit_s=180)
    assert outcome.reason == ""
    assert outcome.output.endswith("exported, ran and agreed")
