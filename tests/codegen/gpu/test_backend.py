"""NVIDIA cards are a back end as the CPU is: models are compiled, checked, loaded and run."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.codegen.backend import open_backend
from burnish.codegen.gpu import backend, bounds, code
from burnish.codegen.gpu.backend import GpuBackend
from burnish.core.errors import MissingCapabilityError, ModelError, UsageError
from burnish.cuda.build import BuildOptions
from burnish.cuda.kernel import (
    BuiltCubin,
    CubinKernel,
    Failed,
    TritonSource,
    settings_line,
    source_of,
)
from burnish.runtime.cuda import runner
from burnish.runtime.folder import PROOF
from burnish.runtime.plan import Plan
from burnish.store.compiled import KERNELS
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from codegen.gpu.compiled import FEW_ROWS, MIXED, NETWORK, compiled, feeds_of, reference
from codegen.gpu.interpreted_card import interpreted_card
from codegen.gpu.models import graph_of
from fake_driver import H200, FakeDriver

pytest.importorskip("triton")

SMALL = dict.fromkeys(("x", "w", "b", "y"), 40)
"""Elements of tensors that are too few for any kernel."""


@pytest.fixture(autouse=True)
def cubins(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compile no kernel twice."""
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path_factory.getbasetemp() / "cubins"))


def no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise MissingCapabilityError("no NVIDIA card can be used here: a test", hint="nvidia-smi")

    monkeypatch.setattr(runner, "_OPEN", [])
    monkeypatch.setattr(runner, "NvidiaDriver", refuse)


def require_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the compiled folder `c` on an interpreted card; it must give what its model gives."""
    path = next(folder.glob("*.onnx"))
    feeds = feeds_of(path)
    interpreted_card(monkeypatch, folder / "c")
    with burnish.load(folder / "c", threads=1) as model:
        found = model.run(feeds)
    for name, array in reference(path, feeds).items():
        np.testing.assert_allclose(found[name], array, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("text", [NETWORK, FEW_ROWS, MIXED])
def test_a_model_is_compiled_here_and_computes_the_same_there(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    report = compiled(text, tmp_path)
    assert report.parity is None
    assert report.unproven == "no NVIDIA card can be used here: a test"
    assert not (tmp_path / "c" / PROOF).exists()
    require_same(tmp_path, monkeypatch)


def test_sums_in_parts_are_two_steps_with_a_tensor_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    compiled(FEW_ROWS, tmp_path)
    plan = plan_of(tmp_path / "c", monkeypatch)
    first, second = plan.kernel_steps
    (between,) = first.outputs
    assert between in second.inputs
    assert plan.tensors[between].home == "arena"
    assert plan.tensors[between].dtype == "f32"
    assert (plan.tensors[between].bytes or 0) % (4 * 32 * 64) == 0
    assert first.nodes == second.nodes
    assert (first.predicted_s or 0) > 0
    assert (second.predicted_s or 0) > 0


def test_what_has_no_kernel_is_left_to_onnx_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    report = compiled(MIXED, tmp_path)
    kinds = [step.kind for step in report.plans[0].steps]
    assert kinds == ["kernel", "onnxruntime", "kernel"]


def test_what_has_no_elements_is_left_to_onnx_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    report = compiled("empty (float[0,8] x) => (float[0,8] y) { y = Relu(x) }", tmp_path)
    (step,) = report.plans[0].steps
    assert list(step.reasons.values()) == ["it has no element, and a card cannot start no program"]


def test_a_function_without_triton_is_left_to_onnx_runtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    report = compiled("angle (double[4,8] x) => (double[4,8] y) { y = Asin(x) }", tmp_path)
    (step,) = report.plans[0].steps
    assert list(step.reasons.values()) == ["Triton kernels have no asin of f64"]


@pytest.mark.parametrize(
    ("target", "requires"),
    [("sm_80", "sm_80"), ("sm_90", "sm_90a"), ("sm_100", "sm_100a")],
)
def test_kernels_are_built_for_each_kind_of_card(
    target: str, requires: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    assert compiled(MIXED, tmp_path, target).target == f"cuda: {target}"
    table = json.loads((tmp_path / "c" / "kernels.json").read_text())
    assert table["requires"] == [requires]
    assert {k["architecture"] for k in table["code"]["kernels"].values()} == {requires}
    assert sorted(path.suffix for path in (tmp_path / "c" / KERNELS).iterdir()) == [
        ".cubin", ".cubin", ".py", ".py",
    ]  # fmt: skip


def test_the_card_that_is_here_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_OPEN", [FakeDriver()])
    found = open_backend("cuda", 1)
    assert (found.target, found.device) == ("cuda: sm_90", "Fake H200")
    assert found.features == ("driver 13.0",)
    assert found.machine.hw.name == "nvidia-h200"


def test_without_a_card_a_kind_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    no_card(monkeypatch)
    with pytest.raises(
        MissingCapabilityError, match="compiles for the card that is here: no NVI"
    ) as e:
        open_backend("cuda", 1)
    assert e.value.hint == "name the kind of card that it will run on: --target sm_90"


def test_an_unknown_kind_of_card_is_refused() -> None:
    with pytest.raises(UsageError, match="kernels are not built for 'sm_91'") as found:
        open_backend("cuda: sm_91", 1)
    assert found.value.hint.startswith("did you mean 'sm_90'?")


def test_a_card_that_nobody_has_described_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = dataclasses.replace(H200, name="Fake K80", capability=(3, 7))
    monkeypatch.setattr(runner, "_OPEN", [FakeDriver(device=old)])
    with pytest.raises(MissingCapabilityError, match="no description of cards of the kind sm_37"):
        open_backend("cuda", 1)


TEXT = f"""{settings_line(("f32",), 4, 3)}
import triton


