"""Regions hold every node once, in an order that works, and are few."""

from __future__ import annotations

from itertools import pairwise

import onnx
import onnx_ir as ir
from hypothesis import given
from hypothesis import strategies as st

from burnish.codegen.regions import Region, regions
from burnish.rewrite.extract import reads
from codegen.models import MIXED, mlp, model


def names(region: Region) -> list[str | None]:
    return [node.name for node in region.nodes]


def test_without_a_library_there_is_one_region() -> None:
    (only,) = regions(mlp().graph, ())
    assert names(only) == ["up", "bias", "relu", "down"]
    assert not only.is_ort


def test_with_everything_in_the_library_there_is_one_region() -> None:
    (only,) = regions(mlp().graph, {"up", "bias", "relu", "down"})
    assert only.is_ort


def test_what_the_library_runs_is_cut_out() -> None:
    found = regions(model(MIXED).graph, {"order", "search"})
    assert [names(region) for region in found] == [["double"], ["order", "search"], ["back"]]
    assert [region.is_ort for region in found] == [False, True, False]


def test_whatever_leads_to_fewer_regions_comes_first() -> None:
    found = regions(mlp().graph, {"up"})
    assert [region.is_ort for region in found] == [True, False]


def test_independent_branches_share_a_region() -> None:
    text = """two (float[2] x) => (float[2] y, float[2] z)
    { [a] p = Relu(x) [b] q = Relu(x) [c] y = Exp(p) [d] z = Exp(q) }"""
    found = regions(model(text).graph, {"a", "b"})
    assert [names(region) for region in found] == [["a", "b"], ["c", "d"]]


def test_a_body_reads_what_is_around_it() -> None:
    text = """body (float[2] x, bool f) => (float[2] y)
    { [a] p = Relu(x)
      [b] y = If (f) <then_branch = t () => (float[2] u) { u = Identity(p) },
                      else_branch = e () => (float[2] v) { v = Identity(x) }> }"""
    found = regions(model(text).graph, {"b"})
    assert [names(region) for region in found] == [["a"], ["b"]]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[ir.Model, set[str]]:
    lines, known, ort = [], ["x"], set()
    for number in range(draw(st.integers(1, 12))):
        left, right = (draw(st.sampled_from(known)) for _ in range(2))
        lines.append(f"[n{number}] t{number} = Add({left}, {right})")
        known.append(f"t{number}")
        if draw(st.booleans()):
            ort.add(f"n{number}")
    outputs = ", ".join(f"float[2] {name}" for name in known[1:])
    return model(f"g (float[2] x) => ({outputs}) {{ {' '.join(lines)} }}"), ort


@given(graphs())
def test_every_node_runs_once_after_what_it_reads(made: tuple[ir.Model, set[str]]) -> None:
    graph, ort = made[0].graph, made[1]
    found = regions(graph, ort)
    done: set[ir.Node] = set()
    for region in found:
        assert {(node.name in ort) for node in region.nodes} == {region.is_ort}
        for node in region.nodes:
            assert node not in done
            assert all(v.producer() is None or v.producer() in done for v in reads(node))
            done.add(node)
    assert done == set(graph)
    kinds = [region.is_ort for region in found]
    assert all(a != b for a, b in pairwise(kinds))


def test_a_constant_that_is_an_output_is_a_node_like_others() -> None:
    text = """<ir_version: 9, opset_import: ["" : 19]>
        g (float[4] x) => (float[4] y, string[1] z)
        { y = Relu(x) z = Constant<value_strings = ["a"]>() }"""
    graph = ir.serde.deserialize_model(onnx.parser.parse_model(text)).graph
    (kernels, ort) = regions(graph, ["Constant of z"])
    assert [node.op_type for node in ort.nodes] == ["Constant"]
    assert ort.is_ort
    assert not kernels.is_ort
