"""Compiling proves what it hands out, and hands out nothing that it cannot prove."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.codegen.place import BuiltPlan
from burnish.codegen.stages import STEPS
from burnish.core.errors import ModelError
from burnish.parity.tolerances import Tolerances
from burnish.parity.verify import ReferenceRefusesError
from burnish.rewrite.static import static
from burnish.runtime.folder import read
from burnish.store.stored import StoredModel
from burnish.study import compile as study
from burnish.study import compiling, execute
from burnish.study.compile import CompileRequest, RejectedError, compile_model
from burnish.study.compile_dump import apart, facts
from burnish.study.requests.rewriting import CompileCommand, ExecCommand
from burnish.tile.lower import lower
from codegen.models import MIXED, PORTABLE, mlp, model, reference, save


@pytest.fixture
def stored(tmp_path: Path) -> StoredModel:
    return StoredModel(save(mlp(), tmp_path / "mlp.onnx"), "mlp")


def request(stored: StoredModel, target: Path, *batches: int, **more: object) -> CompileRequest:
    shapes = tuple({"batch": batch} for batch in batches)
    return CompileRequest(stored, target, shapes, threads=1, samples=2, **more)


def test_every_shape_gets_a_plan_that_is_proven(stored: StoredModel, tmp_path: Path) -> None:
    report = compile_model(request(stored, tmp_path / "c", 3, 17))
    assert [plan.sizes for plan in report.plans] == [{"batch": 3}, {"batch": 17}]
    assert report.parity.passed
    assert len(report.parity.samples) == 4
    assert all(step.measured_s is not None for plan in report.plans for step in plan.steps)
    proof = json.loads((tmp_path / "c" / "proof.json").read_text())
    assert (proof["kind"], proof["source_key"]) == ("proof", report.source_key)
    assert proof["parity"]["passed"] is True
    with burnish.load(tmp_path / "c", threads=1) as loaded:
        x = np.ones((17, 8), np.float32)
        expected = reference(mlp(), {"x": x})["y"]
        np.testing.assert_allclose(loaded.run({"x": x})["y"], expected, rtol=1e-5, atol=1e-5)


NEEDY = """
needy (float[n, 4] x, int64 rate) => (float[1, 4] y) <int64 base = {16000}>
{
    [place] p = Sub(rate, base)
    [axis] a = Constant<value_ints = [0]>()
    [row] r = Unsqueeze(p, a)
    [take] y = Gather(x, r)
}
"""
"""Runs at one rate only."""


def test_a_model_that_needs_a_certain_value_is_told_how_to_get_it(tmp_path: Path) -> None:
    needy = StoredModel(save(model(NEEDY), tmp_path / "needy.onnx"), "needy")
    with pytest.raises(ReferenceRefusesError, match="does not run on made inputs") as raised:
        compile_model(CompileRequest(needy, tmp_path / "c", ({"n": 2},), threads=1))
    assert raised.value.hint == (
        f"bring some: burnish compile {needy.onnx} --data INPUTS.npz -o {tmp_path / 'c'}"
    )


def test_data_proves_the_result_and_decides_the_sizes(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((2, 4), np.float32), rate=np.array(16001))
    asked = CompileCommand(
        str(save(model(NEEDY), tmp_path / "needy.onnx")), output=tmp_path / "c", tune=False,
        data=tmp_path / "x.npz", rtol=1e-3,
    )  # fmt: skip
    report = compiling.answer(asked)
    assert [plan.sizes for plan in report.plans] == [{"n": 2}]
    assert report.parity.passed
    assert len(report.parity.samples) == 1
    assert read(tmp_path / "c").about.options == ("--no-tune", "--rtol 0.001")


def off_by(error: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every plan have constants that are off by so much."""
    real = study.plan

    def wrong(*arguments: object) -> BuiltPlan:
        made = real(*arguments)
        changed = {name: array + np.float32(error) for name, array in made.constants.items()}
        return BuiltPlan(made.plan, made.kernels, changed, made.parts)

    monkeypatch.setattr(study, "plan", wrong)


