"""Scan, Loop, LSTM, GRU and RoiAlign, compiled and proven on a real card.

Turns stay with ONNX Runtime on the CPU there, and say so, and so do rows of different lengths;
steps of a known number are kernels, and so are boxes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.cli.main import run
from burnish.core.arrays import Array
from codegen.gpu.models import HEAD

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("card")]

STEP = """step (float[n, 32] s, float[n, 24] x) => (float[n, 32] next, float[n, 32] y)
{ new = MatMul(x, w) old = MatMul(s, r) sum = Add(new, old) next = Tanh(sum) y = Neg(next) }"""
MODELS = {
    "scan": "scan (float[8, 32] a, float[17, 8, 24] x) => (float[8, 32] end, float[17, 8, 32] y)"
    f"{{ end, y = Scan <num_scan_inputs = 1, body = {STEP}> (a, x) }}",
    "scan backwards": "backwards (float[8, 32] a, float[17, 8, 24] x) => (float[17, 8, 32] y)"
    "{ end, y = Scan <num_scan_inputs = 1, scan_input_directions = [1],"
    f" scan_output_directions = [1], body = {STEP}> (a, x) }}",
    "loop": """loop (float[8, 40] a, float[8, 40] x) => (float[8, 40] end, float[5, 8, 40] y)
    { end, y = Loop <body = turn (int64 i, bool go, float[8, 40] s)
        => (bool go, float[8, 40] n, float[8, 40] k)
        { k = Mul(s, x) f = Cast <to = 1> (i) n = Add(k, f) }> (five, true, a) }""",
    "lstm": """lstm (float[13, 4, 24] x) => (float[13, 1, 4, 32] y, float[1, 4, 32] h)
    { y, h = LSTM <hidden_size = 32> (x, gates, again) }""",
    "lengths": """lengths (float[13, 4, 24] x) => (float[13, 1, 4, 32] y, float[1, 4, 32] h)
    { y, h = LSTM <hidden_size = 32> (x, gates, again, , rows) }""",
    "both ways": """both_ways (float[40, 1, 24] x) => (float[40, 2, 1, 32] y, float[2, 1, 32] c)
    { y, h, c = LSTM <hidden_size = 32, direction = "bidirectional">
        (x, two_gates, two_again, , , , , two_eyes) }""",
    "gru": """gru (float[21, 4, 24] x) => (float[21, 1, 4, 32] y)
    { y = GRU <hidden_size = 32> (x, three_gates, three_again) }""",
    "gru, linear": """gru_linear (float[21, 1, 24] x) => (float[21, 1, 1, 32] y)
    { y = GRU <hidden_size = 32, linear_before_reset = 1> (x, three_gates, three_again) }""",
    "boxes": """boxes (float[2, 16, 21, 30] x, float[9, 4] boxes) => (float[9, 16, 5, 7] y)
    { y = RoiAlign <sampling_ratio = 2, spatial_scale = 0.5, output_height = 5, output_width = 7>
        (x, boxes, which) }""",
}


def constants() -> dict[str, Array]:
    random = np.random.default_rng(0)

    def floats(*shape: int) -> Array:
        return (0.2 * random.standard_normal(shape)).astype(np.float32)

    return {
        "w": floats(24, 32), "r": floats(32, 32), "five": np.array(5), "true": np.array(True),
        "gates": floats(1, 128, 24), "again": floats(1, 128, 32), "which": np.arange(9) % 2,
        "rows": np.array([13, 7, 0, 2], np.int32), "two_gates": floats(2, 128, 24),
        "two_again": floats(2, 128, 32), "two_eyes": floats(2, 96),
        "three_gates": floats(1, 96, 24), "three_again": floats(1, 96, 32),
    }  # fmt: skip


def written(text: str, folder: Path) -> Path:
    """Return the file of a model; bodies read constants of the graph around them."""
    proto = onnx.parser.parse_model(HEAD + text)
    for name, array in constants().items():
        if re.search(rf"\b{name}\b", text):
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    path = folder / f"{proto.graph.name}.onnx"
    onnx.save(proto, path)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_turns_and_boxes_compute_what_the_model_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    words = ["compile", str(written(MODELS[name], tmp_path)), "--target", "cuda", "--no-tune"]
    assert run([*words, "-o", str(tmp_path / "c")]) == 0  # what differs is not written
    assert json.loads((tmp_path / "c" / "proof.json").read_text())
