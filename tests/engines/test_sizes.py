from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.cli.main import run
from burnish.core.errors import ModelError
from burnish.engines import isolated
from burnish.engines.sizes import Usual, fitting, retry_hint, usual
from burnish.parity.request import VerifyRequest, answer
from burnish.store.layout import stored
from burnish.store.stored import StoredModel

HEAD = '<ir_version: 10, opset_import: ["": 17]>'
ROWS = (
    HEAD
    + """ g (float[n, m] x) => (float[k, 48] y) <int64[2] to = {-1, 48}> {
    y = Reshape(x, to)
}"""
)
TAKEN = (
    HEAD
    + """ g (float[batch, 3] x) => (float[3] y) <int64 second = {1}> {
    y = Gather <axis = 0> (x, second)
}"""
)
NEVER = TAKEN.replace("second = {1}", "second = {1000000}")


def _model(tmp_path: Path, text: str) -> StoredModel:
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    return stored(tmp_path / "m.onnx")


@pytest.mark.parametrize(("text", "product"), [(ROWS, 48), (TAKEN, 1)])
def test_sizes_are_found_that_a_graph_demands(tmp_path: Path, text: str, product: int) -> None:
    model = _model(tmp_path, text)
    found = usual(model, {}).sizes
    if text is ROWS:
        assert found["n"] * found["m"] % product == 0
    report = answer(VerifyRequest(model, budget_s=0))
    assert report.passed
    assert any("it does not run at the sizes that its names suggest" in n for n in report.notes)


def test_what_was_asked_for_stays(tmp_path: Path) -> None:
    found = usual(_model(tmp_path, ROWS), {"n": 3}).sizes
    assert found["n"] == 3


def test_where_nothing_runs_all_that_can_be_chosen_is_named_at_once(tmp_path: Path) -> None:
    model = _model(tmp_path, NEVER)
    with pytest.raises(ModelError) as caught:
        answer(VerifyRequest(model, budget_s=0))
    hint = retry_hint({"batch": 1}, model)
    assert hint == (
        "pass inputs of your own with --data FILE.npz; those that were tried are written by"
        f" burnish inputs {model.onnx} --output FILE.npz"
    )
    assert caught.value.hint == f"bind sizes that it takes with --shape batch=SIZE, or {hint}"
    command = hint.partition("written by burnish ")[2].replace("FILE", str(tmp_path / "tried"))
    assert run(command.split()) == 0
    assert (tmp_path / "tried.npz").exists()


CLIMB = (
    HEAD
    + """ g (float[a, b] x) => (float[20, r] y)
<int64[2] first = {-1, 48}, int64[2] second = {20, -1}> {
    [one] rows = Reshape(x, first)
    [two] y = Reshape(rows, second)
}"""
)


def test_sizes_are_climbed_to_where_no_single_one_suffices(tmp_path: Path) -> None:
    found = usual(_model(tmp_path, CLIMB), {}).sizes
    assert found["a"] * found["b"] % 240 == 0


def test_inputs_are_made_of_sizes_that_work(tmp_path: Path) -> None:
    model = _model(tmp_path, ROWS)
    (feeds,) = fitting(model)
    assert feeds.arrays["x"].size % 48 == 0
    assert feeds.notes[0].startswith("it does not run at the sizes that its names suggest, but at ")


def test_inputs_that_lie_beside_a_model_are_used_where_made_ones_do_not_fit(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(NEVER.replace("1000000", "9000")), tmp_path / "model.onnx")
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    rows = onnx.numpy_helper.from_array(np.zeros((9001, 3), np.float32), "x")
    onnx.save_tensor(rows, folder / "input_0.pb")
    model = stored(tmp_path / "model.onnx")
    found = usual(model, {})
    assert found.data == folder
    assert found.notes == ("made inputs do not fit it, so it is fed those of test_data_set_0",)
    assert answer(VerifyRequest(model, budget_s=0)).passed


PICTURE = (
    HEAD
    + """ g (float[batch, 3, height, width] x) => (float[b, 3, 48, w] y)
<int64[4] to = {0, 3, 48, 100}> {
    [one] y = Reshape(x, to)
}"""
)


def test_pictures_keep_more_than_a_few_dots_where_they_can(tmp_path: Path) -> None:
    found = usual(_model(tmp_path, PICTURE), {}).sizes
    assert found.get("height", 224) >= 32
    assert found.get("width", 224) >= 32


TABLE = (
    HEAD
    + """ g (float[batch, sequence, 2] x) => (float[batch, sequence, 2] y)
<float[1, 40, 2] rows, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> {
    shape = Shape(x)
    length = Slice(shape, one, two, zero)
    first = Slice(rows, zero, length, one)
    y = Add(x, first)
}"""
)


def test_a_table_that_is_too_short_leaves_as_long_a_sequence_as_it_can(tmp_path: Path) -> None:
    proto = onnx.parser.parse_model(TABLE.replace("float[1, 40, 2] rows, ", ""))
    rows = np.ones((1, 40, 2), np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(rows, "rows"))
    onnx.save(proto, tmp_path / "m.onnx")
    assert usual(stored(tmp_path / "m.onnx"), {}).sizes["sequence"] == 32


def test_a_model_whose_sizes_are_all_given_is_not_run_to_find_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "open_session", lambda *_, **__: pytest.fail("it was run"))
    assert usual(_model(tmp_path, ROWS), {"n": 3, "m": 16}) == Usual()
