from __future__ import annotations

from pathlib import Path

from burnish.trace.readers.kineto import read
from burnish.trace.torch_calls import CallTree
from kineto_events import module, op, written


def test_the_outermost_known_operators_are_the_calls(tmp_path: Path) -> None:
    events = [
        module("Net_0", 0, 100), module("Linear_0", 5, 90),
        op("mine::outer", 10, 50), op("aten::linear", 12, 40, [2, 3], [], [4, 3]),
        op("aten::addmm", 15, 30), op("aten::add", 70, 5),
    ]  # fmt: skip
    trace = read(written(tmp_path, *events))
    tree = CallTree(trace.spans)
    known = {"aten::linear", "aten::addmm", "aten::add"}
    linear, add = tree.outermost(0, known)
    assert (linear.operator, add.operator) == ("aten::linear", "aten::add")
    assert linear.modules == ("Net_0", "Linear_0")
    assert linear.shapes == ((2, 3), (4, 3))
    assert [call.operator for call in tree.within(linear, known)] == ["aten::addmm"]
    assert tree.runs() == (0,)


def test_shapes_that_nobody_has_are_left_out(tmp_path: Path) -> None:
    trace = read(written(tmp_path, op("aten::add", 0, 5, [2, 10**400], [4, 3])))
    (call,) = CallTree(trace.spans).outermost(0, {"aten::add"})
    assert call.shapes == ((4, 3),)
