"""Every replacement is tried on its own; what differs is refused, what cannot run is told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest

from burnish.rewrite.extract import LARGE_BYTES
from burnish.rewrite.match import Check
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.pipeline import RewriteResult, optimize
from burnish.rewrite.rule import Builder, Match, Rule
from burnish.study.check import RegionCheck, region_check
from rewriting import Graph

Make = Callable[[Match, Builder], ir.Value]


def rule(anchor: str, replace: Make, *, name: str = "mine") -> Rule:
    def find(node: ir.Node, _facts: object) -> Match | None:
        if node.metadata_props.get("burnish.rule"):
            return None
        return Match((node,), node.outputs[0], {"x": node.inputs[0]})

    return Rule(name, "a --> b", frozenset({anchor}), find, replace)


def rewritten(model: ir.Model, mine: Rule, check: Check) -> RewriteResult:
    return optimize(model, OptimizeOptions(only=("mine",)), check=check, user_rules=(mine,))


def to(op_type: str, **attributes: object) -> Make:
    def replace(match: Match, builder: Builder) -> ir.Value:
        x = match.values["x"]
        return builder.node(op_type, [x], like=match.output, attributes=attributes)  # type: ignore[arg-type]

    return replace


def relu(shape: list[str | int], dtype: ir.DataType = ir.DataType.FLOAT) -> ir.Model:
    graph = Graph(dtype=dtype)
    return graph.model(graph.op("Relu", graph.input("x", shape)))


def operators(result: RewriteResult) -> list[str]:
    return [node.op_type for node in result.model.graph]


def test_a_replacement_that_computes_the_same_is_kept() -> None:
    with region_check() as check:
        result = rewritten(relu(["n", 8]), rule("Relu", to("LeakyRelu", alpha=0.0)), check)
    assert operators(result) == ["LeakyRelu"]
    assert (check.report.sites, check.report.distinct, check.report.undone) == (1, 1, 0)


def test_a_replacement_that_differs_is_undone_and_told() -> None:
    with region_check() as check:
        result = rewritten(relu(["n", 8]), rule("Relu", to("Abs")), check)
    assert operators(result) == ["Relu"]
    (miss,) = result.report.misses
    assert "tried on its own" in miss.reason
    assert "out of tolerance" in miss.reason
    assert "n = 2" in miss.reason
    assert check.report.undone == 1


def test_a_replacement_that_mixes_up_axes_is_found_out_by_unequal_sizes() -> None:
    def transposed(match: Match, builder: Builder) -> ir.Value:
        made = builder.node("Transpose", [match.values["x"]], like=match.output)
        made.producer().attributes["perm"] = ir.AttrInt64s("perm", [1, 0])  # type: ignore[union-attr]
        return builder.node("Relu", [made], like=match.output)

    with region_check() as check:
        result = rewritten(relu(["n", "m"]), rule("Relu", transposed), check)
    assert operators(result) == ["Relu"]
    assert "tried on its own" in result.report.misses[0].reason


def masked_softmax() -> ir.Model:
    graph = Graph()
    scores = graph.input("scores", ["b", "s", "t"])
    mask = graph.input("mask", ["b", "s", "t"], ir.DataType.BOOL)
    low = graph.op("Where", mask, scores, np.float32(-1e9))
    return graph.model(graph.op("Softmax", low))


def test_a_mask_that_is_ignored_is_found_out() -> None:
    def find(node: ir.Node, _facts: object) -> Match | None:
        where = node.inputs[0].producer() if node.inputs[0] is not None else None
        if where is None or where.op_type != "Where":
            return None
        return Match((where, node), node.outputs[0], {"x": where.inputs[1]})

    mine = Rule("mine", "a --> b", frozenset({"Softmax"}), find, to("Softmax"))
    with region_check() as check:
        result = rewritten(masked_softmax(), mine, check)
    assert operators(result) == ["Where", "Softmax"]
    assert "mask" in result.report.misses[0].reason


def guarded_softmax(low: float) -> ir.Model:
    """Return scores of which nothing is left where a row is masked throughout, if by -inf."""
    graph = Graph()
    scores = graph.input("scores", ["b", 4, "s", "s"])
    given = graph.input("attention_mask", ["b", "s"], ir.DataType.INT64)
    kept = graph.op("Cast", graph.op("Unsqueeze", given, np.array([1, 2])), to=ir.DataType.BOOL)
    mask = graph.op("Where", kept, np.float32(0), np.float32(low))
    found = graph.op("Softmax", graph.op("Add", scores, mask))
    return graph.model(graph.op("Where", graph.op("IsNaN", found), np.float32(0), found))


def unguarded(match: Match, builder: Builder) -> ir.Value:
    added = builder.node("Add", list(match.values.values()), like=match.output)
    return builder.node("Softmax", [added], like=match.output)


@pytest.mark.parametrize(("low", "is_kept"), [(-np.inf, False), (-1e9, True)])
def test_a_guard_of_rows_that_are_masked_throughout_is_missed_where_they_can_be(
    low: float, is_kept: bool
) -> None:
    def find(node: ir.Node, _facts: object) -> Match | None:
        if node.op_type != "Where" or not node.outputs[0].is_graph_output():
            return None
        add, softmax, guard = list(node.graph or ())[-4:-1]
        scores, mask = add.inputs
        return Match((add, softmax, guard, node), node.outputs[0], {"x": scores, "y": mask})

    mine = Rule("mine", "a --> b", frozenset({"Where"}), find, unguarded)
    with region_check() as check:
        result = rewritten(guarded_softmax(low), mine, check)
    assert ("IsNaN" not in operators(result)) == is_kept
    assert check.report.undone == (not is_kept)


def test_places_of_the_same_structure_are_tried_once() -> None:
    graph = Graph()
    x = graph.input("x", ["n", 8])
    for _ in range(4):
        x = graph.op("Sin", graph.op("Relu", x))
    with region_check() as check:
        rewritten(graph.model(x), rule("Relu", to("LeakyRelu", alpha=0.0)), check)
    assert (check.report.sites, check.report.distinct) == (4, 1)


def unknown(match: Match, builder: Builder) -> ir.Value:
    x = match.values["x"]
    return builder.node("NoSuchOperator", [x], like=match.output, domain="com.microsoft")


def test_a_replacement_that_does_not_run_is_undone() -> None:
    with region_check() as check:
        result = rewritten(relu(["n", 8]), rule("Relu", unknown), check)
    assert operators(result) == ["Relu"]
    assert "only the original runs" in result.report.misses[0].reason


def test_what_runs_only_on_another_target_is_told_and_left_to_the_whole_model() -> None:
    options = OptimizeOptions(only=("mine",), target="cuda")
    with region_check() as check:
        result = optimize(relu(["n", 8]), options, check=check, user_rules=(rule("Relu", unknown),))
    assert operators(result) == ["NoSuchOperator"]
    (unchecked,) = check.report.unchecked
    assert unchecked.rule == "mine"
    assert "only the original runs" in unchecked.reason


def test_no_message_names_a_file_that_is_gone() -> None:
    with region_check() as check:
        result = rewritten(relu(["n", 8]), rule("Relu", unknown), check)
        (miss,) = result.report.misses
        assert "it cannot be run on its own: the part: " in miss.reason
        assert str(check.folder) not in miss.reason


def test_what_holds_only_with_what_leads_to_it_is_kept() -> None:
    graph = Graph()
    positive = graph.op("Abs", graph.input("x", ["n", 8]))
    model = graph.model(graph.op("Relu", positive))

    with region_check() as check:
        result = rewritten(model, rule("Relu", to("Identity")), check)
    assert "Relu" not in operators(result)
    assert check.report.undone == 0


@pytest.mark.parametrize("dtype", [ir.DataType.FLOAT16, ir.DataType.DOUBLE])
def test_other_floating_types_are_tried_too(dtype: ir.DataType) -> None:
    with region_check() as check:
        result = rewritten(relu(["n", 8], dtype), rule("Relu", to("Abs")), check)
    assert operators(result) == ["Relu"]


def test_the_files_are_gone_afterwards() -> None:
    with region_check() as check:
        assert isinstance(check, RegionCheck)
        assert check.folder.is_dir()
    assert not check.folder.exists()


def test_a_constant_that_is_computed_from_large_weights_is_tried_with_those_weights() -> None:
    width = 160
    weight = np.random.default_rng(0).normal(size=(width, width)).astype(np.float32)
    graph = Graph()
    x = graph.op("MatMul", graph.input("x", ["n", width]), graph.constant(weight))

    def doubled(match: Match, builder: Builder) -> ir.Value:
        (node,) = match.nodes
        twice = builder.constant("twice", 2 * weight)
        double = builder.node("MatMul", [node.inputs[0], twice], like=match.output)
        half = builder.constant("half", np.array(0.5, np.float32))
        return builder.node("Mul", [double, half], like=match.output)

    with region_check() as check:
        result = rewritten(graph.model(x), rule("MatMul", doubled), check)
    assert weight.nbytes > LARGE_BYTES
    assert operators(result) == ["MatMul", "Mul"]
    assert (check.report.undone, check.report.unchecked) == (0, ())


def test_large_weights_above_do_not_hide_what_leads_to_a_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("burnish.study.check._MOST_BYTES", 1 << 12)
    words = np.random.default_rng(0).normal(size=(600, 40)).astype(np.float32)
    graph = Graph()
    ids = graph.input("input_ids", ["batch", "sequence"], ir.DataType.INT64)
    read = graph.op("Gather", graph.constant(words), ids)
    model = graph.model(graph.op("Relu", graph.op("Abs", read)))

    with region_check() as check:
        result = rewritten(model, rule("Relu", to("Identity")), check)
    assert words.nbytes > LARGE_BYTES
    assert "Relu" not in operators(result)
    assert (check.report.undone, check.report.unchecked) == (0, ())


def test_large_pictures_are_tried_in_small_and_in_full_where_that_fails() -> None:
    fixed = np.array([1, 3 * 64 * 64])

    def flat(match: Match, builder: Builder) -> ir.Value:
        return builder.node(
            "Reshape", [match.values["x"], builder.constant("fixed", fixed)], like=match.output
        )

    graph = Graph()
    model = graph.model(graph.op("Flatten", graph.input("x", [1, 3, 64, 64])))
    with region_check() as check:
        result = rewritten(model, rule("Flatten", flat), check)
    assert operators(result) == ["Reshape"]
    assert check.report.distinct == 2
