"""Devices are told in one line each."""

from __future__ import annotations

from burnish.engines.probes.devices import cpu_finding, devices, gpu_findings
from burnish.engines.probes.findings import Status
from burnish.hw.detect import Cpu, Gpu


def test_a_cpu_is_told_with_its_limits_and_flags() -> None:
    finding = cpu_finding(Cpu("Example", 8, 2.5, 2**34, ("fpu", "avx2", "fma")))
    assert finding.detail == (
        "Example; 8 usable cores (a container allows 2.5); 16.0 GiB memory; avx2 fma; "
        "catalog: x86-avx2"
    )


def test_an_unknown_cpu_says_so() -> None:
    assert cpu_finding(Cpu("Odd", 1, None, None, ())).detail == (
        "Odd; 1 usable core; not in the catalog"
    )


def test_gpus_are_told_with_their_driver() -> None:
    (finding,) = gpu_findings((Gpu("NVIDIA H200", "580.1", 143771 * 2**20),))
    assert (finding.name, finding.version) == ("GPU 0", "driver 580.1")
    assert finding.detail == "NVIDIA H200; 140 GiB memory; catalog: nvidia-h200"


def test_no_gpu_is_a_row_too() -> None:
    (finding,) = gpu_findings(())
    assert finding.status is Status.MISSING
    assert finding.remedy


def test_this_machine_has_a_cpu() -> None:
    assert devices()[0].name == "CPU"
