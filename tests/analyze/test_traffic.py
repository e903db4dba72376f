from __future__ import annotations

import pytest

from burnish.analyze.traffic import KernelTraffic, of_ncu, of_perf, predicted
from burnish.core.errors import ModelError
from sample_picture import diamond

NCU = """==PROF== Connected to process 1
"ID","Kernel Name","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"
"","","Mbyte","Kbyte","usecond"
"0","gemm","1.5","200","10"
"1","add","0.5","100","4"
"2","gemm","2.5","1,000","20"
"""


def test_ncu_counts_are_summed_by_kernel_in_their_units() -> None:
    gemm, add = of_ncu(NCU, runs=1)
    assert gemm == KernelTraffic(
        "gemm", 2, pytest.approx(4e6), pytest.approx(1.2e6), pytest.approx(30e-6)
    )
    assert (add.count, add.read_bytes) == (1, 5e5)
    assert of_ncu(NCU, runs=2)[0].count == 1


@pytest.mark.parametrize(
    "text", ["", "==ERROR== ERR_NVGPUCTRPERM", '"ID","Kernel Name"\n"0","a"\n']
)
def test_what_ncu_was_not_allowed_to_count_is_an_error(text: str) -> None:
    with pytest.raises(ModelError, match="holds no kernels with dram__bytes_read") as caught:
        of_ncu(text, runs=1)
    assert caught.value.hint.endswith("ncu --query-metrics")


def test_misses_of_the_last_cache_are_lines_of_64_bytes() -> None:
    texts = ["100,,LLC-load-misses,1,100.00,,\n50,,LLC-store-misses,1,100.00,,\n",
             "1100,,LLC-load-misses:u,1,100.00,,\n40,,LLC-store-misses:u,1,100.00,,\n"]  # fmt: skip
    assert of_perf(texts, runs=10) == {"read": 6400.0, "written": 0.0}


def test_what_the_kernel_does_not_count_is_said() -> None:
    refused = "<not supported>,,LLC-load-misses,0,100.00,,\n"
    assert of_perf([refused, refused], runs=1) == (
        "LLC-load-misses cannot be counted on this machine"
    )


def test_the_least_that_is_moved_is_what_shapes_say() -> None:
    least, unknown = predicted(diamond())
    assert least is not None
    assert least > 8 * 8 * 4 * 3
    assert unknown <= 1
    assert predicted(None) == (None, 0)
