from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from burnish.cli.main import run
from burnish.core.errors import ModelError, UsageError
from burnish.engines.base import EngineOptions
from burnish.engines.isolated import open_session
from burnish.feeds.feed import Feeds
from burnish.rewrite.options import Method, PrecisionRequest
from burnish.rewrite.passes.names import FixNames
from burnish.rewrite.passes.shapes import InferShapes
from burnish.rewrite.precision import calibrated_values, convert
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study import ranges
from burnish.study.calibration import calibration_feeds, spans
from burnish.study.ranges import ValueRange, ranges_of
from burnish.study.requests.rewriting import OptimizeCommand
from burnish.study.rewriting import options_of
from rewriting import Graph, samples

FEEDS = tuple(Feeds({"x": samples(1, 3, 8, 8, seed=seed)}, {}) for seed in range(3))


def network(*, opset: int = 17) -> ir.Model:
    g = Graph(opset=opset)
    x = g.input("x", [1, 3, 8, 8])
    hidden = g.op("Relu", g.op("Conv", x, samples(8, 3, 3, 3) / 5, samples(8)))
    more = g.op("Conv", hidden, samples(4, 8, 3, 3) / 8)
    flat = g.op("Reshape", more, g.constant(np.array([1, -1])))
    out = g.op("Add", g.op("MatMul", flat, samples(64, 10) / 8), samples(10))
    out.shape = ir.Shape([1, 10])
    model = g.model(out)
    FixNames()(model)
    InferShapes()(model)
    return model


def test_the_ends_of_every_value_are_seen_over_all_inputs() -> None:
    model = network()
    found = ranges_of(model, FEEDS)
    x = np.stack([fed.arrays["x"] for fed in FEEDS])
    assert found["x"] == ValueRange(float(x.min()), float(x.max()))
    relu = next(node for node in model.graph if node.op_type == "Relu").outputs[0].name or ""
    assert found[relu].least == 0
    assert set(ranges_of(model, FEEDS, [relu])) == {relu}
    assert found["x"].magnitude == pytest.approx(np.abs(x).max())


@pytest.mark.parametrize("method", get_args(Method))
def test_products_and_convolutions_reach_kernels_of_integers_and_stay_near(
    method: Method, tmp_path: Path
) -> None:
    model = network()
    names = calibrated_values(model)
    assert len(names) == 4, "what three nodes read; the second convolution also gives 8 bits"
    found = convert(model, "int8", spans=spans(model, names, FEEDS, method))
    assert found.report.how == "static, per channel, 8 bits"
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "optimized.onnx")
    options.log_severity_level = 3
    content = ir.to_proto(found.model).SerializeToString()
    session = onnxruntime.InferenceSession(content, options)
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimized.onnx").graph.node]
    assert kinds.count("QLinearConv") == 2
    assert "MatMulIntegerToFloat" in kinds
    plain = onnxruntime.InferenceSession(ir.to_proto(model).SerializeToString())
    fed = FEEDS[1].arrays
    wanted, given = plain.run(None, fed)[0], session.run(None, fed)[0]
    assert np.linalg.norm(wanted - given) / np.linalg.norm(wanted) < 0.05


def test_an_old_model_is_refused_with_what_it_can_have() -> None:
    with pytest.raises(ModelError) as raised:
        convert(network(opset=12), "int8", spans={})
    assert raised.value.problem == "scales per channel need opset 13, the model declares 12"
    assert "-p int8 without it" in raised.value.hint


def test_data_that_is_not_there_is_told_before_anything_is_done() -> None:
    with pytest.raises(UsageError) as raised:
        calibration_feeds(StoredModel(Path("m.onnx"), "m"), "nowhere.npz")
    assert raised.value.problem == "--calibrate: there is no data at nowhere.npz"
    assert raised.value.hint.endswith("or write --calibrate synthetic")


def test_convolutions_alone_lead_to_calibrating() -> None:
    g = Graph()
    with pytest.raises(ModelError) as raised:
        convert(g.model(g.op("Conv", g.input("x", [1, 1, 4, 4]), samples(1, 1, 2, 2))), "int8")
    assert raised.value.hint.startswith("calibrate its convolutions: --calibrate DATA, or ")


@pytest.mark.parametrize("data", ["synthetic", "data.npz"])
def test_a_model_is_calibrated_from_the_command_line_and_says_on_what(
    data: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(ir.to_proto(network()), tmp_path / "m.onnx")
    np.savez(tmp_path / "data.npz", x=FEEDS[0].arrays["x"])
    given = data if data == "synthetic" else str(tmp_path / data)
    target = tmp_path / "o.onnx"
    words = ["optimize", str(tmp_path / "m.onnx"), "-o", str(target), "-p", "int8"]
    assert run([*words, "--calibrate", given, "--calibration", "mse", "--budget", "0"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    source = "synthetic: accuracy not proven" if data == "synthetic" else given
    assert f"calibrated on {source}: 4 values, mse" in shown
    assert "3 nodes in int8 (static, per channel" in shown


def test_of_many_inputs_one_is_in_memory_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(ir.to_proto(network()), path)
    for number, fed in enumerate(FEEDS):
        folder = tmp_path / "data" / f"test_data_set_{number}"
        folder.mkdir(parents=True)
        content = onnx.numpy_helper.from_array(fed.arrays["x"], "x")
        (folder / "input_0.pb").write_bytes(content.SerializeToString())
    feeds, source = calibration_feeds(StoredModel(path, "m"), str(tmp_path / "data"))
    assert source == str(tmp_path / "data")
    assert len(feeds) == len(FEEDS)
    assert len(feeds[1:]) == len(FEEDS) - 1
    assert feeds[0] is not feeds[0], "read anew each time"
    names = calibrated_values(network())
    assert spans(network(), names, feeds, "mse") == spans(network(), names, FEEDS, "mse")


def test_made_inputs_have_the_sizes_that_are_asked_for(tmp_path: Path) -> None:
    g = Graph()
    x = g.input("x", ["batch", 16])
    y = g.op("MatMul", x, samples(16, 8))
    y.shape = ir.Shape(["batch", 8])
    onnx.save(ir.to_proto(g.model(y)), tmp_path / "model.onnx")
    stored = StoredModel(tmp_path / "model.onnx", "m")
    feeds, _ = calibration_feeds(stored, "synthetic", [{"batch": 3}, {"batch": 5}])
    assert {fed.arrays["x"].shape for fed in feeds} == {(3, 16), (5, 16)}
    asked = OptimizeCommand(
        stored.onnx, precision="int8", calibrate="synthetic", shape={"batch": 7}
    )
    assert options_of(asked).conversion.numbers == PrecisionRequest(
        "int8", calibrate="synthetic", shapes=({"batch": 7},)
    )


def test_weights_in_a_file_of_their_own_are_looked_at_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    proto = ir.to_proto(network())
    onnx.save(proto, path, save_as_external_data=True, location="weights.bin", size_threshold=64)
    kept = sorted(tmp_path.iterdir())
    model = onnx_files.read(path)
    InferShapes()(model)
    seen: list[Path] = []

    def watched(engine: str, stored: StoredModel, options: EngineOptions) -> object:
        seen.append(stored.onnx)
        assert options.frugal
        assert stored.onnx.stat().st_size < 5000, "the weights are not in it"
        return open_session(engine, stored, options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "open_session", watched)
        found = ranges_of(model, FEEDS)
    assert found == ranges_of(network(), FEEDS)
    assert [one.parent for one in seen] == [tmp_path]
    assert sorted(tmp_path.iterdir()) == kept
