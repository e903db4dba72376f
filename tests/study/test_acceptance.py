"""What is said of a draft that is not handed out."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

import burnish
from burnish.core.errors import MissingCapabilityError

LOWER = """<ir_version: 8, opset_import: ["": 17]> lower (string[2] x) => (string[2] y)
{ y = StringNormalizer <case_change_action = "LOWER", locale = "xx_XX"> (x) }"""


def test_what_the_machine_lacks_is_said_of_the_file_that_was_asked_for(tmp_path: Path) -> None:
    model, target = tmp_path / "lower.onnx", tmp_path / "made.onnx"
    onnx.save(onnx.parser.parse_model(LOWER), model)
    with pytest.raises(MissingCapabilityError) as caught:
        burnish.optimize(model, output=target)
    assert caught.value.problem == (
        f"{target}: its operators on text need the locale xx_XX, which is not installed here"
    )
    assert [each.name for each in tmp_path.iterdir()] == ["lower.onnx"]