def test_the_tolerance_is_the_users(
    stored: StoredModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off_by(1e-3, monkeypatch)
    with pytest.raises(RejectedError):
        compile_model(request(stored, tmp_path / "c", 3))
    report = compile_model(request(stored, tmp_path / "c", 3, tolerances=Tolerances(relative=0.1)))
    assert report.parity.passed


def test_what_computes_something_else_is_not_written(
    stored: StoredModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    off_by(1.0, monkeypatch)
    with pytest.raises(RejectedError, match=r"c was not written: mlp on burnish differs") as found:
        compile_model(request(stored, tmp_path / "c", 3))
    assert found.value.hint.startswith("report it as a bug in burnish")
    assert not found.value.parity.passed
    assert not (tmp_path / "c").exists()


def test_what_the_library_runs_is_in_the_report(tmp_path: Path) -> None:
    stored = StoredModel(save(model(MIXED), tmp_path / "mixed.onnx"), "mixed")
    (plan,) = compile_model(request(stored, tmp_path / "c", 3)).plans
    assert plan.ort_nodes == 2
    (step,) = (step for step in plan.steps if step.kind == "onnxruntime")
    assert set(step.reasons) == {"order", "search"}


CHOSEN = """
chosen (float[4] x, bool c) => (float[4] y)
{ y = If (c) <then_branch = yes () => (float[4] a) { a = Sin(x) },
  else_branch = no () => (float[4] b) { b = Cos(x) }> }"""


def test_a_branch_that_inputs_may_never_take_is_noted(tmp_path: Path) -> None:
    stored = StoredModel(save(model(CHOSEN), tmp_path / "m.onnx"), "m")
    report = compile_model(request(stored, tmp_path / "c"))
    assert "'c' chooses a branch: the proof is of those its inputs take" in report.notes
    assert report.plans[0].ort_nodes == 0


def test_products_can_be_skipped(stored: StoredModel, tmp_path: Path) -> None:
    (plan,) = compile_model(request(stored, tmp_path / "c", 3, skip_dot=True)).plans
    assert {op for s in plan.steps if s.kind == "onnxruntime" for op in s.operators} == {"MatMul"}


def test_a_dump_has_facts_code_and_assembly(stored: StoredModel, tmp_path: Path) -> None:
    report = compile_model(request(stored, tmp_path / "c", 3, dump=tmp_path / "dump"))
    step = report.plans[0].steps[0]
    stem = tmp_path / "dump" / "plan_0" / f"000_{step.name}"
    text = Path(f"{stem}.txt").read_text()
    assert text == facts(step, report.plans[0])
    assert "node       up\n" in text
    assert "predicted" in text
    assert f'@"{step.name}"' in Path(f"{stem}.ll").read_text()
    assert step.name in Path(f"{stem}.s").read_text()
    assert (tmp_path / "dump" / "plan_0" / "apart.txt").is_file()


def test_what_every_step_gave_is_dumped(stored: StoredModel, tmp_path: Path) -> None:
    compile_model(request(stored, tmp_path / "c", 3, dump=tmp_path / "dump"))
    folder = tmp_path / "dump" / "plan_0"
    texts = {path.name[3:-4]: path.read_text() for path in sorted(folder.glob("??-*.txt"))}
    assert tuple(texts) == STEPS
    assert "h: f32[3, 16] = MatMul(x, w)  # up" in texts["bind"]
    assert "h: f32[m=3, n=16] = sum(k=8) x[m, k] * w[k, n]  # up" in texts["lower"]
    assert " then where(" in texts["simplify"]
    assert "group of x, w, b" in texts["partition"]
    assert "  tile " in texts["schedule"]
    assert "arena of " in texts["place"]
    assert texts["prove"].splitlines()[2].startswith("mlp on burnish equals mlp")
    compile_model(request(stored, tmp_path / "c", 3, dump=tmp_path / "dump"))


def test_what_stands_before_a_failure_is_dumped(
    stored: StoredModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **_named: object) -> None:
        raise ModelError("no", hint="none")

    folder = tmp_path / "dump" / "plan_0"
    monkeypatch.setattr("burnish.study.compile.write", failing)
    with pytest.raises(ModelError, match="no"):
        compile_model(request(stored, tmp_path / "c", 3, dump=tmp_path / "dump"))
    assert [path.name[3:-4] for path in sorted(folder.glob("??-*.txt"))] == [*STEPS[:-1]]
    assert list(folder.glob("000_*.ll"))
    monkeypatch.setattr("burnish.study.compile.plan", failing)
    with pytest.raises(ModelError, match="no"):
        compile_model(request(stored, tmp_path / "c", 3, dump=tmp_path / "dump"))
    assert sorted(path.name for path in folder.iterdir()) == ["01-bind.txt", "02-rewrite.txt"]
    assert not (tmp_path / "c").exists()


def test_why_kernels_are_two_is_told() -> None:
    text = """two (float[64, 64] x) => (float[64, 64] y, float[64, 64] z)
    { [sum] s = ReduceSum(x) [plus] y = Add(x, s) [exp] z = Exp(y) }"""
    graph = lower(list(static(model(text), {}).graph)).graph
    first, *rows = apart([graph], PORTABLE).splitlines()
    assert first == "written by | read by | why they are two kernels"
    assert all(row.count(" | ") >= 2 for row in rows)


def test_a_compiled_folder_runs_on_inputs_from_a_file(stored: StoredModel, tmp_path: Path) -> None:
    compile_model(request(stored, tmp_path / "c", 3))
    x = np.ones((3, 8), np.float32)
    np.savez(tmp_path / "x.npz", x=x)
    asked = ExecCommand(
        tmp_path / "c", data=tmp_path / "x.npz", output=tmp_path / "y.npz", threads=1
    )
    report = execute.answer(asked)
    assert [str(spec) for spec in report.outputs] == ["y: f32[3, 4]"]
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_allclose(found["y"], reference(mlp(), {"x": x})["y"], rtol=1e-5)
