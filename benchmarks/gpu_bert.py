"""BERT-base in fp16 on a GPU: burnish's rewrite against ONNX Runtime's own optimizer and PyTorch.

python benchmarks/gpu_bert.py [--folder DIR] [--large 32,512] [--small 1,128] [--only PART]

Needs an NVIDIA GPU, onnxruntime-gpu and torch. The larger shape is measured with dynamic sizes,
and with sizes fixed at export, so that a CUDA graph can be captured; the smaller one with fixed
sizes. PyTorch is measured as the export spells it, and once more with its fused attention: as it
is, compiled, and compiled with CUDA graphs (mode reduce-overhead).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

NAME = "bert-base"
CUDA = "onnxruntime-cuda"
ENGINES = f"{CUDA},torch-eager,torch-compile"
PARTS = ("dynamic", "graph", "torch", "small")
TORCH_MODES = ("eager", "default", "reduce-overhead")
CALLS = 200


def burnish(*words: object) -> None:
    """Run a burnish command and let it print; a failure is shown and does not end the script."""
    command = [sys.executable, "-m", "burnish", "-q", *map(str, words)]
    print("$ burnish", *words, flush=True)
    subprocess.run(command, check=False)


def optimized_by_onnxruntime(source: Path, target: Path) -> None:
    """Write what ONNX Runtime's Python optimizer makes of a model, told all it wants to know."""
    from onnxruntime.transformers import optimizer

    model = optimizer.optimize_model(
        str(source), model_type="bert", num_heads=12, hidden_size=768, opt_level=1, use_gpu=True
    )
    model.save_model_to_file(str(target))
    print("onnxruntime.transformers fused:", model.get_fused_operator_statistics(), flush=True)


def prepared(folder: Path, store: str, *export: object) -> tuple[Path, Path, Path]:
    """Export once, rewrite twice; return the original, ours and theirs."""
    place = folder / store
    burnish("export", NAME, "--exporter", "torchscript", "-p", "fp16", "--store", place, *export)
    original = next(place.rglob("*.onnx"))
    ours, theirs = folder / f"{store}_burnish.onnx", folder / f"{store}_ort_tool.onnx"
    burnish("optimize", original, "-o", ours, "--target", "cuda", "--no-verify", "--no-trial")
    burnish("verify", original, ours, "--engine", CUDA, "--samples", 2)
    optimized_by_onnxruntime(original, theirs)
    return original, ours, theirs


def with_graph(folder: Path, store: str, shape: str, engines: str, rounds: int) -> None:
    """Measure at fixed sizes, ONNX Runtime with a CUDA graph."""
    batch, sequence = shape.split(",")
    models = prepared(folder, store, "--static", "--batch", batch, "--sequence", sequence)
    asked = ("--cuda-graph", "--allow-fallback", "--rounds", rounds)
    burnish("bench", *models, "--engine", engines, *asked)


def torch_alone(shape: str, rounds: int) -> None:
    """Print what PyTorch takes with its fused attention, in fresh processes, in turns."""
    found: dict[str, list[float]] = {mode: [] for mode in TORCH_MODES}
    for _ in range(rounds):
        for mode in TORCH_MODES:
            command = [sys.executable, __file__, "--torch-mode", mode, "--large", shape]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            found[mode].append(float(said.split()[-1]))
    for mode, medians_ms in found.items():
        print(
            f"torch {mode}, fused attention, ({shape}): {statistics.median(medians_ms):.2f} ms"
            f" ({min(medians_ms):.2f} - {max(medians_ms):.2f} in {rounds} processes)", flush=True,
        )  # fmt: skip


def torch_median_ms(mode: str, shape: str) -> float:
    """Return the median of blocking calls of the module, its inputs and results on the GPU."""
    import torch

    from burnish.zoo.entry import MODELS, NetworkOptions

    batch, sequence = map(int, shape.split(","))
    options = NetworkOptions(attention="sdpa", precision="fp16", batch=batch, sequence=sequence)
    built = MODELS[NAME].build(options)
    module = built.module.cuda()
    inputs = {name: tensor.cuda() for name, tensor in built.inputs.items()}
    call: Callable[..., object] = module if mode == "eager" else torch.compile(module, mode=mode)
    samples_s = []
    with torch.inference_mode():
        for _ in range(CALLS):
            began = time.perf_counter()
            call(**inputs)
            torch.cuda.synchronize()
            samples_s.append(time.perf_counter() - began)
    return 1e3 * statistics.median(samples_s[CALLS // 4 :])


def main() -> None:
    """Measure all parts, or those asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/burnish-gpu"))
    parser.add_argument("--large", default="32,512")
    parser.add_argument("--small", default="1,128")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", default=ENGINES)
    parser.add_argument("--only", choices=PARTS, action="append")
    parser.add_argument("--torch-mode", choices=TORCH_MODES, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.torch_mode:
        print(torch_median_ms(asked.torch_mode, asked.large))
        return
    parts = asked.only or PARTS
    if "dynamic" in parts:
        batch, sequence = asked.large.split(",")
        shape = ("--shape", f"batch={batch},sequence={sequence}", "--rounds", asked.rounds)
        burnish("bench", *prepared(asked.folder, "dynamic"), "--engine", asked.engines, *shape)
    if "graph" in parts:
        with_graph(asked.folder, "static", asked.large, CUDA, asked.rounds)
    if "torch" in parts:
        torch_alone(asked.large, asked.rounds)
    if "small" in parts:
        with_graph(asked.folder, "small", asked.small, asked.engines, asked.rounds)


if __name__ == "__main__":
    main()