@triton.jit
def ahead(x):
    pass
"""


def built_with(shared: dict[int, int]) -> object:
    """Return what builds kernels that need so much shared memory, by loads in flight."""

    def build(
        sources: Sequence[TritonSource], architecture: str, _: BuildOptions
    ) -> list[BuiltCubin]:
        return [
            BuiltCubin(
                CubinKernel(
                    s.name,
                    architecture,
                    s.pointers,
                    2,
                    s.warps,
                    shared[s.stages],
                    0,
                    32,
                    0,
                    "13.0",
                    "9.0",
                ),
                b"code",
            )
            for s in sources
        ]

    return build


def test_loads_in_flight_are_as_many_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "build", built_with({3: 400_000, 2: 300_000, 1: 200_000}))
    found = code.built_code({"ahead": TEXT}, "sm_90")
    assert source_of("ahead", found.files["kernels/ahead.py"].decode()).stages == 1


def test_a_kernel_that_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "build", built_with(dict.fromkeys((1, 2, 3), 400_000)))
    with pytest.raises(ModelError, match="'ahead' cannot be compiled for sm_90: it needs 391 KiB"):
        code.built_code({"ahead": TEXT}, "sm_90")


@pytest.mark.parametrize(("words", "fits"), [(100, True), (101, False)])
def test_kernels_that_keep_too_much_in_memory_do_not_fit(
    words: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def build(sources: Sequence[TritonSource], kind: str, _: BuildOptions) -> list[BuiltCubin]:
        told = [(each.name, kind, each.pointers, 2, each.warps) for each in sources]
        kept = (255, 4 * words, "13.0", "9.0")
        return [BuiltCubin(CubinKernel(*each, 0, 0, *kept), b"") for each in told]

    monkeypatch.setattr(code, "build", build)
    said = {} if fits else {"ahead": "101 values of each thread are in memory"}
    assert dict(code.unfit({"ahead": TEXT}, "sm_90")) == said


def kernels_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the kernels of what was compiled there."""
    return {step.kernel for step in plan_of(folder / "c", monkeypatch).kernel_steps}


