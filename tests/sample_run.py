"""A whole run, made up: what reports are tried on."""

from __future__ import annotations

import dataclasses
import random

from burnish.analyze.breakdown import by_kernel, by_node, by_operator, by_origin
from burnish.analyze.profile import Profile
from burnish.bench.compare import compare
from burnish.bench.measure import (
    BenchReport,
    MachineState,
    Measurement,
    ParityMark,
    Placed,
    ProcessStart,
    Snapshot,
    TimedBlock,
)  # fmt: skip
from burnish.closeness.tolerance import ARITHMETIC
from burnish.core.steps import StepMark
from burnish.parity.report import JudgedSample, TensorDiff, VerifyReport
from burnish.report.record import RunReport
from burnish.rewrite.result import Fusion, Miss, RewriteReport, StepCount
from burnish.trace.attribute import TimeCoverage
from timelines import US, run, span, trace

ORIGINAL, OPTIMIZED = "bert-mini/torchscript", "bert-mini/torchscript_optimized"

BEFORE = {
    "MatMul": (16, 520.0), "Add": (31, 118.0), "Erf": (2, 96.0), "Div": (8, 61.0),
    "Mul": (12, 55.0), "ReduceMean": (10, 48.0), "Pow": (5, 33.0), "Sub": (6, 30.0),
    "Softmax": (2, 41.0), "Transpose": (8, 37.0), "Reshape": (8, 22.0), "Gather": (4, 19.0),
    "Sqrt": (5, 9.0), "Cast": (6, 8.0), "Unsqueeze": (7, 6.0), "Tanh": (1, 4.0),
}  # fmt: skip
AFTER = {
    "MatMul": (16, 515.0), "Add": (11, 44.0), "Gelu": (2, 62.0), "LayerNormalization": (5, 47.0),
    "Softmax": (2, 40.0), "Transpose": (8, 36.0), "Reshape": (8, 21.0), "Gather": (3, 14.0),
    "Div": (2, 12.0), "Mul": (1, 3.0), "Tanh": (1, 4.0), "Cast": (1, 1.0),
}  # fmt: skip


def profile(label: str, operators: dict[str, tuple[int, float]]) -> Profile:
    spans, at = [], 10.0
    for op, (count, micros) in operators.items():
        for number in range(count):
            length = micros / count
            name = f"/bert/encoder/{op}_{number}"
            made = span(name, 0, 0, op=op, nodes=(name,), confidence="exact")
            spans.append(dataclasses.replace(made, start_s=at * US, duration_s=length * US))
            at += length + 1.1
    timeline = trace(run(0, round(at + 15)), *spans)
    total = sum(micros for _, micros in operators.values()) * US
    return Profile(
        label=label,
        engine="onnxruntime-cpu",
        plain_s=total * 0.9,
        by_operator=by_operator(timeline),
        by_node=by_node(timeline),
        by_origin=by_origin(timeline),
        by_layer=by_origin(timeline),
        by_kernel=by_kernel(timeline),
        coverage=TimeCoverage(total, {"exact": total * 0.9, "none": total * 0.1}, unattributed=3),
        source="onnxruntime 1.31.1",
    )


def measurement(
    subject: str, engine: str, center_s: float, *, key: str, failure: str | None = None
) -> Measurement:
    source = random.Random(subject)
    blocks, launches = [], []
    for number in range(0 if failure else 5):
        luck = center_s * source.gauss(1, 0.012)
        launches.append(ProcessStart(number, 0.31, center_s * 9, 40, 0.4, True, 182 * 2**20))
        for cycle in range(4):
            samples = tuple(luck * (1 + abs(source.gauss(0, 0.02))) for _ in range(12))
            blocks.append(TimedBlock(number, cycle, cycle % 2, samples))
    return Measurement(
        subject=subject,
        model_key=key,
        engine=engine,
        options={"graph_level": "all"},
        bindings={"batch": 1, "sequence": 128},
        launches=tuple(launches),
        blocks=tuple(blocks),
        placement=None if failure else Placed("cpu", "f32", {"CPUExecutionProvider": 120}, 2, ()),
        failure=failure,
    )


def machine() -> MachineState:
    moment = Snapshot(
        load_average=0.4,
        busy_s=100.0,
        own_s=50.0,
        stolen_s=0.0,
        quota_stops=0,
        thermal_stops=0,
        on_battery=False,
        gpus=(),
        gpu_processes=0,
    )
    return MachineState(
        cpu="Intel(R) Xeon(R) Platinum 8481C @ 2.70GHz",
        usable_cores=2,
        quota_cores=2.0,
        memory_bytes=8 * 2**30,
        governor="performance",
        turbo=True,
        system="Linux 6.1, Debian 12",
        python="3.11.2",
        versions={"onnx": "1.22.0", "onnxruntime": "1.31.1", "openvino": "2026.1.0"},
        environment={"OMP_NUM_THREADS": "2"},
        date="2026-11-15 04:20:00+00:00",
        elapsed_s=61.0,
        before=moment,
        after=moment,
        warnings=(),
    )


