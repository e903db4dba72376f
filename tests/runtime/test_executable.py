"""A plan computes what its steps say, however it is called and wherever its inputs lie."""

from __future__ import annotations

import mmap
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.codegen.cpu.compile import compile_module
from burnish.codegen.cpu.driver import driver
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.place import BuiltPlan
from burnish.runtime import ort
from burnish.runtime.cpu.runner import CpuLoaded
from burnish.runtime.executable import Executable, Program, readable_beyond
from burnish.runtime.plan import OrtStep
from burnish.store import onnx_files
from burnish.store.history import History
from codegen.hand_written import built, expected, kernel, mixed, plan_of

PORTABLE = TARGETS["portable"]
SIZE = 100

RELU = (
    '<ir_version: 10, opset_import: ["": 21]> part (float[100] a) => (float[100] b) {b = Relu(a)}'
)
TEXT = """<ir_version: 10, opset_import: ["": 21]> part (string[n] t, float[100] a)
=> (float[100] b, string[n] u, int64[k] found)
{ b = Relu(a) u = Identity(t) every = NonZero(a) minus = Constant <value_ints = [-1]> ()
  found = Reshape(every, minus) }"""

Opened = Callable[..., Executable]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """Return a function that makes something that was built executable, without a folder."""

    def make(made: BuiltPlan, threads: int = 1) -> Executable:
        code = {name: compile_module(text, PORTABLE) for name, text in made.kernels.items()}
        constants = np.zeros(1024, np.uint8)
        for name, array in made.constants.items():
            start = made.plan.tensors[name].offset
            constants[start : start + array.nbytes] = array.view(np.uint8)
        sessions = {}
        for file, model in made.parts.items():
            onnx_files.write(model, tmp_path / file, history=History("", ()))
            sessions[file] = ort.load(tmp_path / file, threads)
        addresses = {name: each.address(name) for name, each in code.items()}
        loaded = CpuLoaded(addresses, driver(PORTABLE), tuple(code.values()))
        return loaded.open(Program(made.plan, constants, sessions, threads))

    return make


def vector(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)


def parsed(text: str) -> ir.Model:
    return ir.serde.deserialize_model(onnx.parser.parse_model(text))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_it_gives_what_its_steps_compute(opened: Opened, threads: int) -> None:
    with opened(built(SIZE), threads) as executable:
        for seed in range(3):
            found = executable.run({"x": vector(seed)})
            np.testing.assert_array_equal(found["y"], expected(vector(seed)))


def test_outputs_are_new_each_time(opened: Opened) -> None:
    with opened(built(SIZE)) as executable:
        first = executable.run({"x": vector(0)})["y"]
        executable.run({"x": vector(1)})
        np.testing.assert_array_equal(first, expected(vector(0)))


def test_what_one_run_gives_the_next_may_take(opened: Opened) -> None:
    with opened(built(SIZE)) as executable:
        x = wanted = vector()
        for _ in range(4):
            x, wanted = executable.run({"x": x})["y"], expected(wanted)
            np.testing.assert_array_equal(x, wanted)


def test_a_prepared_call_reads_its_inputs_where_they_are(opened: Opened) -> None:
    with opened(built(SIZE)) as executable:
        x = vector()
        call = executable.prepare({"x": x})
        assert [call() for _ in range(3)] == [None] * 3


def test_the_library_and_kernels_work_on_the_same_memory(opened: Opened) -> None:
    with opened(mixed(SIZE, parsed(RELU), parsed(RELU)), 2) as executable:
        for seed in range(3):
            x = vector(seed)
            expected_y = np.maximum(x + np.float32(0.5), 0) + x
            np.testing.assert_array_equal(executable.run({"x": x})["y"], expected_y)


def test_inputs_in_any_memory_order_are_taken(opened: Opened) -> None:
    with opened(built(SIZE)) as executable:
        wide = np.repeat(vector(), 3)
        np.testing.assert_array_equal(executable.run({"x": wide[::3]})["y"], expected(wide[::3]))