def test_a_kernel_that_cannot_be_built_gets_other_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    first: list[str] = []

    def refuse(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        first[:] = first or sources
        return dict.fromkeys(sources.keys() & set(first), "too large for a test")

    monkeypatch.setattr(backend, "unfit", refuse)
    compiled(FEW_ROWS, tmp_path)
    used = kernels_of(tmp_path, monkeypatch)
    assert first
    assert not used & set(first)


def test_a_group_whose_kernels_all_spill_is_cut_into_its_nests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    refused: set[str] = set()

    def refuse(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        # products in one kernel with rows that are summed up
        found = {name for name, text in sources.items() if "tl.dot(" in text and "tl.sum(" in text}
        refused.update(found)
        return dict.fromkeys(found, "it spills in a test")

    monkeypatch.setattr(backend, "unfit", refuse)
    compiled(NETWORK, tmp_path)
    used = kernels_of(tmp_path, monkeypatch)
    assert refused
    assert not used & refused
    require_same(tmp_path, monkeypatch)


def test_a_group_none_of_whose_kernels_is_worth_it_keeps_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    asked: list[str] = []

    def refuse(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        asked.extend(sources)
        return dict.fromkeys(sources, "it spills in a test")

    monkeypatch.setattr(backend, "unfit", refuse)
    report = compiled(FEW_ROWS, tmp_path)
    used = kernels_of(tmp_path, monkeypatch)
    assert used <= set(asked[: len(used)])
    assert len(asked) > len(used)
    why = "it spills in a test, and no other blocks were better"
    assert {f"{name}: {why}" for name in used} <= set(report.notes)


def test_of_a_single_nest_all_blocks_are_tried_before_one_that_spills_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    first: list[str] = []
    turns: list[int] = []

    def refuse(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        first[:] = first or sources
        turns.append(len(sources))
        out = sources if len(turns) <= 2 else sources.keys() & set(first)
        return dict.fromkeys(out, "it spills in a test")

    monkeypatch.setattr(backend, "unfit", refuse)
    compiled(FEW_ROWS, tmp_path)
    used = kernels_of(tmp_path, monkeypatch)
    assert not used & set(first)


def test_a_kernel_that_spills_is_better_than_one_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    first: list[str] = []

    def refuse(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        first[:] = first or sources
        return dict.fromkeys(sources, "it fails or spills in a test")

    def fail(sources: Mapping[str, str], architecture: str) -> dict[str, str]:
        return dict.fromkeys(sources.keys() & set(first), "it fails in a test")

    monkeypatch.setattr(backend, "unfit", refuse)
    monkeypatch.setattr(backend, "unbuildable", fail)
    compiled(FEW_ROWS, tmp_path)
    used = kernels_of(tmp_path, monkeypatch)
    assert first
    assert not used & set(first)


def test_a_model_none_of_whose_kernels_can_be_built_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)

    def build(
        sources: Sequence[TritonSource], _architecture: str, _options: object
    ) -> list[Failed]:
        return [Failed("the compiler is not at home") for _ in sources]

    monkeypatch.setattr(code, "build", build)
    with pytest.raises(ModelError, match="compiled for sm_90: the compiler is not") as raised:
        compiled(FEW_ROWS, tmp_path)
    assert "\n" not in raised.value.problem
    assert raised.value.hint == "look at its text: burnish compile --dump DIR"
    assert not (tmp_path / "c").exists()


def test_a_listing_tells_what_a_kernel_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_card(monkeypatch)
    compiled(MIXED, tmp_path)
    source = next((tmp_path / "c" / KERNELS).glob("*.py")).read_text()
    backend = open_backend("cuda: sm_90", 1)
    assert isinstance(backend, GpuBackend)
    suffix, text = backend.listing(source)
    assert suffix == ".json"
    assert json.loads(text)["registers"] > 0


def plan_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Return the plan of a folder that the loader has found to be sound."""
    monkeypatch.setattr(runner, "_OPEN", [FakeDriver()])
    with burnish.load(folder, threads=1) as model:
        return model.compiled.plans[0]


def test_a_kernel_that_would_leave_its_tensors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of("product")
    group = Group(graph.ops, graph.outputs)
    schedule = Schedule(group.anchor.shape, settings={"m": 16, "n": 16, "k": 16})
    assert backend.open_gpu("sm_90", 1).emit(group, schedule, graph, layouts={})
    monkeypatch.setattr(backend, "breaches", lambda kernel, _: bounds.breaches(kernel, SMALL))
    with pytest.raises(ModelError, match="a kernel would leave its tensors: product_") as caught:
        backend.open_gpu("sm_90", 1).emit(group, schedule, graph, layouts={})
    assert "--fusion none" in (caught.value.hint or "")
