from __future__ import annotations

from burnish.report.plans import PlannedRow, plans_csv, plans_table

ROW = PlannedRow("m/v", "batch=1", "nvidia-a100", "full", 1200, 2, 2048, 4096.0, 2e-3, 1.5)


def test_plans_are_written_in_si_units() -> None:
    head, row = plans_csv([ROW]).splitlines()
    assert head.startswith("model,sizes,device,fusion,kernels,left_nodes,intermediate_bytes,")
    assert head.endswith("traffic_bytes,predicted_s,planning_s")
    assert row == "m/v,batch=1,nvidia-a100,full,1200,2,2048,4096.0,0.002,1.5"


def test_plans_are_shown_with_units() -> None:
    found = plans_table([ROW])
    assert found.texts == [
        ("m/v", "batch=1", "nvidia-a100", "full", "1,200", "2", "2.00 KiB", "4.00 KiB", "2.00 ms")
    ]
    assert "predicted" in found.title
