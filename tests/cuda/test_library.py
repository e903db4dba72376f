"""Products that a library forms in place of kernels: where it is, what it is asked, and without."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from burnish.cuda import cublas
from burnish.cuda.cublas import Cublas, open_cublas, shared_object
from burnish.cuda.driver import DriverError
from burnish.cuda.executable import DeviceExecutable
from burnish.cuda.kernel import TritonSource, settings_line, source_of
from burnish.cuda.library import LibraryProduct, product_findings
from burnish.cuda.loaded import LoadedKernels
from burnish.cuda.memory import aligned
from burnish.cuda.plan import Buffer, CubinStep, DevicePlan
from burnish.cuda.streamed import StreamedExecutable
from burnish.runtime.kernel_table import KernelArgument
from cuda_samples import cubin
from fake_driver import FakeDriver, kernel

ROWS, COLUMNS, TERMS = 24, 16, 32
PRODUCT = LibraryProduct("f16", ROWS, COLUMNS, TERMS, 0, 1, 4, offsets=2, added=3)
SHAPES = {
    "x": (ROWS, TERMS), "w": (TERMS, COLUMNS), "b": (COLUMNS,), "r": (ROWS, COLUMNS),
    "y": (ROWS, COLUMNS), "z": (ROWS, COLUMNS),
}  # fmt: skip
RANDOM = np.random.default_rng(2)
FEEDS = {name: RANDOM.standard_normal(SHAPES[name]).astype(np.float16) for name in "xwbr"}


@kernel
def without_library(_grid: object, *memory: np.ndarray | None) -> None:
    x, w, b, r, y = (
        each[: 2 * int(np.prod(SHAPES[name]))].view(np.float16).reshape(SHAPES[name])
        for name, each in zip("xwbry", memory, strict=False)
        if each is not None
    )
    y[...] = x.astype(np.float32) @ w.astype(np.float32) + b + r


@kernel
def twice(_grid: object, y: np.ndarray, z: np.ndarray, *_: None) -> None:
    size = 2 * ROWS * COLUMNS
    z[:size].view(np.float16)[:] = 2 * y[:size].view(np.float16)


STEPS = (
    CubinStep("without_library", ("x", "w", "b", "r", "y"), ("y",), (1, 1, 1)),
    CubinStep("twice", ("y", "z"), ("z",), (1, 1, 1)),
)
PLAN = DevicePlan(
    {n: Buffer("f16", s, {"y": "arena", "z": "output"}.get(n, "input")) for n, s in SHAPES.items()},  # type: ignore[arg-type]
    tuple("xwbr"), ("z",), STEPS, aligned(2 * ROWS * COLUMNS),
)  # fmt: skip


def kernels_on(driver: FakeDriver) -> LoadedKernels:
    """Return a product and what follows it; both wait for what is ahead of them."""
    told = {s.kernel: cubin(s.kernel, len(s.arguments), early=True) for s in STEPS}
    told = {n: replace(k, pointers=("f16",) * len(k.pointers)) for n, k in told.items()}
    told["without_library"] = replace(told["without_library"], library=PRODUCT)
    return LoadedKernels(driver, told, dict.fromkeys(told, b""), where="folder")


def wanted() -> np.ndarray:
    total = FEEDS["x"].astype(np.float32) @ FEEDS["w"].astype(np.float32)
    return (2 * (total + FEEDS["b"] + FEEDS["r"])).astype(np.float16)


@pytest.mark.parametrize("here", [True, False], ids=["library", "none"])
def test_a_library_takes_the_place_of_a_kernel_where_there_is_one(here: bool) -> None:
    driver = FakeDriver()
    driver.library = here
    with driver.current():
        model = DeviceExecutable(driver, PLAN, kernels_on(driver), 0)
    for _ in range(3):  # one by one, captured, and replayed
        np.testing.assert_allclose(model.to_host(FEEDS)["z"], wanted(), rtol=2e-3)
    assert ("multiply" in driver.calls) == here
    assert ("launch without_library" in driver.calls) != here
    # nothing starts early behind what a library does
    assert set(driver.early[-1:]) == {not here}


def test_what_may_lie_on_the_host_is_left_to_kernels() -> None:
    driver = FakeDriver()
    driver.library = True
    with driver.current():
        kernels = kernels_on(driver)
        model = StreamedExecutable(driver, PLAN, kernels, np.zeros(0, np.uint8), 1 << 14)
    np.testing.assert_allclose(model.to_host(FEEDS)["z"], wanted(), rtol=2e-3)
    assert "multiply" not in driver.calls


def test_a_text_says_what_a_library_forms_in_its_place() -> None:
    text = f"{settings_line(('f16',) * 5, 8, 3, PRODUCT)}\ndef k(a, b, c, d, e): ...\n"
    assert source_of("k", text) == TritonSource("k", text, ("f16",) * 5, 8, 3, PRODUCT)


GIVEN = [KernelArgument("f16", SHAPES[name], None, written=name == "y") for name in "xwbry"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"dtype": "i8"}, "its library forms no such product"),
        ({"terms": 0}, "its library forms no such product"),
        ({"rows": 25}, "its library touches 800 elements of 768"),
        ({"rows": 25, "right": 0}, "its library touches 800 elements of 768"),
        ({"left": 7}, "its library takes a matrix of f16 where there is none: 7"),
        ({"dtype": "bf16"}, "its library takes a matrix of bf16 where there is none: 0"),
        ({"result": 3, "added": None}, "its library and it do not write the same: 3"),
        ({"added": 4}, "its library reads what it writes: 4"),
        ({"left": 4}, "its library touches 768 elements of 384"),
        ({"rows": 23}, "its library writes 368 elements of 384"),
    ],
)
def test_a_product_that_is_not_what_its_kernel_is_given_is_refused(
    change: dict[str, Any], problem: str | None
) -> None:
    found = list(product_findings(replace(PRODUCT, **change), GIVEN))
    assert found[:1] == ([problem] if problem else [])


def test_a_product_in_place_of_a_kernel_that_writes_more_is_refused() -> None:
    given = [*GIVEN, KernelArgument("f16", (8,), None, written=True)]
    found = list(product_findings(PRODUCT, given))
    assert found == ["its library and it do not write the same: 5"]


def test_one_matrix_may_be_both_sides() -> None:
    given = [KernelArgument("f16", (16, 16), None, written=name == "y") for name in "xy"]
    assert not list(product_findings(LibraryProduct("f16", 16, 16, 16, 0, 0, 1), given))
    found = list(product_findings(LibraryProduct("f16", 16, 8, 32, 0, 0, 1), given))
    assert found[0] == "its library touches 512 elements of 256"


class SharedObject:
    """cuBLASLt, which only notes what it is asked."""

    def __init__(self, status: int = 0, algorithms: int = 1) -> None:
        self.asked: list[tuple[str, tuple[Any, ...]]] = []
        self.status = status
        self.algorithms = algorithms

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        def call(*arguments: Any) -> int:  # noqa: ANN401
            self.asked.append((name.removeprefix("cublasLt"), arguments))
            if name.endswith("GetHeuristic"):
                arguments[-1]._obj.value = self.algorithms
            return self.status if name.endswith("Matmul") else 0

        return call

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [arguments for asked, arguments in self.asked if asked == name]


def test_matrices_row_by_row_are_asked_for_as_their_transposes() -> None:
    code = SharedObject()
    library = Cublas(code)
    for _ in range(2):
        library.multiply(PRODUCT, (100, 200, 300, 400, 500), 7)
    layouts = [tuple(each.value for each in given[2:]) for given in code.of("MatrixLayoutCreate")]
    assert layouts == [(COLUMNS, TERMS, COLUMNS), (TERMS, ROWS, TERMS), (COLUMNS, ROWS, COLUMNS)]
    for given in code.of("Matmul"):
        addresses = [each.value for each in (given[3], given[5], given[8], given[10], given[15])]
        assert addresses == [200, 100, 400, 500, 7]
        assert [ctypes.cast(given[n], ctypes.POINTER(ctypes.c_float))[0] for n in (2, 7)] == [1, 1]
    assert len(code.of("MatmulAlgoGetHeuristic")) == 1


def test_a_right_side_that_lies_column_by_column_is_turned() -> None:
    code = SharedObject()
    product = replace(PRODUCT, turned=True, added=None, offsets=None)
    Cublas(code).multiply(product, (100, 200, 300, 400, 500), 7)
    shape = tuple(each.value for each in code.of("MatrixLayoutCreate")[0][2:])
    assert shape == (TERMS, COLUMNS, TERMS)
    (given,) = code.of("Matmul")
    assert ctypes.cast(given[7], ctypes.POINTER(ctypes.c_float))[0] == 0
    assert given[8].value == given[10].value == 500


def test_a_product_that_the_library_does_not_know_is_left_to_the_kernel() -> None:
    library = Cublas(SharedObject(algorithms=0))
    assert not library.knows(PRODUCT)
    with pytest.raises(DriverError, match="GetHeuristic: CUBLAS_STATUS_NOT_SUPPORTED"):
        library.multiply(PRODUCT, (0,) * 5, 0)


def test_what_fails_says_what_failed() -> None:
    library = Cublas(SharedObject(status=13))
    assert library.knows(PRODUCT)
    with pytest.raises(DriverError, match="cublasLtMatmul: CUBLAS_STATUS_EXECUTION_FAILED"):
        library.multiply(PRODUCT, (0,) * 5, 0)


def test_the_library_is_found_beside_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "nvidia/cu13/lib/libcublasLt.so.13"
    there.parent.mkdir(parents=True)
    there.write_bytes(b"")
    tried: list[str] = []

    def load(name: str) -> Any:  # noqa: ANN401
        tried.append(name)
        if name == str(there):
            return SharedObject()
        raise OSError(name)

    monkeypatch.setattr(cublas, "ctypes", SimpleNamespace(**{**vars(ctypes), "CDLL": load}))
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert isinstance(shared_object(), SharedObject)
    assert tried == [*cublas.NAMES, str(there)]
    there.unlink()
    assert shared_object() is None
    assert open_cublas() is None
