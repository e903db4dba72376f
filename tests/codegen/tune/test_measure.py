"""Kernels are tried in a process of their own: whatever they do becomes a row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import onnx
import pytest

from burnish.codegen.backend import EmittedKernel
from burnish.codegen.cpu.backend import CpuBackend, open_cpu
from burnish.codegen.cpu.target import TARGETS
from burnish.codegen.tune import measure
from burnish.codegen.tune.measure import (
    MeasuringProcess,
    OrtCandidate,
    TrialRules,
    TrialTask,
    TrialTerms,
)
from burnish.codegen.tune.messages import TensorMessage
from burnish.codegen.tune.trial import Trial
from burnish.tile.graph import TileGraph
from burnish.tile.schedule import Schedule
from burnish.tile.simplify import simplify
from codegen.models import MACHINE
from codegen.tune import bad_kernels
from tile_samples import Sketch, feed_forward, scores, whole

QUICK = TrialRules(rounds=2, block_s=1e-4)
TERMS = TrialTerms(bad_kernels.BadBackend(TARGETS["portable"], MACHINE), QUICK, limit_s=30.0)


@pytest.fixture(scope="module")
def bench() -> Iterator[MeasuringProcess]:
    with MeasuringProcess(TERMS) as found:
        yield found


def tried(bench: MeasuringProcess, *names: str) -> dict[str, Trial]:
    graph = bad_kernels.graph()
    trials = bench.try_all(
        TrialTask(whole(graph), graph), [bad_kernels.schedule(name) for name in names]
    )
    return dict(zip(names, trials, strict=True))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("crashing", "ended by SIGSEGV during 'prove'"),
        ("far", "ended by SIGSEGV during 'prove'"),
        ("meddling", "ended by SIGSEGV during 'prove'"),
        ("wrong", "wrong: add$0: 100 of 100 elements are wrong, the worst at ["),
        ("forgetful", "wrong: add$0: 1 elements are never written"),
        ("generous", "wrong: add$0: 2 elements are computed by two tiles"),
        ("beyond", "wrong: add$0: it wrote behind the tensor"),
        ("before", "wrong: add$0: it wrote before the tensor"),
        ("ordered", "wrong: add$0: holds something else when tiles run in another order"),
        ("unwritable", "cannot be generated (ValueError: no way to write it)"),
        ("not LLVM", "cannot be run (RuntimeError: LLVM IR parsing error"),
        ("unresolved", "cannot be run (KeyError: \"the module calls 'nowhere_at_all'"),
    ],
)
def test_a_bad_kernel_is_a_row_and_a_good_one_beside_it_is_timed(
    bench: MeasuringProcess, name: str, reason: str
) -> None:
    found = tried(bench, name, "right")
    assert found[name].failure.startswith(reason), found[name].failure
    assert found[name].samples_s == ()
    assert found["right"].failure == ""
    assert len(found["right"].samples_s) == 2


def test_a_kernel_that_hangs_is_given_up() -> None:
    terms = replace(TERMS, limit_s=2.0)
    with MeasuringProcess(terms) as bench:
        found = tried(bench, "right", "hanging")
    assert (
        found["hanging"].failure == "gave no answer within 2.00 s during 'prove'"
    )  # and a few µs for its work
    assert found["right"].samples_s


def test_equal_kernels_are_tried_once(bench: MeasuringProcess) -> None:
    graph = bad_kernels.graph()
    right = bad_kernels.schedule("right")
    found = bench.try_all(
        TrialTask(whole(graph), graph), [right, replace(right, settings={"rows": 2})]
    )
    assert [trial.failure for trial in found] == ["", "the same kernel as with tile 1"]


def test_what_nobody_can_judge_is_not_tried(
    bench: MeasuringProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*_: object) -> None:
        raise IndexError("index 9 is out of bounds")

    monkeypatch.setattr(measure, "case", unable)
    reason = "cannot be judged (IndexError: index 9 is out of bounds)"
    assert tried(bench, "right")["right"].failure == reason


def test_tensors_that_find_no_memory_are_a_row(
    bench: MeasuringProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = TensorMessage("f32", (1 << 60,))
    monkeypatch.setattr(measure, "TensorMessage", lambda *_: huge)
    assert tried(bench, "right")["right"].failure.startswith("cannot be run (")
    monkeypatch.undo()
    assert tried(bench, "right")["right"].failure == ""


def test_nothing_to_try_gives_nothing(bench: MeasuringProcess) -> None:
    graph = bad_kernels.graph()
    assert bench.try_all(TrialTask(whole(graph), graph), []) == ()


@pytest.mark.parametrize("threads", [1, 2])
def test_generated_kernels_are_right(threads: int) -> None:
    graph = simplify(scores(24, 16, 48))
    terms = TrialTerms(open_cpu("", threads), QUICK)
    with MeasuringProcess(terms) as bench:
        found = bench.try_all(
            TrialTask(whole(graph), graph), [Schedule((4, 48)), Schedule((5, 48))]
        )
    assert [trial.failure for trial in found] == ["", ""]
    assert all(trial.seconds for trial in found)


def test_packed_constants_travel_with_their_kernel() -> None:
    graph = simplify(feed_forward(16, 32, 12))
    packed: list[EmittedKernel] = []

    class Watched(CpuBackend):
        def emit(self, *given: object, **named: object) -> tuple[EmittedKernel]:
            packed.extend(super().emit(*given, **named))  # type: ignore[arg-type]
            return (packed[-1],)

    with MeasuringProcess(TrialTerms(Watched(TARGETS["portable"], MACHINE), QUICK)) as bench:
        (found,) = bench.try_all(TrialTask(whole(graph), graph), [Schedule((1, 16, 5, 12))])
    assert found.failure == ""
    assert packed[0].packed


def test_tensors_may_lie_in_another_order() -> None:
    sketch = Sketch(x=(6, 20), z=(6, 20))
    graph = sketch.graph(sketch.pointwise("subtract", "x", "z"))
    layouts = {"x": (1, 0), graph.outputs[0]: (1, 0)}
    with MeasuringProcess(TrialTerms(open_cpu("", 1), QUICK)) as bench:
        (found,) = bench.try_all(TrialTask(whole(graph), graph, layouts), [Schedule((3, 20))])
    assert found.failure == ""


def product_part(sign: int = 1) -> OrtCandidate:
    helper = onnx.helper
    weight = np.asarray(product_graph().constants["weight$0"])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product$0"])]
    shape = [2, 4, 4]
    graph = helper.make_graph(
        nodes, "part",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 4, 16])],
        [helper.make_tensor_value_info("product$0", onnx.TensorProto.FLOAT, shape)],
        [onnx.numpy_helper.from_array(sign * weight, "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    shapes = {"x": (2, 4, 16), "product$0": (2, 4, 4)}
    return OrtCandidate(model.SerializeToString, ("x",), ("product$0",), shapes=shapes)


def product_graph() -> TileGraph:
    sketch = Sketch(x=(8, 16))
    return sketch.graph(sketch.matmul("x", sketch.weight(16, 4)))


def unreadable() -> bytes:
    raise OSError("the weights are gone")


def test_the_library_takes_part() -> None:
    graph = product_graph()
    with MeasuringProcess(TrialTerms(open_cpu("", 1), QUICK)) as bench:
        task = TrialTask(whole(graph), graph)
        found = bench.try_all(task, [Schedule((8, 4))], product_part())
        other = bench.try_all(task, [Schedule((8, 4))], product_part(-1))
        broken = bench.try_all(task, [], OrtCandidate(lambda: b"no model", ("x",), ("product$0",)))
        gone = bench.try_all(task, [], OrtCandidate(unreadable, ("x",), ("product$0",)))
    assert [trial.failure for trial in found] == ["", ""]
    assert gone[0].failure == "cannot be cut out (OSError: the weights are gone)"
    assert found[1].schedule is None
    assert found[1].seconds
    assert other[1].failure.startswith("computes something else: product$0: ")
    assert "ONNX Runtime cannot run this part" in broken[0].failure


def test_kernels_and_the_library_are_tried_where_there_is_room_between_rows() -> None:
    dense = product_graph()
    room = {"x": (20, 1), "product$0": (6, 1)}
    tensors = {n: replace(kind, strides=room.get(n)) for n, kind in dense.tensors.items()}
    graph = replace(dense, tensors=tensors)
    with MeasuringProcess(TrialTerms(open_cpu("", 1), QUICK)) as bench:
        task = TrialTask(whole(graph), graph)
        found = bench.try_all(task, [Schedule((8, 4)), Schedule((3, 4))], product_part())
    assert [trial.failure for trial in found] == ["", "", ""]