def bench(*, ratio: float = 1.43) -> BenchReport:
    base = measurement(f"{ORIGINAL} onnxruntime-cpu", "onnxruntime-cpu", 1.21e-3, key="a")
    others = (
        measurement(f"{OPTIMIZED} onnxruntime-cpu", "onnxruntime-cpu", 1.21e-3 / ratio, key="b"),
        measurement(f"{OPTIMIZED} openvino", "openvino", 0.74e-3, key="b"),
        measurement(
            f"{OPTIMIZED} torch-compile", "torch-compile", 1e-3, key="b",
            failure="the model has no PyTorch source; see burnish export",
        ),
    )  # fmt: skip
    return BenchReport(
        baseline=base.subject,
        measurements=(base, *others),
        comparisons=compare(base, others),
        machine=machine(),
        seed=0,
        inputs_key="4be1" * 16,
        rerun=f"burnish bench {ORIGINAL} {OPTIMIZED} --engine onnxruntime-cpu,openvino",
        parity={
            base.subject: ParityMark(True, 0.0),
            others[0].subject: ParityMark(True, 4.1e-7),
            others[1].subject: ParityMark(True, 2.3e-6),
        },
    )


def diff(name: str, *, passed: bool = True) -> TensorDiff:
    return TensorDiff(
        name=name,
        dtype="f32",
        elements=128_000,
        max_abs=5.4e-7 if passed else 0.31,
        max_rel=4.1e-7 if passed else 0.28,
        cosine=1.0 if passed else 0.92,
        top1_agreement=1.0 if passed else 0.75,
        worst_index=(0, 17, 402),
        worst_reference=1.25,
        worst_candidate=1.25,
        non_finite_mismatches=0,
        passed=passed,
        reason="" if passed else f"{name}[0, 17, 402] is 0.94, not 1.25",
        severity=0.0041 if passed else 2800.0,
        tolerance=ARITHMETIC["f32"],
    )


def parity(*, passed: bool = True) -> VerifyReport:
    shapes = ({"batch": 1, "sequence": 128}, {"batch": 2, "sequence": 7})
    samples = tuple(
        JudgedSample(str(number), shape, (diff("logits", passed=passed), diff("pooled")))
        for number, shape in enumerate(shapes)
    )
    return VerifyReport(ORIGINAL, OPTIMIZED, "onnxruntime-cpu", "onnxruntime-cpu", samples)


def rewrite() -> RewriteReport:
    gelus = [
        Fusion("gelu", f"/bert/layer.{n}/intermediate/Erf/gelu", "Gelu", ("Div", "Erf", "Add"))
        for n in range(2)
    ]
    norms = [
        Fusion(
            "layer-norm",
            f"/bert/layer.{n}/LayerNorm/layer_norm",
            "LayerNormalization",
            ("ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"),
        )
        for n in range(5)
    ]
    miss = Miss(
        "layer-norm", "/bert/pooler/ReduceMean", "axes of /bert/pooler/ReduceMean are [1], not the"
        " trailing ones", "normalise over the last axes in the model's source",
    )  # fmt: skip
    return RewriteReport(
        fusions=(*gelus, *norms),
        misses=(miss,),
        steps=(StepCount("constant folding", 41), StepCount("duplicate initializers", 6),
               StepCount("identity", 0), StepCount("casts", 5)),
        nodes_before=sum(count for count, _ in BEFORE.values()),
        nodes_after=sum(count for count, _ in AFTER.values()),
        operators_before={op: count for op, (count, _) in BEFORE.items()},
        operators_after={op: count for op, (count, _) in AFTER.items()},
    )  # fmt: skip


def sample_run(*, ratio: float = 1.43, same: bool = True) -> RunReport:
    return RunReport(
        model=ORIGINAL,
        original=ORIGINAL,
        optimized=OPTIMIZED,
        source_key="9f2c" * 16,
        created="2026-11-15 04:21:07 UTC",
        burnish_version="0.1.0",
        command=f"burnish run {ORIGINAL} --engine onnxruntime-cpu,openvino --shape sequence=128",
        rewrite=rewrite(),
        parity=parity(passed=same),
        bench=bench(ratio=ratio),
        profile=(profile(ORIGINAL, BEFORE), profile(OPTIMIZED, AFTER)),
        steps=(StepMark("optimize", 0.42, resumed=True), StepMark("bench", 61.0, resumed=False)),
        files={"optimised model": "model_optimized.onnx", "all numbers": "result.json"},
    )
