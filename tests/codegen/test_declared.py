from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from burnish.core.errors import ModelError
from burnish.store.layout import stored
from burnish.study.compile import CompileRequest, compile_model


@pytest.mark.parametrize("shape", ["n, 9", "n, 8, 1", "8"])
def test_an_output_that_is_declared_wrongly_is_told_before_anything_is_written(
    tmp_path: Path, shape: str
) -> None:
    text = f"g (float[n, 8] x) => (float[{shape}] y) {{ y = Relu(x) }}"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]> {text}')
    onnx.save(proto, path := tmp_path / "model.onnx")
    with pytest.raises(ModelError, match="declares its output y: ") as refused:
        compile_model(CompileRequest(stored(path), tmp_path / "c", shapes=({"n": 3},)))
    assert refused.value.problem.endswith("and gives [3, 8]")
    assert not (tmp_path / "c").exists()
