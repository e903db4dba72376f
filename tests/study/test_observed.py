from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import parser

from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.stored import StoredModel
from burnish.study.observed import completed

MODEL = """
<ir_version: 8, opset_import: ["" : 18]>
g (float[4] x) => (float[N] y) {
    found = NonZero(x)
    few = Transpose(found)
    y = GatherND(x, few)
}
"""


def test_shapes_that_depend_on_values_are_seen_by_running(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(parser.parse_model(MODEL), path)
    graph = graph_of(onnx_files.read(path), {})
    assert graph.static("few") is None
    feeds = Feeds({"x": np.array([1, 0, 2, 0], np.float32)}, {})
    seen = completed(graph, StoredModel(path, "m"), feeds)
    assert seen.static("few") == TensorSpec("few", "i64", (2, 1))
    assert seen.outputs == (TensorSpec("y", "f32", (2,)),)
    assert completed(seen, StoredModel(tmp_path / "not needed.onnx", "m"), feeds) is seen
