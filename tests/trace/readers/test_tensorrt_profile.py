"""TensorRT's times per layer, with and without the layers' description."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnish.core.errors import ModelError
from burnish.store.graph import GraphNode, GraphRecord
from burnish.trace.attribute import attribute, coverage
from burnish.trace.formats import read_any
from burnish.trace.readers.tensorrt_profile import read

LAID = "TensorRT tells how long a layer took, not when: layers are laid end to end"


def written(folder: Path, *layers: dict[str, object], name: str = "x_profile.json") -> Path:
    path = folder / name
    path.write_text(json.dumps([{"count": 1}, *layers]))
    return path


def described(folder: Path, *layers: object) -> None:
    (folder / "x_graph.json").write_text(json.dumps({"Layers": list(layers), "Bindings": []}))


def graph(*names: str) -> GraphRecord:
    nodes = tuple(GraphNode(name, "Conv", "", (), (f"{name}_out",)) for name in names)
    return GraphRecord("g", nodes, (), (), {}, frozenset())


def test_layers_are_laid_end_to_end(tmp_path: Path) -> None:
    path = written(tmp_path, {"name": "a", "averageMs": 0.25}, {"name": "b + c", "medianMs": 0.5})
    trace = read_any(path)
    assert [(s.node, s.start_s, s.duration_s) for s in trace.spans[:2]] == [
        ("a", 0.0, pytest.approx(0.25e-3)),
        ("b + c", pytest.approx(0.25e-3), pytest.approx(0.5e-3)),
    ]
    assert (trace.runs, trace.notes) == (1, (LAID,))


def test_fused_layers_are_led_back_to_all_their_nodes(tmp_path: Path) -> None:
    names = ["a + b", "Reformatting CopyNode for Input Tensor 0 to a + b", "{ForeignNode[c...e]}"]
    path = written(tmp_path, *({"name": name, "averageMs": 1} for name in names))
    found = attribute(read(path), graph("a", "b", "c", "d", "e"))
    assert [(span.nodes, span.confidence) for span in found.spans[:3]] == [
        (("a", "b"), "exact"),
        (("a", "b"), "pattern"),
        (("c", "d", "e"), "pattern"),
    ]


def test_the_description_adds_metadata_and_tensors(tmp_path: Path) -> None:
    path = written(
        tmp_path, {"name": "__myl_Mul", "averageMs": 1}, {"name": "blob", "averageMs": 1}
    )
    described(
        tmp_path,
        {
            "Name": "__myl_Mul",
            "LayerType": "kgen",
            "Metadata": "[ONNX Layer: a]\x1e[ONNX Layer: b]",
        },
        {"Name": "blob", "LayerType": "kgen", "Outputs": [{"Name": "c_out"}]},
    )
    found = attribute(read(path), graph("a", "b", "c"))
    assert [(span.nodes, span.confidence) for span in found.spans[:2]] == [
        (("a", "b"), "exact"),
        (("c",), "tensor"),
    ]
    assert coverage(found).share == 1.0


def test_a_description_of_names_only_says_how_to_get_more(tmp_path: Path) -> None:
    path = written(tmp_path, {"name": "a", "averageMs": 1})
    described(tmp_path, "a")
    assert read(path).notes == (
        LAID,
        "the layers' description has names only: build with --profilingVerbosity=detailed",
    )


def test_a_description_alone_is_no_profile(tmp_path: Path) -> None:
    described(tmp_path, {"Name": "a"})
    with pytest.raises(ModelError, match="describes the layers of an engine") as caught:
        read_any(tmp_path / "x_graph.json")
    assert caught.value.hint == (
        "give the file of trtexec --exportProfile instead, with this one beside it"
    )


def test_a_profile_without_layers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="names no layer") as caught:
        read_any(written(tmp_path))
    assert caught.value.hint == "record it with trtexec --exportProfile=FILE"


def test_a_damaged_profile_says_where(tmp_path: Path) -> None:
    path = tmp_path / "x_profile.json"
    path.write_text('[{"count": 1},\n {"name" "a"}]')
    with pytest.raises(ModelError, match=r"is not JSON \(.*line 2 column 10") as caught:
        read_any(path)
    assert caught.value.hint == "record it again with trtexec --exportProfile=FILE"


def test_the_sample_adds_up_and_is_told_to_be_slower_than_unprofiled(shared: Path) -> None:
    trace = read_any(shared / "data/traces/trt_resnet18_fp16_profile.json")
    assert sum(s.duration_s for s in trace.spans if s.category != "run") == pytest.approx(
        1.0168e-3, rel=1e-4
    )
    assert trace.notes == (
        LAID,
        "the layers add up to 1.02 ms; without profiling an inference took 863 µs",
    )
    fused = next(span for span in trace.spans if span.node == "Conv_0 + Relu_1")
    assert fused.op_type == "CaskConvolution"


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ('[{"count": 1}, 3]', "is not a list of layers"),
        ('[{"count": 1}, {"name": "a", "medianMs": "x"}]', "in row 1, its medianMs is 'x'"),
        ('[{"count": 1}, {"name": "a", "medianMs": -1}]', "in row 1, its medianMs is -1"),
        ('[{"count": 1}, ' + "[" * 100_000, "is not JSON (it is nested too deeply)"),
    ],
)
def test_a_profile_that_makes_no_sense(tmp_path: Path, text: str, finding: str) -> None:
    path = tmp_path / "x_profile.json"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        read_any(path)
    assert caught.value.problem == f"{path}: {finding}"


@pytest.mark.parametrize("layers", ["[1, 2]", '{"Layers": 3}', '{"Layers": [1]}'])
def test_a_description_that_makes_no_sense_is_named(tmp_path: Path, layers: str) -> None:
    written(tmp_path, {"name": "a", "medianMs": 1.0})
    (tmp_path / "x_graph.json").write_text(layers)
    with pytest.raises(ModelError, match=r"x_graph\.json: is not a list of layers"):
        read_any(tmp_path / "x_profile.json")


@pytest.mark.parametrize("outputs", [3, "x", [1], [{"Name": 7}], {}])
def test_odd_parts_of_a_layer_do_no_harm(tmp_path: Path, outputs: object) -> None:
    described(tmp_path, {"Name": "a", "Outputs": outputs, "LayerType": [outputs]})
    trace = read_any(written(tmp_path, {"name": "a", "medianMs": 1.0}))
    assert trace.spans[0].op_type is None
