from __future__ import annotations

import pytest

from burnish.bench.probe_gpu import probe_gpu


@pytest.mark.gpu
@pytest.mark.torch
def test_the_rates_of_a_gpu_are_in_an_order_that_makes_sense() -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    found = probe_gpu()
    rates = found.peak_flops_per_s
    assert rates["f16"] > rates["f32"]
    levels = [level.bandwidth_bytes_per_s for level in found.memory]
    assert levels == sorted(levels, reverse=True)
    assert 0 < found.launch_overhead_s < 1e-3
