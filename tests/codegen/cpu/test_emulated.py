"""Code for ARM gives what NumPy gives, as an emulator runs it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.codegen.cpu.backend import CpuBackend, open_cpu
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.core.array_types import array_type
from burnish.core.arrays import Array, Arrays
from codegen.cpu.emulated import EMULATOR, WHY_NOT, run
from codegen.cpu.kinds import KINDS, model_of
from codegen.models import model, reference

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(EMULATOR is None, reason=WHY_NOT),
]

NEON = TARGETS["neon"]
DOTS = ("dot4", "dot4_sdot", "dot4_usdot")

FUNCTIONS = {
    "Exp": np.exp, "Tanh": np.tanh, "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Sin": np.sin,
    "Cos": np.cos, "Tan": np.tan, "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh,
    "Asinh": np.arcsinh, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Abs": np.abs,
    "Neg": np.negative, "Sign": np.sign,
}  # fmt: skip
OF_POSITIVE = {"Log": np.log, "Sqrt": np.sqrt, "Reciprocal": lambda x: 1 / x}


def priced(dot: str = "dot4") -> CpuBackend:
    return replace(open_cpu("neon", 1), instructions=replace(NEON, dot=dot))


def ran(text: str, feeds: Arrays, folder: Path, held: Arrays | None = None) -> dict[str, Array]:
    """Return what a model gives, all of which is kernels."""
    backend = priced()
    made = plan(prepare(model(text, held), {}), PlanOptions(backend, Predicted(backend)))
    assert not made.plan.ort_steps
    return run(made, feeds, NEON, folder)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_kernel_gives_what_onnx_gives(kind: str, tmp_path: Path) -> None:
    rng, given, backend = np.random.default_rng(0), model_of(kind), priced()
    feeds: dict[str, Array] = {}
    for value in given.graph.inputs:
        assert value.name
        assert value.shape is not None
        dtype = value.dtype.numpy() if value.dtype else np.float32
        numbers = rng.standard_normal(value.shape.numpy())
        whole = np.issubdtype(dtype, np.integer)
        feeds[value.name] = (np.abs(2 * numbers) if whole else numbers).astype(dtype)
    made = plan(prepare(given, {}), PlanOptions(backend, Predicted(backend)))
    found, expected = run(made, feeds, NEON, tmp_path), reference(given, feeds)
    for name, array in found.items():
        assert array.dtype == expected[name].dtype
        np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dot", DOTS)
@pytest.mark.parametrize(("rows", "result", "lanes"), [(1, "int32", 4), (5, "int64", 2)])
def test_products_of_bytes_are_exact_with_each_instruction(
    dot: str, rows: int, result: str, lanes: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(rows)
    weights = rng.integers(-128, 128, (32, 24), dtype=np.int8)
    weights[:, 0], weights[:, 1] = -128, 127
    x = rng.integers(0, 256, (rows, 32), dtype=np.uint8)
    x[0] = 255
    kind = onnx.TensorProto.DataType.Value(result.upper())
    text = f"""bytes (uint8[{rows}, 32] x) => ({result}[{rows}, 24] y)
    {{ p = MatMulInteger(x, w) y = Cast<to = {kind}>(p) }}"""
    backend = priced(dot)
    given = prepare(model(text, {"w": weights}), {})
    made = plan(given, PlanOptions(backend, Predicted(backend)))
    assert f"burnish.{dot}.i32.{lanes}" in "".join(made.kernels.values())
    found = run(made, {"x": x}, backend.instructions, tmp_path)["y"]
    np.testing.assert_array_equal(found, x.astype(np.int32) @ weights.astype(np.int32))


def test_every_f16_becomes_its_f32(tmp_path: Path) -> None:
    x = np.arange(2**16, dtype=np.uint16).view(np.float16)
    text = "widen (float16[65536] x) => (float[65536] y) { y = Cast<to = 1>(x) }"
    np.testing.assert_array_equal(ran(text, {"x": x}, tmp_path)["y"], x.astype(np.float32))


@pytest.mark.parametrize(("kind", "number"), [("float16", 10), ("bfloat16", 16)])
def test_f32_is_rounded_to_16_bits_as_numpy_rounds(kind: str, number: int, tmp_path: Path) -> None:
    every = np.random.default_rng(0).integers(0, 2**32, 2**15, dtype=np.uint32)
    halves = np.arange(2**15, dtype=np.uint16).view(np.float16).astype(np.float32)
    between = (halves.view(np.uint32) + 2**12).view(np.float32)
    x = np.concatenate([every.view(np.float32), between])
    text = f"narrow (float[65536] x) => ({kind}[65536] y) {{ y = Cast<to = {number}>(x) }}"
    found = ran(text, {"x": x}, tmp_path)["y"].astype(np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(array_type({"float16": "f16"}.get(kind, "bf16"))).astype(np.float32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("functions", [FUNCTIONS, OF_POSITIVE])
def test_functions_of_f32_are_near_the_exact_result(
    functions: dict[str, object], tmp_path: Path
) -> None:
    x = np.linspace(-8, 8, 4001, dtype=np.float32)
    x = np.abs(x) + np.float32(1e-3) if functions is OF_POSITIVE else x
    outputs = ", ".join(f"float[{x.size}] y{name}" for name in functions)
    body = " ".join(f"y{name} = {name}(x)" for name in functions)
    found = ran(f"math (float[{x.size}] x) => ({outputs}) {{ {body} }}", {"x": x}, tmp_path)
    for name, function in functions.items():
        exact = function(x.astype(np.float64))  # type: ignore[operator]
        spacing = np.maximum(np.abs(np.spacing(exact.astype(np.float32))), 1e-38)
        assert np.max(np.abs(found[f"y{name}"] - exact) / spacing) < 4, name


@pytest.mark.parametrize(("kind", "number"), [("int32", 6), ("uint8", 2), ("int64", 7)])
def test_floats_become_integers_as_on_other_processors(
    kind: str, number: int, tmp_path: Path
) -> None:
    x = np.array([0.9, -0.9, 254.5, -127.5, 1e6, -1e6, 2.5, -2.5], np.float32)
    beyond = np.array([3e9, -3e9, 1e20, -1e20, np.inf, -np.inf, np.nan, 2.0**31], np.float32)
    text = f"cast (float[16] x) => ({kind}[16] y) {{ y = Cast<to = {number}>(x) }}"
    found = ran(text, {"x": np.concatenate([x, beyond])}, tmp_path)["y"]
    wide = np.int64 if kind == "int64" else np.int32
    least, most = np.iinfo(wide).min, float(np.iinfo(wide).max)
    exact = np.trunc(np.concatenate([x, beyond]).astype(np.float64))
    fits = np.abs(exact) <= most
    expected = np.where(fits, np.where(fits, exact, 0).astype(wide), least).astype(kind)
    np.testing.assert_array_equal(found, expected)
