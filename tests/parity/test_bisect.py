from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper

from burnish.core.errors import UsageError
from burnish.engines.base import ENGINES, EngineOptions
from burnish.feeds.feed import Feeds
from burnish.parity import exposed, scan
from burnish.parity.bisect import bisect
from burnish.parity.report import Bisection, Culprit
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import JudgedSubject, judge, verify
from burnish.store.stored import StoredModel

WIDTH = 24
LAYERS = 45


def initializer(name: str, array: np.ndarray) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(array), name)


def deep_model(layers: int = LAYERS) -> onnx.ModelProto:
    """Return a residual network of 7 nodes a layer: norm, two products, bias, GELU's erf part."""
    random = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(layers):
        prefix = f"l{layer}"
        weights += [
            initializer(f"{prefix}.scale", random.normal(1, 0.1, WIDTH).astype(np.float32)),
            initializer(f"{prefix}.up", _matrix(random)),
            initializer(f"{prefix}.bias", random.normal(0, 0.1, WIDTH).astype(np.float32)),
            initializer(f"{prefix}.down", _matrix(random)),
        ]
        steps = [
            ("LayerNormalization", [value, f"{prefix}.scale"], "norm"),
            ("MatMul", [f"{prefix}.norm", f"{prefix}.up"], "wide"),
            ("Add", [f"{prefix}.wide", f"{prefix}.bias"], "biased"),
            ("Erf", [f"{prefix}.biased"], "erf"),
            ("Mul", [f"{prefix}.biased", f"{prefix}.erf"], "active"),
            ("MatMul", [f"{prefix}.active", f"{prefix}.down"], "narrow"),
            ("Add", [f"{prefix}.narrow", value], "out"),
        ]
        nodes += [
            helper.make_node(op, inputs, [f"{prefix}.{output}"], name=f"{prefix}/{output}")
            for op, inputs, output in steps
        ]
        value = f"{prefix}.out"
    nodes.append(helper.make_node("Neg", [value], ["y"], name="last"))
    return model_of(nodes, weights)


def _matrix(random: np.random.Generator) -> np.ndarray:
    return (random.normal(size=(WIDTH, WIDTH)) / math.sqrt(WIDTH)).astype(np.float32)


