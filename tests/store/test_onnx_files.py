from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from burnish.core.errors import ModelError
from burnish.core.tensors import TensorSpec
from burnish.store import external_data, history, mending, onnx_files, runtime_limits
from burnish.store.history import History, HistoryStep

TINY = """
<ir_version: 10, opset_import: ["" : 20]>
tiny (float[batch, ?, 3] x, int64[2] shape) => (float[batch, total] y)
<float[3, 4] weight = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}>
{
    h = MatMul(x, weight)
    y = Reshape(h, shape)
}
"""
MADE = History("abc", (HistoryStep("test", "made by a test"),))


def model_from(text: str = TINY) -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(text))


def large(rows: int = 64, *, seed: int = 0) -> ir.Model:
    """Return y = x @ w1 @ w2 with both weights beyond what stays inside a model."""
    random = np.random.default_rng(seed)
    x = ir.Value(name="x", shape=ir.Shape(["n", rows]), type=ir.TensorType(ir.DataType.FLOAT))
    weights = [
        ir.Value(
            name=name,
            const_value=ir.tensor(random.random((rows, rows), dtype=np.float32), name=name),
        )
        for name in ("w1", "w2")
    ]
    first = ir.node("MatMul", [x, weights[0]])
    last = ir.node("MatMul", [first.outputs[0], weights[1]])
    y = last.outputs[0]
    y.name, y.shape, y.type = "y", ir.Shape(["n", rows]), ir.TensorType(ir.DataType.FLOAT)
    graph = ir.Graph(
        [x], [y], nodes=[first, last], initializers=weights, opset_imports={"": 20}, name="large"
    )
    return ir.Model(graph, ir_version=10)


def saved_with_data(folder: Path, name: str = "m.onnx", *, seed: int = 0) -> Path:
    path = folder / name
    ir.save(large(seed=seed), path, external_data=f"{name}.data")
    return path


def weights(model: ir.Model) -> dict[str, bytes]:
    return {
        name: value.const_value.tobytes()
        for name, value in model.graph.initializers.items()
        if value.const_value is not None
    }


def run(path: Path) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ones((2, 64), np.float32)})[0]


def test_interface_names_unknown_sizes_after_tensor_and_place() -> None:
    interface = onnx_files.interface(model_from())
    assert interface.inputs == (
        TensorSpec("x", "f32", ("batch", "x_dim_1", 3)),
        TensorSpec("shape", "i64", (2,)),
    )
    assert interface.outputs == (TensorSpec("y", "f32", ("batch", "total")),)


def test_inputs_with_a_default_value_need_not_be_fed() -> None:
    model = model_from()
    model.graph.inputs.append(model.graph.initializers["weight"])
    assert [spec.name for spec in onnx_files.interface(model).inputs] == ["x", "shape"]


def test_a_negative_size_is_an_unknown_one() -> None:
    proto = onnx.parser.parse_model(TINY)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    spec = onnx_files.interface(ir.from_proto(proto)).inputs[0]
    assert spec.shape == ("x_dim_0", "x_dim_1", 3)


def test_unknown_rank_is_said() -> None:
    proto = onnx.parser.parse_model(TINY)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert onnx_files.interface(ir.from_proto(proto)).outputs[0].shape == ("...",)


def test_sequences_are_refused() -> None:
    proto = onnx.parser.parse_model(TINY)
    element = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [1])
    proto.graph.input[0].type.CopyFrom(onnx.helper.make_sequence_type_proto(element))
    with pytest.raises(ModelError, match=r"input 'x' is of type sequence; burnish feeds and") as e:
        onnx_files.interface(ir.from_proto(proto))
    assert e.value.hint == "export the model with plain tensors as inputs and outputs"


def test_missing_element_type_is_refused() -> None:
    proto = onnx.parser.parse_model(TINY)
    proto.graph.output[0].ClearField("type")
    with pytest.raises(ModelError, match="output 'y' has the element type None") as e:
        onnx_files.interface(ir.from_proto(proto))
    assert e.value.hint == "export the model again with types for all inputs and outputs"


