"""Products of bytes in plans: what they need of a processor, and what they compute."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from burnish.codegen.cpu.backend import CpuBackend
from burnish.codegen.cpu.target import TARGETS, available, detect
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.place import BuiltPlan
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write
from burnish.runtime.cpu.runner import CpuRunner
from burnish.runtime.folder import About
from burnish.runtime.load import open_folder
from burnish.store import onnx_files
from burnish.store.compiled import PLAN
from codegen.models import MACHINE, model, reference

WEIGHTS = {
    "w": np.random.default_rng(0).integers(-128, 128, (32, 48), dtype=np.int8),
    "scale": np.linspace(0.01, 0.05, 48, dtype=np.float32),
    "bias": np.linspace(-1, 1, 48, dtype=np.float32),
}
DYNAMIC = """
dynamic (float[5, 32] x) => (float[5, 48] y)
{
    q, step, zero = DynamicQuantizeLinear(x)
    p = MatMulInteger(q, w, zero)
    f = Cast<to = 1>(p)
    s = Mul(step, scale)
    m = Mul(f, s)
    b = Add(m, bias)
    y = Relu(b)
}
"""
PLAIN = """
plain (float[5, 32] x) => (float[5, 48] y)
<int64[4] by = {0, 0, 0, 16}>
{ y = Pad(x, by) }
"""
VNNI = CpuBackend(dataclasses.replace(TARGETS["avx512"], dot="dot4_vnni"), MACHINE, "a CPU")
HERE = CpuBackend(detect(), MACHINE, "a CPU")
INTERFACE = onnx_files.interface(model(PLAIN))
ABOUT = About("m", "m.onnx", "0", INTERFACE.inputs, INTERFACE.outputs, "f32", "a CPU", "today")


def built(text: str, backend: CpuBackend) -> BuiltPlan:
    constants = WEIGHTS if "MatMul" in text else {}
    return plan(prepare(model(text, constants), {}), PlanOptions(backend, Predicted(backend)))


def test_a_quantised_product_with_its_bias_and_activation_is_all_kernels(tmp_path: Path) -> None:
    made = built(DYNAMIC, HERE)
    assert not made.plan.ort_steps
    write(tmp_path / "c", ABOUT, [made], HERE)
    feeds = {"x": np.random.default_rng(1).standard_normal((5, 32)).astype(np.float32)}
    with open_folder(tmp_path / "c", threads=1) as loaded:
        found = loaded.run(feeds)
    expected = reference(model(DYNAMIC, WEIGHTS), feeds)
    np.testing.assert_allclose(found["y"], expected["y"], rtol=1e-5, atol=1e-5)


CONVOLVED = """
convolved (uint8[1, 8, 6, 6] x) => (uint8[1, 16, 6, 6] y)
<float step = {0.02}, uint8 zero = {120}, float out = {0.6}, int8 none = {0}>
{
    a = QLinearConv(x, step, zero, narrow, step, none, out, zero)
    y = QLinearConv<pads = [1, 1, 1, 1]>(a, step, zero, filters, step, none, out, zero)
}
"""


SEQUENCE = """
sequence (uint8[1, 8, 40] x) => (uint8[1, 16, 40] y)
<float step = {0.02}, uint8 zero = {120}, float out = {0.6}, int8 none = {0}>
{
    a = QLinearConv(x, step, zero, narrow, step, none, out, zero)
    y = QLinearConv<pads = [1, 1]>(a, step, zero, filters, step, none, out, zero)
}
"""


@pytest.mark.parametrize(
    ("text", "around"), [(CONVOLVED, (6, 6)), (SEQUENCE, (40,))], ids=["image", "sequence"]
)
def test_a_quantised_convolution_multiplies_bytes_by_fours(
    text: str, around: tuple[int, ...], tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    ones, threes = (1 for _ in around), (3 for _ in around)
    sizes = {"narrow": (16, 8, *ones), "filters": (16, 16, *threes)}
    held = {name: rng.integers(-128, 128, size, dtype=np.int8) for name, size in sizes.items()}
    options = PlanOptions(HERE, Predicted(HERE))
    made = plan(prepare(model(text, held), {}), options)
    assert not made.plan.ort_steps
    assert "burnish.dot4" in "".join(made.kernels.values())
    found = onnx_files.interface(model(text, held))
    about = dataclasses.replace(ABOUT, inputs=found.inputs, outputs=found.outputs)
    write(tmp_path / "c", about, [made], HERE)
    feeds = {"x": rng.integers(0, 256, (1, 8, *around), dtype=np.uint8)}
    with open_folder(tmp_path / "c", threads=1) as loaded:
        given = loaded.run(feeds)["y"].astype(np.int32)
    expected = reference(model(text, held), feeds)["y"].astype(np.int32)
    assert np.abs(given - expected).max() <= 1
    assert (given != expected).mean() <= 0.05


def test_only_plans_with_products_of_bytes_need_instructions_for_them() -> None:
    assert built(DYNAMIC, VNNI).plan.requires == (*VNNI.requires, "avx512_vnni")
    assert built(PLAIN, VNNI).plan.requires == VNNI.requires
    named = CpuBackend(TARGETS["avx512"], MACHINE, "a CPU")
    assert built(DYNAMIC, named).plan.requires == named.requires


def test_where_those_instructions_are_missing_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from burnish.hw import detect as hardware

    without = dataclasses.replace(hardware.cpu(), flags=frozenset(VNNI.requires))
    monkeypatch.setattr(hardware, "cpu", lambda: without)
    assert CpuRunner().lacks(built(DYNAMIC, VNNI).plan.requires) == ("avx512_vnni",)


@pytest.mark.skipif(detect().dot == "dot4", reason="no VNNI here: nothing to build for it")
def test_plans_of_one_folder_need_what_any_of_them_needs(tmp_path: Path) -> None:
    write(tmp_path / "c", ABOUT, [built(DYNAMIC, HERE), built(PLAIN, HERE)], HERE)
    stored = json.loads((tmp_path / "c" / PLAN).read_text())
    wanted = [*HERE.requires, "avx512_vnni"]
    assert [each["requires"] for each in stored["plans"]] == [wanted, wanted]


def test_products_of_short_numbers_are_priced_by_their_own_rate() -> None:
    from burnish.codegen.cpu.backend import open_cpu

    here = open_cpu("", 1)
    rates = here.machine.hw.peak_flops_per_s
    assert ("i8" in rates) == (here.instructions.dot == "dot4_vnni")
    assert ("bf16" in rates) == (here.instructions.dot_bf16 == "dot2_bf16")
    named = open_cpu(available()[0].name, 1)
    for kind in ("i8", "bf16"):
        assert named.machine.peak_flops_per_s(kind) == named.machine.peak_flops_per_s("f32")