def model_of(nodes: list[onnx.NodeProto], weights: list[onnx.TensorProto]) -> onnx.ModelProto:
    def tensor(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["n", WIDTH])

    graph = helper.make_graph(nodes, "g", [tensor("x")], [tensor("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def text_model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


def altered(
    model: onnx.ModelProto, name: str, change: Callable[[np.ndarray], None]
) -> onnx.ModelProto:
    """Return a copy of `model` in which one weight is changed."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.name == name:
            array = numpy_helper.to_array(tensor).copy()
            change(array)
            tensor.CopyFrom(initializer(name, array))
            return copy
    raise KeyError(name)


def save(model: onnx.ModelProto, path: Path, *, external: bool = False) -> StoredModel:
    onnx.save(
        model, path, save_as_external_data=external, location=f"{path.name}.data", size_threshold=0
    )
    return StoredModel(path, path.stem)


@pytest.fixture
def parted(tmp_path: Path) -> Callable[..., Bisection]:
    """Return a function that writes two models and bisects them."""

    def run(
        reference: onnx.ModelProto,
        candidate: onnx.ModelProto,
        tolerances: Tolerances | None = None,
        **inputs: np.ndarray,
    ) -> Bisection:
        first = save(reference, tmp_path / "reference.onnx")
        second = save(candidate, tmp_path / "candidate.onnx")
        feeds = Feeds(inputs or {"x": normal(8)}, {"n": 8})
        return bisect(judge(first), judge(second), feeds, tolerances=tolerances)

    return run


def normal(rows: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, WIDTH)).astype(np.float32)


def found(bisection: Bisection) -> Culprit:
    assert bisection.culprit is not None, bisection.notes
    return bisection.culprit


@pytest.mark.parametrize("layer", [0, 17, LAYERS - 1])
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_one_changed_weight_of_a_large_model_is_named(
    parted: Callable[..., Bisection], layer: int, size: float
) -> None:
    model = deep_model()
    assert len(model.graph.node) > 300

    def plant(weight: np.ndarray) -> None:
        weight[5, 7] += size

    culprit = found(parted(model, altered(model, f"l{layer}.down", plant)))
    assert (culprit.node, culprit.op_type) == (f"l{layer}/narrow", "MatMul")
    assert culprit.tensor == f"l{layer}.narrow"
    assert [(agreement.tensor, agreement.severity) for agreement in culprit.inputs] == [
        (f"l{layer}.active", 0.0)
    ]
    assert culprit.reference_nodes == culprit.candidate_nodes == (f"l{layer}/narrow",)
    (change,) = culprit.changes
    assert (change.kind, change.name) == ("initializer", f"l{layer}.down")
    assert change.detail.startswith("at [5, 7]: ")


def test_a_small_cause_is_named_and_not_where_it_grows_out_of_tolerance(
    parted: Callable[..., Bisection],
) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y)
        <float b = {0.0}, float thousand = {1000.0}>
        { a = Add(x, b)  s = Sigmoid(a)  c = Sub(s, x)  d = Mul(c, thousand)  e = Sin(d)
          y = Identity(e) }"""
    model = text_model(text)
    other = altered(model, "b", lambda weight: weight.__setitem__((), 2e-5))
    culprit = found(parted(model, other))
    assert culprit.op_type == "Add"
    assert culprit.diff.passed
    assert [change.name for change in culprit.changes] == ["b"]


def test_reordered_sums_of_a_fused_model_accuse_no_innocent_node(
    parted: Callable[..., Bisection],
) -> None:
    reference, candidate = decomposed_norms(), fused_norms()
    bisection = parted(reference, candidate)
    assert bisection.culprit is None
    assert "the runs agree everywhere" in bisection.notes[-1]


def test_a_fused_node_is_named_with_the_reference_nodes_it_stands_for(
    parted: Callable[..., Bisection],
) -> None:
    culprit = found(parted(decomposed_norms(), fused_norms(last_epsilon=0.5)))
    assert (culprit.node, culprit.op_type) == ("n5/fused", "LayerNormalization")
    assert culprit.reference_nodes == (
        "n5/mean", "n5/centred", "n5/square", "n5/variance", "n5/plus", "n5/root", "n5/out",
    )  # fmt: skip
    assert culprit.rule == "layer-norm"
    assert [change.kind for change in culprit.changes] == ["operator"]


def norm_nodes(layer: int, value: str) -> list[onnx.NodeProto]:
    steps = [
        ("ReduceMean", [value, "axes"], "mean"),
        ("Sub", [value, "n{}.mean"], "centred"),
        ("Mul", ["n{}.centred", "n{}.centred"], "square"),
        ("ReduceMean", ["n{}.square", "axes"], "variance"),
        ("Add", ["n{}.variance", "epsilon"], "plus"),
        ("Sqrt", ["n{}.plus"], "root"),
        ("Div", ["n{}.centred", "n{}.root"], "out"),
    ]
    return [
        helper.make_node(
            op, [name.format(layer) for name in inputs], [f"n{layer}.{output}"],
            name=f"n{layer}/{output}",
        )
        for op, inputs, output in steps
    ]  # fmt: skip


def decomposed_norms(layers: int = 6) -> onnx.ModelProto:
    nodes, value = [], "x"
    for layer in range(layers):
        nodes += norm_nodes(layer, value)
        nodes.append(helper.make_node("MatMul", [f"n{layer}.out", "w"], [f"m{layer}"]))
        value = f"m{layer}"
    return _with_weights(nodes, value)


def fused_norms(layers: int = 6, last_epsilon: float = 1e-5) -> onnx.ModelProto:
    """Return the same, with each norm as one node; the last may have a wrong epsilon."""
    nodes, value = [], "x"
    for layer in range(layers):
        fused = helper.make_node(
            "LayerNormalization", [value, "ones"], [f"n{layer}.out"], name=f"n{layer}/fused",
            epsilon=last_epsilon if layer == layers - 1 else 1e-5,
        )  # fmt: skip
        entry = fused.metadata_props.add()
        entry.key, entry.value = "burnish.rule", "layer-norm"
        nodes += [fused, helper.make_node("MatMul", [f"n{layer}.out", "w"], [f"m{layer}"])]
        value = f"m{layer}"
    return _with_weights(nodes, value)


def _with_weights(nodes: list[onnx.NodeProto], value: str) -> onnx.ModelProto:
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    weights = [
        initializer("w", _matrix(np.random.default_rng(3))),
        initializer("axes", np.array([-1])),
        initializer("epsilon", np.float32(1e-5)),
        initializer("ones", np.ones(WIDTH, np.float32)),
    ]
    return model_of(nodes, weights)


MASKED = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[n, 24] x, bool[n, 24] keep) => (float[n, 24] y)
    <float fill = {FILL}, float gain = {GAIN}>
    { scores = Mul(x, x)  masked = Where(keep, scores, fill)  p = Softmax(masked)
      z = Mul(p, gain)  y = Tanh(z) }"""


def masked_model(fill: str, gain: str) -> onnx.ModelProto:
    return text_model(MASKED.replace("FILL", fill).replace("GAIN", gain))


def test_a_difference_that_a_mask_hides_accuses_nobody(parted: Callable[..., Bisection]) -> None:
    keep = np.ones((3, WIDTH), bool)
    keep[:, :5] = False
    bisection = parted(
        masked_model("-1e9", "1.0"), masked_model("-1e8", "1.5"), x=normal(3), keep=keep
    )
    culprit = found(bisection)
    assert culprit.tensor == "z"
    assert [change.name for change in culprit.changes] == ["gain"]


def test_a_dropped_mask_is_found_with_left_padding(parted: Callable[..., Bisection]) -> None:
    keep = np.ones((3, WIDTH), bool)
    keep[0, :10] = False
    without = MASKED.replace("masked = Where(keep, scores, fill)", "masked = Identity(scores)")
    without = without.replace("FILL", "-1e9").replace("GAIN", "1.0")
    culprit = found(
        parted(masked_model("-1e9", "1.0"), text_model(without), x=normal(3), keep=keep)
    )
    assert (culprit.tensor, culprit.op_type) == ("masked", "Identity")
    assert culprit.changes[0].detail == "Identity, the reference has Where"


def test_nan_on_one_side_is_traced_to_its_origin(parted: Callable[..., Bisection]) -> None:
    model = deep_model(8)
    broken = altered(model, "l3.scale", lambda weight: weight.__setitem__(2, math.nan))
    culprit = found(parted(model, broken))
    assert culprit.node == "l3/norm"
    assert culprit.diff.non_finite_mismatches == 8
    assert culprit.changes[0].name == "l3.scale"


def test_a_changed_attribute_is_named(parted: Callable[..., Bisection]) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y)
        { a = Relu(x)  b = LeakyRelu<alpha = 0.1>(x)  c = Add(a, b)  y = Softmax<axis = -1>(c) }"""
    culprit = found(parted(text_model(text), text_model(text.replace("0.1", "0.3"))))
    assert culprit.op_type == "LeakyRelu"
    assert culprit.changes[0].name.endswith(".alpha")
    assert culprit.changes[0].detail.startswith("0.3")


def test_a_changed_constant_node_is_the_culprit_itself(parted: Callable[..., Bisection]) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y)
        { k = Constant<value = float[1] {2.0}>()  a = Mul(x, k)  y = Tanh(a) }"""
    culprit = found(parted(text_model(text), text_model(text.replace("{2.0}", "{2.5}"))))
    assert (culprit.op_type, culprit.tensor) == ("Constant", "k")
    assert culprit.changes[0].detail == "at [0]: 2.5, the reference has 2"


def test_models_without_shared_names_are_parted_by_their_outputs(
    parted: Callable[..., Bisection],
) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y) { a = Relu(x)  y = Tanh(a) }"""
    other = text.replace("a = Relu(x)  y = Tanh(a)", "q = Abs(x)  r = Tanh(q)").replace(
        "] y", "] r"
    )
    bisection = parted(text_model(text), text_model(other))
    culprit = found(bisection)
    assert culprit.tensor == "r"
    assert len(culprit.candidate_nodes) == len(culprit.reference_nodes) == 2
    assert (bisection.compared, bisection.unshared) == (1, 1)
    counted, advice = bisection.notes
    assert counted == "1 value of the candidate could not be compared"
    assert advice.endswith("bisect against the model that the candidate was made from")


def test_values_inside_subgraphs_count_as_inputs_of_their_node(
    parted: Callable[..., Bisection],
) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x, bool c) => (float[n, 24] y)
        <float k = {2.0}>
        { a = Mul(x, k)
          b = If (c) <then_branch = t () => (float[n, 24] u) { u = Tanh(a) },
                      else_branch = e () => (float[n, 24] v) { v = Neg(a) }>
          y = Relu(b) }"""
    model = text_model(text)
    other = altered(model, "k", lambda weight: weight.__setitem__((), 3.0))
    culprit = found(parted(model, other, x=normal(3), c=np.array(True)))
    assert culprit.tensor == "a"


def test_a_value_that_no_engine_gives_out_is_counted_and_not_lost(
    parted: Callable[..., Bisection],
) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y)
        <float k = {2.0}, int64 two = {2}>
        { a = Mul(x, k)  s = SplitToSequence<axis = 1>(a, two)  o = Optional(s)
          e = OptionalGetElement(o)  b = ConcatFromSequence<axis = 1>(e)  y = Relu(b) }"""
    model = text_model(text)
    other = altered(model, "k", lambda weight: weight.__setitem__((), 3.0))
    bisection = parted(model, other)
    assert found(bisection).tensor == "a"
    assert "the engine cannot give out 'o'" in bisection.notes