def test_a_small_model_is_one_file(tmp_path: Path) -> None:
    onnx_files.write(model_from(), tmp_path / "m.onnx", history=MADE)
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_writing_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    model = large()
    before = ir.to_proto(model).SerializeToString()
    onnx_files.write(model, tmp_path / "m.onnx", history=MADE)
    assert ir.to_proto(model).SerializeToString() == before


def test_weights_from_a_data_file_go_to_a_data_file(tmp_path: Path) -> None:
    source = saved_with_data(tmp_path)
    target = tmp_path / "out" / "m.onnx"
    onnx_files.write(onnx_files.read(source), target, history=MADE)
    data = [path for path in target.parent.iterdir() if path.suffix == ".data"]
    assert len(data) == 1
    assert weights(onnx_files.read(target)) == weights(onnx_files.read(source))
    np.testing.assert_array_equal(run(target), run(source))


def test_many_weights_go_to_a_data_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_data, "_SINGLE_FILE_LIMIT_BYTES", 1000)
    onnx_files.write(large(), tmp_path / "m.onnx", history=MADE)
    assert len(list(tmp_path.glob("m.*.data"))) == 1
    assert weights(onnx_files.read(tmp_path / "m.onnx")) == weights(large())


def test_equal_models_give_equal_files(tmp_path: Path) -> None:
    model = onnx_files.read(saved_with_data(tmp_path))
    onnx_files.write(model, tmp_path / "a" / "m.onnx", history=MADE)
    onnx_files.write(model, tmp_path / "b" / "m.onnx", history=MADE)
    assert {p.name: p.read_bytes() for p in (tmp_path / "a").iterdir()} == {
        p.name: p.read_bytes() for p in (tmp_path / "b").iterdir()
    }


def test_a_tensor_used_twice_is_written_once(tmp_path: Path) -> None:
    model = onnx_files.read(saved_with_data(tmp_path))
    shared = model.graph.initializers["w1"].const_value
    model.graph.initializers["w2"].const_value = shared
    onnx_files.write(model, tmp_path / "out.onnx", history=MADE)
    (data,) = tmp_path.glob("out.*.data")
    assert shared is not None
    assert data.stat().st_size == shared.nbytes


@pytest.mark.parametrize("times", [1, 2])
def test_a_model_can_be_written_over_its_own_source(tmp_path: Path, times: int) -> None:
    path = saved_with_data(tmp_path)
    expected, model = run(path), onnx_files.read(path)
    for _ in range(times):
        onnx_files.write(model, path, history=MADE)
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".data", ".onnx"]
    np.testing.assert_array_equal(run(path), expected)
    assert weights(model) == weights(large())


def test_the_data_file_of_another_model_is_not_removed(tmp_path: Path) -> None:
    path = saved_with_data(tmp_path)
    (tmp_path / "m.onnx.data").rename(tmp_path / "shared.data")
    proto = onnx.load(path, load_external_data=False)
    for tensor in proto.graph.initializer:
        tensor.external_data[0].value = "shared.data"
    onnx.save(proto, path)
    onnx_files.write(onnx_files.read(path), path, history=MADE)
    assert (tmp_path / "shared.data").exists()


@pytest.mark.parametrize("moves", [0, 1])
def test_a_crash_at_any_rename_never_leaves_a_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    path = saved_with_data(tmp_path, seed=1)
    onnx_files.write(onnx_files.read(path), path, history=MADE)
    other = onnx_files.read(saved_with_data(tmp_path, "n.onnx"))
    expected, done, replace = run(path), [], Path.replace

    def crashing(self: Path, target: Path) -> Path:
        if len(done) == moves:
            raise KeyboardInterrupt
        done.append(self)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", crashing)
    with pytest.raises(KeyboardInterrupt):
        onnx_files.write(other, path, history=MADE)
    np.testing.assert_array_equal(run(path), expected)
    onnx_files.read(path)


def test_the_ir_version_is_one_that_onnx_runtime_takes(tmp_path: Path) -> None:
    model = large()
    model.ir_version = onnx.IR_VERSION + 1
    onnx_files.write(model, tmp_path / "m.onnx", history=MADE)
    assert run(tmp_path / "m.onnx").shape == (2, 64)


