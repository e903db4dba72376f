from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.core.arrays import Array
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel
from burnish.study.deviation import (
    DeviationReport,
    OutputDeviation,
    deviation,
    refusal,
    relative_error,
)

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("reference", "given", "expected"),
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([3.0, 4.0], [3.0, 4.5], 0.1),
        ([NAN, 4.0], [NAN, 4.0], 0.0),
        ([INF, 4.0], [INF, 5.0], 0.25),
        ([3.0, 4.0], [NAN, 4.0], INF),
        ([0.0], [1.0], INF),
        ([], [], 0.0),
    ],
)
def test_an_error_is_in_the_root_mean_square_of_what_should_be(
    reference: list[float], given: list[float], expected: float
) -> None:
    pair = (np.array(values, np.float32) for values in (reference, given))
    assert relative_error(*pair) == pytest.approx(expected)


def _stored(folder: Path, name: str, body: str) -> StoredModel:
    text = f'<ir_version: 10, opset_import: ["": 17]> g (float[n] x) => (float[n] y) {{ {body} }}'
    onnx.save(onnx.parser.parse_model(text), folder / f"{name}.onnx")
    return StoredModel(folder / f"{name}.onnx", name)


def _fed(*numbers: float) -> Feeds:
    x: Array = np.array(numbers, np.float32)
    return Feeds({"x": x}, {"n": len(numbers)})


def test_each_figure_is_the_worst_of_all_samples(tmp_path: Path) -> None:
    plain = _stored(tmp_path, "plain", "y = Abs(x)")
    other = _stored(tmp_path, "other", "y = Identity(x)")
    found = deviation(plain, other, (_fed(1, 1), _fed(1, -1)), bound=0.5, source="data")
    (y,) = found.outputs
    assert y.relative == pytest.approx(math.sqrt(2))
    assert (y.cosine, y.max_abs, found.samples) == (0.0, 2.0, 2)
    assert not found.passed
    assert refusal(found) == (
        "y is off by 141.42% of its root mean square (cosine 0.00000), and 50.00% are allowed"
    )


def test_what_is_no_number_any_more_never_passes(tmp_path: Path) -> None:
    plain = _stored(tmp_path, "plain", "y = Abs(x)")
    other = _stored(tmp_path, "other", "y = Sqrt(x)")
    found = deviation(plain, other, (_fed(1, -1),), bound=math.inf, source="data")
    assert not found.passed
    assert refusal(found) == "1 elements of y became NaN or infinite"


def test_nothing_compared_is_nothing_shown() -> None:
    assert not DeviationReport((), 0, "data", 1.0).passed
    assert refusal(DeviationReport((), 0, "data", 1.0)) == "nothing was compared"
    assert DeviationReport((OutputDeviation("y", 0.1, 1, 1, None, 0),), 1, "data", 0.1).passed
