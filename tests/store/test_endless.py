"""A Loop that nothing ends is refused; any other is left to whoever runs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import parser

from burnish.core.errors import ModelError
from burnish.store import onnx_files

LOOP = """
<ir_version: 9, opset_import: ["" : 17]>
g (float[4] x, int64 n, bool c) => (float[4] y)
<bool yes = {1}, int64 many = {4611686018427387904}, int64 few = {3}>
{ y = Loop(TRIPS, START, x)
    <body = b (int64 i, bool go, float[4] a) => (bool stay, float[4] o)
      { stay = KEEP o = Add(a, x) }> }
"""


def _read(folder: Path, trips: str, start: str, keep: str) -> None:
    text = LOOP.replace("TRIPS", trips).replace("START", start).replace("KEEP", keep)
    path = folder / "m.onnx"
    path.write_bytes(parser.parse_model(text).SerializeToString())
    onnx_files.read(path)


@pytest.mark.parametrize("trips", ["", "many"])
@pytest.mark.parametrize("start", ["", "yes"])
@pytest.mark.parametrize("keep", ["Identity(go)", "Identity(yes)", "Cast<to = 9>(go)"])
def test_a_loop_without_an_end(tmp_path: Path, trips: str, start: str, keep: str) -> None:
    with pytest.raises(ModelError, match="a node Loop has nothing that ever ends it"):
        _read(tmp_path, trips, start, keep)


@pytest.mark.parametrize(
    ("trips", "start", "keep"),
    [
        ("few", "yes", "Identity(go)"),
        ("n", "yes", "Identity(go)"),
        ("", "c", "Identity(go)"),
        ("", "yes", "Not(go)"),
    ],
)
def test_a_loop_that_may_end(tmp_path: Path, trips: str, start: str, keep: str) -> None:
    _read(tmp_path, trips, start, keep)
