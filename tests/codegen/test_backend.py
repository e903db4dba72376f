"""A back end is one file and one line: everything else compiles, checks and runs for it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.codegen.backend import argument_roles, open_backend
from burnish.codegen.pipeline import PlanOptions, plan, prepare
from burnish.codegen.schedule import Predicted
from burnish.codegen.write import write, write_sums
from burnish.core import backends
from burnish.core.backends import BackendEntry, backend_name, device_name
from burnish.core.errors import ModelError, UsageError
from burnish.runtime.folder import About
from burnish.runtime.runner import runner_for
from burnish.store import onnx_files
from burnish.store.compiled import PLAN
from codegen.models import MIXED, mlp, model, reference

HERE = "codegen.numpy_backend"


@pytest.fixture(autouse=True)
def numpy_is_a_back_end(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"numpy": BackendEntry(f"{HERE}:RUNNER", f"{HERE}:open_numpy")}
    monkeypatch.setattr(backends, "BACKENDS", {**backends.BACKENDS, **entry})


@pytest.mark.parametrize(("text", "sizes"), [("mlp", {"batch": 5}), (MIXED, {"batch": 5})])
def test_a_model_is_compiled_and_run(text: str, sizes: dict[str, int], tmp_path: Path) -> None:
    given = mlp() if text == "mlp" else model(text)
    folder = compiled(given, sizes, tmp_path / "c")
    (name,) = (value.name or "" for value in given.graph.inputs)
    width = 8 if text == "mlp" else 1100
    feeds = {name: np.random.default_rng(0).standard_normal((5, width)).astype(np.float32)}
    with burnish.load(folder, threads=1) as loaded:
        assert loaded.compiled.plans[0].target == "numpy: any"
        assert loaded.compiled.plans[0].kernel_steps
        found = loaded.run(feeds)
    for output, array in reference(given, feeds).items():
        np.testing.assert_allclose(found[output], array, rtol=1e-5, atol=1e-5)


def test_a_plan_is_checked_by_the_back_end_that_runs_it(tmp_path: Path) -> None:
    folder = compiled(mlp(), {"batch": 5}, tmp_path / "c")
    data = json.loads((folder / PLAN).read_text())
    data["plans"][0]["steps"][0]["launch"] = {"warps": 4}
    (folder / PLAN).write_text(json.dumps(data))
    write_sums(folder)
    with pytest.raises(ModelError, match="step 0 cannot be started: NumPy is told nothing"):
        burnish.load(folder)


def test_a_target_names_its_back_end_and_its_device() -> None:
    assert [backend_name(text) for text in ("cpu", "cpu: avx2", "cuda: sm_90")] == [
        "cpu", "cpu", "cuda",
    ]  # fmt: skip
    assert [device_name(text) for text in ("cpu", "cpu: avx2", "cuda: sm_90")] == [
        "", "avx2", "sm_90",
    ]  # fmt: skip
    assert open_backend("cpu: portable", 1).target == "cpu: portable"


def test_an_unknown_back_end_is_named_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="'cuba' is no back end of burnish") as found:
        runner_for("cuba: sm_90")
    assert (
        found.value.hint
        == "did you mean 'cuda'? known: cpu, cuda, neon, numpy, sm_100, sm_80, sm_90"
    )


def test_code_calls_tensors_by_what_they_are_to_it() -> None:
    assert argument_roles(("x", "w", "y"), ("y",)) == {"x": "in0", "w": "in1", "y": "out0"}


def compiled(given: object, sizes: dict[str, int], folder: Path) -> Path:
    backend = open_backend("numpy", 1)
    built = plan(prepare(given, sizes), PlanOptions(backend, Predicted(backend)))  # type: ignore[arg-type]
    interface = onnx_files.interface(given)  # type: ignore[arg-type]
    about = About("m", "m.onnx", "0", interface.inputs, interface.outputs, "f32", "NumPy", "today")
    write(folder, about, [built], backend)
    return folder
