"""Any order of kernels gets memory in which each finds what earlier ones wrote."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.cuda.assemble import BoundWork, CubinCall
from burnish.cuda.soundness import findings
from cuda_samples import WEIGHT, N, assembled, built, loaded, source, spec
from fake_driver import FakeDriver

ADD = source("add", 3)


@st.composite
def works(draw: st.DrawFn) -> BoundWork:
    """Return additions of earlier tensors, of which some are given out."""
    names = ["x", "weight"]
    calls = []
    for number in range(draw(st.integers(1, 12))):
        operands = draw(st.tuples(st.sampled_from(names[-4:]), st.sampled_from(names)))
        calls.append(CubinCall(ADD, (*operands, f"t{number}"), (f"t{number}",), (1, 1, 1)))
        names.append(f"t{number}")
    more = draw(st.lists(st.sampled_from(names), unique=True))
    outputs = tuple(dict.fromkeys((names[-1], *more)))
    tensors = {name: spec(name) for name in names}
    return BoundWork(tuple(calls), tensors, ("x",), outputs, {"weight": WEIGHT})


@given(works())
def test_any_work_is_sound_and_gives_what_numpy_gives(work: BoundWork) -> None:
    assert not list(findings(assembled(work).table))
    x = np.arange(1, N + 1, dtype=np.float32)
    values = {"x": x, "weight": WEIGHT}
    for call in work.calls:
        one, other, result = call.arguments
        values[result] = values[one] + values[other]
    with loaded(FakeDriver(), work) as model:
        for _ in range(2):
            found = model.run({"x": x})
            assert tuple(found) == work.outputs
            for name, array in found.items():
                np.testing.assert_array_equal(array, values[name])


@given(works())
def test_dead_tensors_make_room(work: BoundWork) -> None:
    (plan,) = assembled(work).table.plans
    sizes = [256 for buffer in plan.buffers.values() if buffer.home == "arena"]
    assert plan.arena_bytes <= sum(sizes)


def test_kernels_of_one_name_are_kept_apart() -> None:
    calls = (
        CubinCall(ADD, ("x", "x", "y"), ("y",), (1, 1, 1)),
        CubinCall(source("add", 3, text="other"), ("y", "y", "z"), ("z",), (1, 1, 1)),
    )
    work = BoundWork(calls, {name: spec(name) for name in "xyz"}, ("x",), ("z",))
    assert list(assembled(work).table.kernels) == ["add", "add.1"]


def test_a_kernel_is_given_equal_buffers_by_all_steps() -> None:
    calls = (
        CubinCall(ADD, ("x", "x", "y"), ("y",), (1, 1, 1)),
        CubinCall(ADD, ("y", "y", "z"), ("z",), (1, 1, 1)),
    )
    tensors = {"x": spec("x"), "y": spec("y"), "z": spec("z", 2 * N)}
    with pytest.raises(ValueError, match="add: two steps give it buffers of different sizes"):
        assembled(BoundWork(calls, tensors, ("x",), ("z",)))


def test_equal_constants_are_kept_once() -> None:
    calls = (CubinCall(ADD, ("a", "b", "z"), ("z",), (1, 1, 1)),)
    tensors = {name: spec(name) for name in "abz"}
    work = BoundWork(calls, tensors, (), ("z",), {"a": WEIGHT, "b": WEIGHT.copy()})
    assert assembled(work).constants.nbytes == 256
    assert built(ADD).code