def test_an_output_may_be_read_by_later_steps(opened: Opened) -> None:
    steps = (kernel("sum", "x", "x", "y", SIZE), kernel("product", "y", "y", "z", SIZE))
    plan = plan_of(steps, SIZE, outputs=("z", "y"))
    with opened(BuiltPlan(plan, built(SIZE).kernels)) as executable:
        found = executable.run({"x": vector()})
    assert list(found) == ["z", "y"]
    np.testing.assert_array_equal(found["z"], found["y"] * found["y"])


def test_an_input_that_is_also_an_output_is_copied(opened: Opened) -> None:
    plan = plan_of((kernel("sum", "x", "x", "y", SIZE),), SIZE, outputs=("y", "x"))
    with opened(BuiltPlan(plan, built(SIZE).kernels)) as executable:
        x = vector()
        found = executable.run({"x": x})["x"]
    np.testing.assert_array_equal(found, x)
    assert not np.shares_memory(found, x)


def test_text_and_open_sizes_go_through_the_library(opened: Opened) -> None:
    step = OrtStep("part_0.onnx", ("t", "a"), ("b", "u", "found"), ("all",))
    steps = (kernel("sum", "x", "x", "a", SIZE), step, kernel("sum", "b", "x", "y", SIZE))
    loose = ("t", "u", "found")
    outputs = ("y", "u", "found")
    plan = plan_of(steps, SIZE, inputs=("x", "t"), outputs=outputs, loose=loose)
    with opened(BuiltPlan(plan, built(SIZE).kernels, {}, {"part_0.onnx": parsed(TEXT)})) as made:
        x = vector()
        x[7] = 0
        found = made.run({"x": x, "t": np.array(["a", "b"], object)})
    np.testing.assert_array_equal(found["y"], np.maximum(x + x, 0) + x)
    assert found["u"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(found["found"], np.flatnonzero(x))


def test_calls_from_several_threads_do_not_disturb_each_other(opened: Opened) -> None:
    wrong = []

    def work(executable: Executable, seed: int) -> None:
        runs = (executable.run({"x": vector(seed)})["y"] for _ in range(50))
        wrong.extend(seed for y in runs if not np.array_equal(y, expected(vector(seed))))

    with opened(built(SIZE), 2) as executable:
        workers = [threading.Thread(target=work, args=(executable, seed)) for seed in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert not wrong


def test_step_times_tell_every_step_of_every_run(opened: Opened) -> None:
    with opened(mixed(SIZE, parsed(RELU), parsed(RELU))) as executable:
        times = executable.step_times({"x": vector()}, warmup=1, runs=2)
    assert [len(run) for run in times] == [3, 3]
    starts = [time.start_s for run in times for time in run]
    assert starts == sorted(starts)


def test_a_plan_with_findings_is_not_run(opened: Opened) -> None:
    plan = plan_of((kernel("sum", "x", "x", "a", SIZE),), SIZE)
    with pytest.raises(ValueError, match="output 'y' is never written"):
        opened(BuiltPlan(plan, built(SIZE).kernels))


def test_empty_tensors_are_fine(opened: Opened) -> None:
    with opened(built(0), 2) as executable:
        assert executable.run({"x": np.zeros(0, np.float32)})["y"].shape == (0,)


def test_an_array_at_the_end_of_its_pages_is_copied() -> None:
    pages = np.frombuffer(mmap.mmap(-1, 2 * 4096), np.float32)
    pages[:] = 1
    assert readable_beyond(pages[:100]) is not pages[:100]
    assert np.shares_memory(readable_beyond(pages[:100]), pages)
    moved = readable_beyond(pages)
    assert not np.shares_memory(moved, pages)
    np.testing.assert_array_equal(moved, pages)


def test_a_scalar_stays_a_scalar() -> None:
    assert readable_beyond(np.float32(3).reshape(())).shape == ()
