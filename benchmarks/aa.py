"""Compare a model with itself many times: how often is a difference claimed that is not there?

Each comparison has its own fresh processes; none of the samples is used twice.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnx.helper

from burnish.bench.measure import Comparison, Verdict
from burnish.bench.run import bench
from burnish.bench.subject import BenchOptions, BenchSubject
from burnish.core import units
from burnish.feeds.feed import Feeds
from burnish.store.stored import StoredModel

WIDTH = 256
ROWS = 64
LAYERS = 4
ALLOWED = 0.05


def main() -> int:
    """Run the comparisons, print the count of each verdict, and fail above 5 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=3)
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="burnish-aa-") as folder:
        model = write_model(Path(folder) / "layers.onnx")
        found = [
            shown(compared(model, seed, asked.rounds, asked.blocks), seed)
            for seed in range(asked.comparisons)
        ]
    return summary(found, time.monotonic() - began)


def write_model(path: Path) -> StoredModel:
    """Write a few dense layers: large enough to use all threads, small enough for about 1 ms."""
    dice = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for layer in range(LAYERS):
        weight = dice.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)).astype(np.float32)
        weights.append(onnx.numpy_helper.from_array(weight, f"w{layer}"))
        nodes.append(onnx.helper.make_node("MatMul", [value, f"w{layer}"], [f"m{layer}"]))
        value = f"r{layer}" if layer < LAYERS - 1 else "y"
        nodes.append(onnx.helper.make_node("Relu", [f"m{layer}"], [value]))
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [ROWS, WIDTH])
        for name in ("x", "y")
    ]
    graph = onnx.helper.make_graph(nodes, "layers", ends[:1], ends[1:], weights)
    opset = onnx.helper.make_opsetid("", 18)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return StoredModel(path, "layers")


def compared(model: StoredModel, seed: int, rounds: int, blocks: int) -> Comparison:
    """Compare the model with itself once."""
    subjects = [BenchSubject(name, model, "onnxruntime-cpu") for name in ("first", "second")]
    feeds = Feeds({"x": np.ones((ROWS, WIDTH), np.float32)}, {})
    options = BenchOptions(rounds=rounds, blocks=blocks, block_s=0.015, seed=seed, budget_s=600)
    return bench(subjects, feeds, options).comparisons[0]


def shown(comparison: Comparison, seed: int) -> Comparison:
    """Print one comparison and return it."""
    ratios = [f"{ratio:.3f}" for ratio in comparison.round_ratios]
    low, high = comparison.low or 0.0, comparison.high or 0.0
    interval = f"[{low:.3f}, {high:.3f}]"
    found = f"{comparison.verdict.value}  {comparison.reason}"
    print(f"{seed:4d}  {' '.join(ratios)}  {interval}  {found}", flush=True)
    return comparison


def summary(found: list[Comparison], elapsed_s: float) -> int:
    """Print how often each verdict was given; return 1 if too often a difference."""
    verdicts = Counter(comparison.verdict for comparison in found)
    for verdict in Verdict:
        share = units.share(verdicts[verdict] / len(found))
        print(f"{verdict.value:22} {verdicts[verdict]:4d}  {share}")
    claims = verdicts[Verdict.FASTER] + verdicts[Verdict.SLOWER]
    effects = sorted(one.minimum_detectable_effect or 0.0 for one in found)
    print(
        f"{claims} of {len(found)} claim a difference ({units.share(claims / len(found))}, "
        f"allowed {units.share(ALLOWED)}); median minimum detectable effect "
        f"{units.share(effects[len(effects) // 2])}; took {elapsed_s:.0f} s"
    )
    return int(claims > ALLOWED * len(found))


if __name__ == "__main__":
    raise SystemExit(main())
