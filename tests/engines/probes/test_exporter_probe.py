"""Exporters are tried for real."""

from __future__ import annotations

import pytest

from burnish.engines.probes.exporter_probe import EXPORTERS
from burnish.process.child import Child


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("exporter", EXPORTERS)
def test_an_exported_module_runs_and_agrees(exporter: str) -> None:
    pytest.importorskip("torch")
    with Child("burnish.engines.probes.exporter_probe") as child:
        assert child.ask("probe", exporter, str, 180) == "exported, ran and agreed"