def test_external_constants_in_nodes_come_inside(tmp_path: Path) -> None:
    (tmp_path / "c.data").write_bytes(np.arange(3, dtype=np.float32).tobytes())
    proto = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[3] x) => (float[3] y)'
        "{ c = Constant <value = float[3] {0, 0, 0}> () y = Add(x, c) }"
    )
    tensor = proto.graph.node[0].attribute[0].t
    tensor.ClearField("float_data")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="c.data")
    onnx.save(proto, tmp_path / "m.onnx")
    onnx_files.write(
        onnx_files.read(tmp_path / "m.onnx"), tmp_path / "out" / "m.onnx", history=MADE
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["m.onnx"]
    session = onnxruntime.InferenceSession(tmp_path / "out" / "m.onnx")
    assert session.run(None, {"x": np.ones(3, np.float32)})[0].tolist() == [1, 2, 3]


def test_history_is_written_and_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx_files.write(model_from(), path, history=MADE)
    again = History("def", (HistoryStep("second", ""),))
    onnx_files.write(onnx_files.read(path), path, history=again)
    assert history.read(onnx_files.read(path)) == History("abc", (*MADE.steps, *again.steps))


@pytest.mark.parametrize("copy", ["backup.onnx", "m.onnx.bak"])
def test_weights_that_a_copy_of_the_model_names_stay(tmp_path: Path, copy: str) -> None:
    path = saved_with_data(tmp_path)
    shutil.copy(path, tmp_path / copy)
    os.mkfifo(tmp_path / "pipe.onnx")  # looked at, it would block
    onnx_files.write(onnx_files.read(path), path, history=MADE)
    assert (tmp_path / "m.onnx.data").exists()
    onnx_files.read(tmp_path / copy)


def test_content_key_sees_the_data_file(tmp_path: Path) -> None:
    path = saved_with_data(tmp_path)
    before = onnx_files.content_key(path)
    data = tmp_path / "m.onnx.data"
    data.write_bytes(b"\1" + data.read_bytes()[1:])
    assert onnx_files.content_key(path) != before


def test_writing_returns_the_content_key(tmp_path: Path) -> None:
    model = onnx_files.read(saved_with_data(tmp_path))
    path = tmp_path / "written" / "m.onnx"
    path.parent.mkdir()
    assert onnx_files.write(model, path, history=MADE) == onnx_files.content_key(path)


def test_content_key_of_one_file_is_its_sha256(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "m.onnx"
    onnx_files.write(model_from(), path, history=MADE)
    assert onnx_files.content_key(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.onnx: no such file") as error:
        onnx_files.read(tmp_path / "none.onnx")
    assert error.value.hint == "burnish model list shows what is there"


def test_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is a folder, not a model") as error:
        onnx_files.read(tmp_path)
    assert error.value.hint == "name the .onnx file in it"


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").touch()
    with pytest.raises(ModelError, match="the file is empty") as error:
        onnx_files.read(tmp_path / "m.onnx")
    assert error.value.hint == "copy or export it again"


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.99])
def test_truncated_file(tmp_path: Path, share: float) -> None:
    path = tmp_path / "m.onnx"
    onnx_files.write(large(), path, history=MADE)
    os.truncate(path, int(path.stat().st_size * share))
    with pytest.raises(ModelError, match="is not an ONNX model; it starts like ONNX but is cut"):
        onnx_files.read(path)


def test_no_proper_beginning_of_a_model_is_taken_for_a_model(tmp_path: Path) -> None:
    proto = onnx.parser.parse_model(TINY)
    content = proto.SerializeToString()
    path = tmp_path / "m.onnx"
    for length in range(1, len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(ModelError):
            onnx_files.read(path)


def test_a_malformed_graph_is_a_model_error(tmp_path: Path) -> None:
    proto = onnx.parser.parse_model(TINY)
    proto.graph.initializer[0].data_type = 99
    onnx.save(proto, tmp_path / "m.onnx")
    with pytest.raises(ModelError, match=r"m\.onnx: is not a well-formed ONNX graph") as error:
        onnx_files.read(tmp_path / "m.onnx")
    assert error.value.hint == "export it again; onnx.checker.check_model may tell more"


def test_more_than_a_protobuf_holds_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx_files, "_PROTOBUF_LIMIT_BYTES", 10)
    with pytest.raises(ModelError, match="bytes remain inside the model") as error:
        onnx_files.write(model_from(), tmp_path / "m.onnx", history=MADE)
    assert error.value.hint.startswith("export it again with its weights as initializers")
    assert not list(tmp_path.iterdir())


NUMPY_TYPES = (
    ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE,
    ir.DataType.INT8, ir.DataType.UINT8, ir.DataType.INT64, ir.DataType.BOOL, ir.DataType.INT4,
    ir.DataType.UINT4, ir.DataType.FLOAT8E4M3FN,
)  # fmt: skip


@st.composite
def small_models(draw: st.DrawFn) -> ir.Model:
    """Return a chain of random unary operators with unrelated random initializers as outputs."""
    x = ir.Value(
        name="x", shape=ir.Shape([draw(st.sampled_from(["n", 3, None]))]),
        type=ir.TensorType(ir.DataType.FLOAT),
    )  # fmt: skip
    nodes, last = [], x
    for op_type in draw(st.lists(st.sampled_from(["Relu", "Erf", "Neg"]), min_size=1, max_size=5)):
        nodes.append(ir.node(op_type, [last], name=f"node_{len(nodes)}"))
        last = nodes[-1].outputs[0]
        last.name = f"value_{len(nodes)}"
    last.type, last.shape = x.type, x.shape
    initializers = []
    for index, dtype in enumerate(draw(st.lists(st.sampled_from(NUMPY_TYPES), max_size=4))):
        size = draw(st.sampled_from([0, 1, 7, 3000]))
        raw = np.random.default_rng(index).integers(0, 2, size).astype(dtype.numpy())
        tensor = ir.Tensor(raw, dtype=dtype, name=f"w{index}")
        initializers.append(ir.Value(name=f"w{index}", const_value=tensor))
    graph = ir.Graph(
        [x], [last], nodes=nodes, initializers=initializers, opset_imports={"": 20}, name="g"
    )
    return ir.Model(graph, ir_version=10, producer_name=draw(st.sampled_from(["", "someone"])))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(model=small_models(), limit=st.sampled_from([0, 2**30]))
def test_reading_what_was_written_gives_the_same_model(
    tmp_path_factory: pytest.TempPathFactory, model: ir.Model, limit: int
) -> None:
    path = tmp_path_factory.mktemp("m") / "m.onnx"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(external_data, "_SINGLE_FILE_LIMIT_BYTES", limit)
        onnx_files.write(model, path, history=MADE)
    found = onnx_files.read(path)
    assert weights(found) == weights(model)
    assert onnx_files.interface(found) == onnx_files.interface(model)
    assert [(n.op_type, n.name) for n in found.graph] == [(n.op_type, n.name) for n in model.graph]
    assert (found.producer_name or "") == model.producer_name


@pytest.mark.parametrize(
    ("imports", "opset"),
    [
        ('"ai.onnx" : 17', 17),
        ('"foo" : 3', runtime_limits.installed().opset),
        ('"" : 17, "ai.onnx" : 12', 17),
    ],
)
def test_a_model_is_of_the_opset_that_it_is_run_as(
    tmp_path: Path, imports: str, opset: int
) -> None:
    graph = "g (float[4] x) => (float[4] y) { y = Neg(x) }"
    text = f"<ir_version: 9, opset_import: [{imports}]> {graph}"
    (tmp_path / "m.onnx").write_bytes(onnx.parser.parse_model(text).SerializeToString())
    model = onnx_files.read(tmp_path / "m.onnx")
    assert model.opset_imports[""] == opset
    stated = (f"it states no opset, and is taken for {opset}, as it is run",)
    assert mending.notes(model) == (stated if imports == '"foo" : 3' else ())
