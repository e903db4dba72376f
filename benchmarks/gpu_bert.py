"""BERT-base in fp16 on a GPU: burnish's rewrite against ONNX Runtime's own optimizer and PyTorch.

python benchmarks/gpu_bert.py [--folder DIR] [--large 32,512] [--small 1,128]

Needs an NVIDIA GPU, onnxruntime-gpu and torch. The larger shape is measured with dynamic sizes;
the smaller one with sizes fixed at export, so that a CUDA graph can be captured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

NAME = "bert-base"
ENGINES = "onnxruntime-cuda,torch-eager,torch-compile"


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
    burnish("optimize", original, "-o", ours, "--target", "cuda", "--no-verify", "--no-check")
    burnish("verify", original, ours, "--engine", "onnxruntime-cuda", "--samples", 2)
    optimized_by_onnxruntime(original, theirs)
    return original, ours, theirs


def main() -> None:
    """Measure both shapes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/burnish-gpu"))
    parser.add_argument("--large", default="32,512")
    parser.add_argument("--small", default="1,128")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    batch, sequence = asked.large.split(",")
    shape = f"batch={batch},sequence={sequence}"
    rounds = ("--rounds", asked.rounds)
    models = prepared(asked.folder, "dynamic")
    burnish("bench", *models, "--engine", ENGINES, "--shape", shape, *rounds)
    batch, sequence = asked.small.split(",")
    sizes = ("--static", "--batch", batch, "--sequence", sequence)
    models = prepared(asked.folder, "static", *sizes)
    burnish("bench", *models, "--engine", ENGINES, "--cuda-graph", "--allow-fallback", *rounds)


if __name__ == "__main__":
    main()
