"""A baseline of `gpu_case.py` in a process of its own, timed when asked to.

    python benchmarks/gpu_elsewhere.py bert-base:1 max-autotune --folder FOLDER
    python benchmarks/gpu_elsewhere.py bert-base:1 ort-rewritten --folder FOLDER

What compiles for minutes, or brings libraries that do not go with others, harms nobody here. Says
in one line of JSON that it is ready and how near its results are, then answers each number of calls
with the median milliseconds of so many replays. ONNX Runtime runs the export (`ort`), or what
burnish makes of it (`ort-rewritten`): `gpu_case.py` has written both, with inputs and results.
"""

from __future__ import annotations

import argparse
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from gpu_plan import Case, build, parse_case
from gpu_timing import baseline, captured, error_of, memory_beside, timed, timed_in

Tensor = Module = Any
"""Of torch."""
Timer = Callable[[int], float]
"""Returns the median milliseconds of so many replays."""
ORT = {"ort": "model.onnx", "ort-rewritten": "rewritten.onnx"}
"""How ONNX Runtime's rows are called, and which file each runs."""
TENSORS = "tensors.pt"
ELSEWHERE = (*ORT, "max-autotune-no-cudagraphs")
FARTHEST = 0.05
"""Relative error beyond which a baseline computes something else."""


class Elsewhere:
    """A baseline that another process runs."""

    def __init__(self, case: str, mode: str, folder: Path, ort_site: str, *, small: bool) -> None:
        words = [sys.executable, __file__, case, mode, f"--folder={folder}"]
        words += ["--small"] if small else []
        paths = [ort_site] if mode in ORT else []
        paths += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        with (folder / f"{mode}.log").open("w") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )  # fmt: skip
        self._log = folder / f"{mode}.log"

    def ready(self, until: float) -> dict[str, Any]:
        """Return what it says when it is ready; `RuntimeError`: it is not, and is ended."""
        said = self._line(until)
        if not said:
            self.stop()
            last = self._log.read_text().strip().splitlines()[-1:] or ["it is not ready in time"]
            raise RuntimeError(last[0])
        found: dict[str, Any] = json.loads(said)
        return found

    def __call__(self, calls: int) -> float:
        """Return the median milliseconds of so many replays."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{calls}\n")
        self._process.stdin.flush()
        return float(self._line(time.time() + 60))

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def _line(self, until: float) -> str:
        """Return the next line; empty: none came in time."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._process.stdout, selectors.EVENT_READ)
            if not waiting.select(max(until - time.time(), 0.01)):
                return ""
        return self._process.stdout.readline().strip()


def ort_timer(file: Path, inputs: dict[str, Tensor], outputs: Sequence[Tensor]) -> Timer:
    """Return what replays a model's CUDA graph in ONNX Runtime; `outputs` are overwritten."""
    import onnxruntime
    import torch

    onnxruntime.preload_dlls()
    stream = torch.cuda.Stream()
    options = {"enable_cuda_graph": "1", "user_compute_stream": str(stream.cuda_stream)}
    session = onnxruntime.InferenceSession(file, providers=[("CUDAExecutionProvider", options)])
    if session.get_providers()[0] != "CUDAExecutionProvider":
        raise RuntimeError("ONNX Runtime has no CUDA provider here")
    binding = session.io_binding()
    for given in session.get_inputs():
        binding.bind_input(given.name, *place_of(inputs[given.name]))
    for made, tensor in zip(session.get_outputs(), outputs, strict=True):
        binding.bind_output(made.name, *place_of(tensor))
    alone = onnxruntime.RunOptions()
    alone.add_run_config_entry("disable_synchronize_execution_providers", "1")
    torch.cuda.synchronize()

    def run() -> None:
        session.run_with_iobinding(binding, alone)

    for _ in range(3):  # the graph is captured by the first ones
        run()
        torch.cuda.synchronize()
    return partial(timed_in, run, stream)


def place_of(tensor: Tensor) -> tuple[Any, ...]:
    """Return where a tensor is, as ONNX Runtime wants it told."""
    kind = np.dtype(str(tensor.dtype).removeprefix("torch."))
    return "cuda", 0, kind, tuple(tensor.shape), tensor.data_ptr()


def onnxruntime_of(mode: str, folder: Path) -> tuple[Timer, dict[str, Any]]:
    """Return ONNX Runtime's timer, and how near its results are."""
    import torch

    known = torch.load(folder / TENSORS)
    inputs = {name: tensor.cuda().contiguous() for name, tensor in known["inputs"].items()}
    outputs = tuple(torch.empty_like(tensor, device="cuda") for tensor in known["outputs"])
    timer = ort_timer(folder / ORT[mode], inputs, outputs)
    timer(1)
    exact = tuple(tensor.cuda() for tensor in known["exact"])
    return timer, {"error": error_of(outputs, exact)}


def pytorch_of(mode: str, case: Case, *, small: bool) -> tuple[Timer, dict[str, Any]]:
    """Return PyTorch's timer, and how much memory it takes; its graph is captured when asked."""
    import torch

    torch.backends.cudnn.allow_tf32 = False
    built = build(case, small=small)
    module = built.module.cuda()
    inputs = tuple(tensor.cuda() for tensor in built.inputs.values())
    run = baseline(module, inputs, mode)
    weights = sum(each.nbytes for each in (*module.parameters(), *module.buffers()))
    graphs: list[Any] = []

    def timer(calls: int) -> float:
        if not graphs:
            torch.backends.cudnn.benchmark = True
            graphs.append(captured(run))
        return timed(graphs[0], calls)

    return timer, {"memory_bytes": memory_beside(run) + weights}


def main() -> None:
    """Prepare, say so, and answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("mode")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    begun = time.monotonic()
    if asked.mode in ORT:
        timer, told = onnxruntime_of(asked.mode, asked.folder)
    else:
        timer, told = pytorch_of(asked.mode, parse_case(asked.case), small=asked.small)
    print(json.dumps({"seconds": time.monotonic() - begun, **told}), flush=True)
    for line in sys.stdin:
        print(timer(int(line)), flush=True)


if __name__ == "__main__":
    main()