def test_values_are_compared_in_pieces_that_fit_the_memory(
    parted: Callable[..., Bisection], monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[int] = []
    values = scan.Runs.values

    def counted(runs: scan.Runs, side: int, names: list[str]) -> dict[str, np.ndarray]:
        pieces.append(len(names))
        return values(runs, side, names)

    monkeypatch.setattr(scan, "_BUDGET_BYTES", 3 * WIDTH * 4 * 20)
    monkeypatch.setattr(scan.Runs, "values", counted)
    model = deep_model(10)
    other = altered(model, "l7.up", lambda weight: weight.__setitem__((0, 0), 5.0))
    assert found(parted(model, other)).node == "l7/wide"
    assert max(pieces) <= 20
    assert sum(pieces) == 2 * len(model.graph.node)


INSIDE_F16 = """<ir_version: 10, opset_import: ["" : 20]>
    g (float[n, 24] x) => (float[n, 24] y)
    { k = Constant<value = float[1] {1.7}>()  h = Cast<to = 10>(k)  x16 = Cast<to = 10>(x)
      a = Mul(x16, h)  b = Tanh(a)  c = Mul(b, b)  y = Cast<to = 1>(c) }"""


def test_a_model_that_was_made_f16_inside_is_compared_with_the_f32_one(
    parted: Callable[..., Bisection],
) -> None:
    whole = text_model(INSIDE_F16.replace("to = 10", "to = 1"))
    inside_f16 = Tolerances(arithmetic="f16")
    assert parted(whole, text_model(INSIDE_F16), tolerances=inside_f16).culprit is None
    wrong = text_model(INSIDE_F16.replace("Mul(b, b)", "Mul(b, a)"))
    assert found(parted(whole, wrong, tolerances=inside_f16)).tensor == "c"


def test_inner_values_that_differ_without_effect_are_counted(
    parted: Callable[..., Bisection],
) -> None:
    text = """<ir_version: 10, opset_import: ["" : 20]>
        g (float[n, 24] x) => (float[n, 24] y)
        <float k = {2.0}>
        { a = Mul(x, k)  b = Sign(a)  y = Neg(b) }"""
    model = text_model(text)
    bisection = parted(model, altered(model, "k", lambda weight: weight.__setitem__((), 3.0)))
    assert bisection.culprit is None
    assert bisection.notes == ("no output shows the difference of 1 inner value",)


@pytest.mark.parametrize("writable", [True, False])
def test_external_weights_are_not_copied_where_the_folder_can_be_written(
    tmp_path: Path, writable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = deep_model(6)
    other = altered(model, "l2.up", lambda weight: weight.__setitem__((1, 1), 4.0))
    folder = tmp_path / "models"
    folder.mkdir()
    subjects = [
        judge(save(each, folder / f"{name}.onnx", external=True))
        for each, name in ((model, "reference"), (other, "candidate"))
    ]
    before = sorted(folder.iterdir())
    copies: list[Path] = []
    unload = ir.external_data.unload_from_model
    monkeypatch.setattr(exposed, "_can_be_written", lambda _: writable)

    def counted(model: ir.Model, base: Path, *rest: object, **named: object) -> object:
        copies.append(base)
        return unload(model, base, *rest, **named)

    monkeypatch.setattr(ir.external_data, "unload_from_model", counted)
    culprit = found(bisect(subjects[0], subjects[1], Feeds({"x": normal(2)}, {})))
    assert len(copies) == (0 if writable else 2)
    assert culprit.node == "l2/wide"
    assert culprit.changes[0].name == "l2.up"
    assert sorted(folder.iterdir()) == before


def test_the_same_model_on_two_engines_runs_as_asked_for(tmp_path: Path) -> None:
    stored = save(deep_model(4), tmp_path / "model.onnx")
    bisection = bisect(judge(stored), JudgedSubject(stored), Feeds({"x": normal(2)}, {}))
    assert bisection.culprit is None
    assert bisection.compared == 4 * 7 + 1
    assert "engine's own fusion of nodes" in bisection.notes[-1]


def test_an_engine_that_runs_the_torch_module_cannot_be_bisected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = save(deep_model(1), tmp_path / "model.onnx")
    monkeypatch.setattr(ENGINES["onnxruntime-cpu"], "needs_torch_source", True, raising=False)
    with pytest.raises(UsageError, match="runs the PyTorch module") as caught:
        bisect(judge(stored), judge(stored), Feeds({"x": normal(2)}, {}))
    assert caught.value.hint.startswith("bisect on an engine that runs the ONNX file")


def test_verify_and_bisect_judge_by_the_same_tolerance(tmp_path: Path) -> None:
    model = deep_model(6)
    first = save(model, tmp_path / "reference.onnx")
    second = save(
        altered(model, "l2.up", lambda weight: weight.__iadd__(1e-7)), tmp_path / "candidate.onnx"
    )
    candidate = JudgedSubject(second, options=EngineOptions(threads=1))
    feeds = Feeds({"x": normal(2)}, {})
    report = verify(judge(first), candidate, [feeds])
    assert report.passed
    assert bisect(judge(first), candidate, feeds).culprit is None
    assert dataclasses.replace(report, samples=()).passed is False
