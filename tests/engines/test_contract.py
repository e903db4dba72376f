"""Every engine that works here keeps the promises of `engines/base.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import pytest

from burnish.core.errors import UsageError
from burnish.engines import isolated
from burnish.engines.base import ENGINES, EngineOptions, Session
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.stored import StoredModel, TorchSource
from burnish.trace.attribute import attribute

TEXT = """
<ir_version: 10, opset_import: ["": 21]>
tiny (float[batch, 3] x, int64[batch] row) => (float[batch, 2] y, int64[batch] row_out)
<float[3, 2] w = {1, -2, 0.5, 4, -1, 0.25}, float[2] b = {0.5, -0.5}, int64[1] one = {1}>
{
    [product] xw = MatMul(x, w)
    [bias] z = Add(xw, b)
    [relu] y = Relu(z)
    [next] row_out = Add(row, one)
}
"""

FACTORY = """
import torch


class Tiny(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 4.0], [-1.0, 0.25]]))
        self.b = torch.nn.Parameter(torch.tensor([0.5, -0.5]))

    def forward(self, x, row):
        return torch.relu(x @ self.w + self.b), row + 1


def tiny():
    return Tiny(), {"x": torch.zeros(2, 3), "row": torch.zeros(2, dtype=torch.int64)}
"""


def here(name: str, model: StoredModel, options: EngineOptions) -> Session:
    return ENGINES[name].open(model, options)


MARKS = {
    "torch-eager": (pytest.mark.torch,),
    "torch-script": (pytest.mark.torch,),
    "torch-compile": (pytest.mark.torch, pytest.mark.slow),
    "onnxruntime-cuda": (pytest.mark.gpu,),
    "tensorrt": (pytest.mark.gpu,),
    "burnish-cuda": (pytest.mark.gpu,),
}


@pytest.fixture
def model(tmp_path: Path) -> StoredModel:
    path = tmp_path / "tiny.onnx"
    path.write_bytes(onnx.parser.parse_model(TEXT).SerializeToString())
    (tmp_path / "factory.py").write_text(FACTORY)
    return StoredModel(
        path, "tiny", torch=TorchSource("function", "factory.py:tiny", {}), trusted=True
    )


@pytest.fixture(
    params=[
        pytest.param((name, opened), marks=MARKS.get(name, ()), id=f"{name}-{where}")
        for name in ENGINES
        for where, opened in (("here", here), ("isolated", isolated.open_session))
    ]
)
def session(request: pytest.FixtureRequest, model: StoredModel) -> Session:
    name, opened = request.param
    available = ENGINES[name].availability()
    if not available.ok:
        pytest.skip(available.reason)
    with opened(name, model, EngineOptions()) as session:
        yield session


def feeds(batch: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(batch)
    return {
        "x": random.standard_normal((batch, 3)).astype(np.float32),
        "row": np.arange(batch, dtype=np.int64),
    }


def reference(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    evaluator = onnx.reference.ReferenceEvaluator(onnx.parser.parse_model(TEXT))
    return dict(zip(("y", "row_out"), evaluator.run(None, arrays), strict=True))


def test_numbers_are_those_of_the_reference_at_every_batch_size(session: Session) -> None:
    for batch in (2, 5, 1):
        outputs = session.run(feeds(batch))
        expected = reference(feeds(batch))
        assert list(outputs) == list(expected)
        for name, array in expected.items():
            assert outputs[name].dtype == array.dtype
            np.testing.assert_allclose(outputs[name], array, rtol=1e-6, atol=1e-6)


def test_running_twice_gives_the_same_and_leaves_earlier_outputs_alone(session: Session) -> None:
    first = session.run(feeds(2))
    kept = {name: array.copy() for name, array in first.items()}
    session.run({name: array + 1 for name, array in feeds(2).items()})
    again = session.run(feeds(2))
    for name, array in kept.items():
        np.testing.assert_array_equal(first[name], array)
        np.testing.assert_array_equal(again[name], array)


def test_feeds_are_left_as_they_were(session: Session) -> None:
    given = feeds(3)
    session.run(given)
    session.prepare(given)()
    for name, array in feeds(3).items():
        np.testing.assert_array_equal(given[name], array)


def test_a_prepared_call_can_be_made_again_and_again(session: Session) -> None:
    call = session.prepare(feeds(4))
    assert [call() for _ in range(5)] == [None] * 5
    np.testing.assert_allclose(
        session.run(feeds(4))["y"], reference(feeds(4))["y"], rtol=1e-6, atol=1e-6
    )


def test_the_placement_tells_device_and_precision(session: Session) -> None:
    assert session.placement.device
    assert session.placement.precision == "f32"


def test_a_trace_has_the_runs_that_were_asked_for(session: Session, model: StoredModel) -> None:
    trace = session.trace(feeds(2), warmup=2, runs=3)
    if trace is None:
        pytest.skip("this engine does not trace")
    assert trace.runs == 3
    assert {span.run for span in trace.spans} == {0, 1, 2}
    assert sum(span.category == "run" for span in trace.spans) == 3
    found = attribute(trace, graph_of(onnx_files.read(model.onnx), {"batch": 2}))
    assert "product" in {node for span in found.spans for node in span.nodes}


@pytest.mark.parametrize("use", ["run", "prepare"])
def test_bad_feeds_are_named(session: Session, use: str) -> None:
    with pytest.raises(UsageError, match="input 'row' is missing"):
        getattr(session, use)({"x": feeds(2)["x"]})
    with pytest.raises(UsageError, match=r"input 'x' has the wrong shape: found f32\[2\]"):
        getattr(session, use)({**feeds(2), "x": np.zeros(2, np.float32)})


@pytest.mark.parametrize("name", ENGINES.names())
def test_an_engine_is_registered_under_its_own_name(name: str) -> None:
    assert ENGINES[name].name == name


@pytest.mark.parametrize("name", ENGINES.names())
def test_an_engine_that_is_not_here_says_why_and_what_would_mend_it(name: str) -> None:
    available = ENGINES[name].availability()
    assert available.ok or (available.reason and available.remedy)
