from __future__ import annotations

import pytest

from burnish.analyze.traffic import (
    CACHE_METRICS,
    KernelTraffic,
    of_misses,
    of_ncu,
    predicted,
    total,
)
from burnish.core.errors import MissingCapabilityError, ModelError
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


REAL = """==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "gemm_kernel" - 0: 0%....50%....100% - 3 passes
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum"
"","","","","","","","","","","","Kbyte","byte","us"
"0","4711","python3.12","127.0.0.1","void gemm<float, (int)128>(T1 *, const T1 *)","1","7",\
"(256, 1, 1)","(12, 8, 1)","0","9.0","2,359.30","1,664","6.11"
""".replace("\\\n", "")


def test_the_columns_that_ncu_writes_besides_are_passed_over() -> None:
    (found,) = of_ncu(REAL, runs=1)
    assert found == KernelTraffic(
        "void gemm<float, (int)128>(T1 *, const T1 *)", 1, pytest.approx(2.3593e6), 1664,
        pytest.approx(6.11e-6),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", '"ID","Kernel Name"\n"0","a"\n'])
def test_what_ncu_did_not_count_is_an_error(text: str) -> None:
    with pytest.raises(ModelError, match="holds no kernels with dram__bytes_read") as caught:
        of_ncu(text, runs=1)
    assert caught.value.hint.endswith("ncu --query-metrics")


def test_an_inference_without_kernels_on_a_card_is_told_with_an_engine_that_has_them() -> None:
    with pytest.raises(ModelError, match="launched none on a card") as caught:
        of_ncu("==WARNING== No kernels were profiled.\n", runs=1)
    assert "--engine torch-eager" in caught.value.hint


def test_counters_that_only_an_administrator_may_read_are_told_so() -> None:
    with pytest.raises(MissingCapabilityError, match="counters not permitted: only an") as caught:
        of_ncu("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", runs=1)
    assert caught.value.hint.startswith("run it as root")
    assert "sudo tee /etc/modprobe.d" in caught.value.hint


H200 = """==PROF== Connected to process 1376 (/usr/bin/python3.12)
==PROF== Disconnected from process 1376
"ID","Process ID","Kernel Name","CC","dram__bytes_read.avg","dram__bytes_read.sum",\
"dram__bytes_write.sum","gpu__time_duration.max","gpu__time_duration.sum","launch__uses_vgpu"
"","","","","byte","byte","byte","ns","ns",""
"0","1376","nvjet_sm90_hsh_256x128","9.0","175,216","8,410,368","9,371,648","33,504","33,504","0"
"1","1376","void at::reduce_kernel<512, 1>(T3)","9.0","176,218.67","8,458,496","0","10,176",\
"10,176","0"
""".replace("\\\n", "")
"""What an H200 gave on 16 November 2026, most columns left out."""


def test_what_a_card_told_is_read_as_it_came() -> None:
    product, total = of_ncu(H200, runs=1)
    assert (product.read_bytes, product.written_bytes) == (8_410_368, 9_371_648)
    assert product.seconds_s == pytest.approx(33.504e-6)
    assert (total.read_bytes, total.written_bytes) == (8_458_496, 0)


@pytest.mark.parametrize("untold", ["nan", "inf", "n/a", ""])
def test_a_card_that_hides_its_counters_is_told_in_one_word(untold: str) -> None:
    with pytest.raises(MissingCapabilityError, match="counters not permitted: ncu ran") as caught:
        of_ncu(H200.replace('"8,410,368"', f'"{untold}"'), runs=1)
    assert caught.value.hint.startswith("run it as root")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [('"Mbyte"', '"furlong"', "'1.5' in 'furlong'"), ('"1.5"', '"many"', "'many' in 'Mbyte'")],
)
def test_what_is_no_number_of_bytes_is_not_taken_for_none(old: str, new: str, told: str) -> None:
    with pytest.raises(ModelError, match=f"what ncu wrote holds {told}"):
        of_ncu(NCU.replace(old, new), runs=1)


CACHED = """==WARNING== Note: Running with uncontrolled GPU caches.
==PROF== Disconnected from process 4140
"ID","Kernel Name","CC","dram__bytes_read.sum","dram__bytes_write.sum","gpu__time_duration.sum",\
"l1tex__m_l1tex2xbar_write_bytes.avg","l1tex__m_l1tex2xbar_write_bytes.sum",\
"l1tex__m_xbar2l1tex_read_bytes.sum"
"","","","byte","byte","ns","byte","byte","byte"
"0","product_b8d77a86dde6","9.0","1,979,136","0","6,112","2,174.79","287,072","5,971,968"
"1","each_9086f7a59cce","9.0","3,328","0","2,944","285.09","37,632","1,800,192"
"2","rows_4df3aaf154fa","9.0","7,680","0","2,752","581.82","76,800","153,600"
""".replace("\\\n", "")
"""Three of ViT's kernels on an H200 on 16 November 2026, most columns left out."""


def test_what_goes_through_the_shared_cache_is_told_apart_from_what_goes_to_memory() -> None:
    product, rows, each = of_ncu(CACHED, runs=1)
    assert (product.read_bytes, product.written_bytes) == (1_979_136, 0)
    assert (product.cache_read_bytes, product.cache_written_bytes) == (5_971_968, 287_072)
    assert (rows.cache_read_bytes, each.cache_read_bytes) == (153_600, 1_800_192)
    assert total(one.cache_written_bytes for one in (product, rows, each)) == 401_504


@pytest.mark.parametrize("untold", ["n/a", "", "nan"])
def test_a_card_that_does_not_count_at_its_shared_cache_still_counts_memory(untold: str) -> None:
    found = of_ncu(CACHED.replace('"153,600"', f'"{untold}"'), runs=1)
    assert [one.cache_read_bytes for one in found] == [None] * 3
    assert sum(one.read_bytes for one in found) == 1_990_144
    assert total(one.cache_read_bytes for one in found) is None
    assert all(metric in CACHED for metric in CACHE_METRICS)


def test_misses_of_the_last_cache_are_lines_of_64_bytes() -> None:
    assert of_misses({"read": 1000.0, "written": 20.0}, runs=10) == {"read": 6400.0, "written": 128}


def test_the_least_that_is_moved_is_what_shapes_say() -> None:
    least, unknown = predicted(diamond())
    assert least is not None
    assert least > 8 * 8 * 4 * 3
    assert unknown <= 1
    assert predicted(None) == (None, 0)
