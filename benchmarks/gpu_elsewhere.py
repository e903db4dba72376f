"""Baselines of `gpu_case.py` in a process of their own, timed when asked to.

    python benchmarks/gpu_elsewhere.py bert-base:1 max-autotune-no-cudagraphs --folder FOLDER
    python benchmarks/gpu_elsewhere.py bert-base:1 ort,ort-rewritten --folder FOLDER

What compiles for minutes, or brings libraries that do not go with others, harms nobody here. Says
in one line of JSON of each baseline how near its results are, or why there is none; then answers
each name and number of calls with the median milliseconds of so many replays. ONNX Runtime runs the
export (`ort`), or what burnish makes of it (`ort-rewritten`): `gpu_case.py` has written both, with
inputs and results.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import selectors
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from gpu_plan import Case, build, parse_case
from gpu_timing import baseline, captured, emptied, error_of, memory_beside, timed, timed_in

Tensor = Module = Any
"""Of torch."""
Timer = Callable[[int], float]
"""Returns the median milliseconds of so many replays."""
ORT = {"ort": "model.onnx", "ort-rewritten": "rewritten.onnx"}
"""How ONNX Runtime's rows are called, and which file each runs."""
TENSORS = "tensors.pt"
AUTOTUNED = "max-autotune-no-cudagraphs"
"""Captured by hand, as all others are."""
TUNING = "4"
"""Processes that compile for it, where others have two: it takes longest."""
FLASH = "default+flash"
"""What is compiled once is not compiled anew for another attention in the same process."""
ELSEWHERE = (*ORT, AUTOTUNED, FLASH)
FARTHEST = 0.05
"""Relative error beyond which a baseline computes something else."""


class Elsewhere:
    """Baselines that another process runs."""

    def __init__(
        self, case: str, modes: Sequence[str], folder: Path, ort_site: str, *, small: bool
    ) -> None:
        words = [sys.executable, __file__, case, ",".join(modes), f"--folder={folder}"]
        words += ["--small"] if small else []
        paths = [ort_site] if ORT.keys() & set(modes) else []
        paths += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
        wide = {"TORCHINDUCTOR_COMPILE_THREADS": TUNING} if AUTOTUNED in modes else {}
        self.modes, self._log = modes, folder / f"{modes[0]}.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **wide},
            )  # fmt: skip

    def ready(self, until: float) -> dict[str, dict[str, Any]]:
        """Return what it says of each baseline; one that is not ready in time is ended."""
        if said := self._line(until):
            found: dict[str, dict[str, Any]] = json.loads(said)
            return found
        self.stop()
        last = self._log.read_text().strip().splitlines()[-1:] or ["nothing was said"]
        return {mode: {"failed": f"not ready in time: {last[0]}"} for mode in self.modes}

    def timed(self, mode: str, calls: int) -> float:
        """Return the median milliseconds of so many replays; without an answer, too many."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{mode} {calls}\n")
            self._process.stdin.flush()
        except BrokenPipeError:  # it has ended: others go on
            return math.inf
        return float(self._line(time.time() + 60) or math.inf)

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # of what nobody will read
                pipe.close()

    def _line(self, until: float) -> str:
        """Return the next line; empty: none came in time, or none will."""
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
    options = {
        "enable_cuda_graph": "1", "user_compute_stream": str(stream.cuda_stream),
        # what it takes is what it needs: other cases wait beside it with theirs
        "arena_extend_strategy": "kSameAsRequested",
    }  # fmt: skip
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

    def timer(calls: int) -> float:
        assert binding, (inputs, outputs)  # given back, they would be read all the same
        return timed_in(run, stream, calls)

    return timer


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


def prepared(mode: str, asked: argparse.Namespace) -> tuple[Timer | None, dict[str, Any]]:
    """Return a baseline's timer and what is to be said of it; a failure is said, too."""
    begun = time.monotonic()
    try:
        if mode in ORT:
            timer, told = onnxruntime_of(mode, asked.folder)
        else:
            timer, told = pytorch_of(mode, parse_case(asked.case), small=asked.small)
    except Exception as error:
        traceback.print_exc()
        return None, {"failed": f"{type(error).__name__}: {error}"[-300:]}
    return timer, {"seconds": time.monotonic() - begun, **told}


def main() -> None:
    """Prepare, say so, and answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("modes")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--small", action="store_true")
    asked = parser.parse_args()
    # what libraries print must not be taken for an answer
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        found = {mode: prepared(mode, asked) for mode in asked.modes.split(",")}
        said = {mode: told for mode, (_, told) in found.items()}
        emptied()
        print(json.dumps(said), file=answers, flush=True)
        for line in sys.stdin:
            mode, calls = line.split()
            timer = found[mode][0]
            assert timer is not None
            print(timer(int(calls)), file=answers, flush=True)


if __name__ == "__main__":
    main()
