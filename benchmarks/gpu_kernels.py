"""Emitted Triton kernels for zoo models on a GPU, against PyTorch in CUDA graphs, interleaved.

    python benchmarks/gpu_kernels.py --cases nerf-mlp,vit-s32:1,vit-s32:64|unseen|breadth
        [--modes eager,default,default+channels-last,ort,ort-rewritten] [--autotune vit-s32:1]
        [--ablate vit-s32:1] [--late vit-s32:1] [--out FOLDER]

Needs an NVIDIA GPU, torch and triton. Each case has a process of its own (`gpu_case.py`): it is
exported, lowered, grouped and emitted, kernels are compiled, run, and compared with fp32 eager; all
of this side by side. Then one after the other has the card for itself: its graph is replayed in
turns with the baselines, every kernel is timed, and other blocks of the slow ones are tried. Dozens
of cases have no room beside each other: `--as-ready` measures each when it is prepared, while
others still are. A case that fails or takes too long is told, and costs no other. One JSON for all,
written as it goes, and a table. `--dry` stops before anything is run, and needs no GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ALL = (
    "restormer,swin-t:64,conformer:64,mobilevit-s:64,mobilenet-v2:64,nafnet:64,mobilevit-s:1,"
    "swin-t:1,bsrn,nafnet:1,bert-base:64,bert-base:32@512,vit-s32:64,conformer:1,mobilenet-v2:1,"
    "nerf-mlp,bert-base:1,vit-s32:1"
)
"""The issue's table and BERT-base at (32,512); what takes long to prepare is begun first."""
UNSEEN = (
    "timm.swinv2_tiny_window8_256,timm.fastvit_t8,timm.coat_tiny,timm.efficientnet_b0,"
    "timm.densenet121,timm.regnety_008,timm.mobilenetv3_large_100,timm.levit_128s,"
    "timm.convnext_tiny,timm.poolformer_s12,timm.mobileone_s0,timm.mixer_s16_224,"
    "timm.deit3_small_patch16_224,timm.resnet50,networks.segformer_b0,networks.edsr,"
    "networks.wavenet,wav2vec2,dinov2,gpt2,t5-encoder,roberta,distilbert,whisper-encoder,unet"
)
"""What nothing was made on (`gpu_unseen.py`), and models of the zoo that Welder's table lacks."""
BREADTH = {
    "breadth_fields": "fourier siren tensorf",
    "breadth_images": (
        "inception shufflenet ghostnet resnext50 detector hrnet sam_encoder focalnet detr"
    ),
    "breadth_pictures": "cyclegan stylegan raft unet3d latent_diffusion dit",
    "breadth_signals": (
        "wav2vec_conformer hifigan demucs pointnet dgcnn dlrm gat messages tacotron_step encodec"
    ),
    "breadth_tokens": (
        "llama_step llama_chunk qwen3_step gemma3_step mixtral_step llama_prefill "
        "deberta xlnet fnet mamba rwkv perceiver retnet t5_step"
    ),
}
"""Networks for mechanisms that nothing else here has, by their files."""
SETS = {
    "unseen": UNSEEN,
    "breadth": ",".join(f"{f}.{name}" for f, names in BREADTH.items() for name in names.split()),
}
"""What `--cases` may name at once."""
OWN = ("cases", "prepare_s", "measure_s", "at_once", "as_ready", "out")
"""Options of this script that `gpu_case.py` does not have."""
PLANS = ("none", "element-wise", "full+late", "full+bare", "full")
"""Plans from many kernels to few; behind `+` is how kernels are started (`STARTS`)."""
TO_SAY = 10.0
"""Seconds that a case has left to say that it is ready when a baseline is not."""


@dataclass
class Child:
    """A case in its process."""

    case: str
    file: Path
    process: subprocess.Popen[str]
    begun: float = field(default_factory=time.monotonic)

    def told(self) -> dict[str, Any]:
        """Return what is known of the case."""
        try:
            found: dict[str, Any] = json.loads(self.file.read_text())
        except (OSError, ValueError):
            return {"case": self.case}
        return found

    def stop(self, why: str) -> None:
        """End the process; the file says why."""
        self.process.kill()
        self.process.wait()
        self.file.write_text(json.dumps({"failed": why, **self.told()}))


def started(case: str, asked: argparse.Namespace, said: queue.Queue[tuple[str, str]]) -> Child:
    """Return a case that is being prepared; what it says goes into the queue."""
    label = case.replace(":", "_b").replace("@", "s")
    file = Path(asked.folder) / f"{label}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    options = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in vars(asked).items()
        if name not in OWN and value not in (False, "")
    ]
    command = [sys.executable, str(Path(__file__).with_name("gpu_case.py")), case, *options]
    # so many processes at once, each with a pool of its own, would only stand in each other's way
    few = {"TORCHINDUCTOR_COMPILE_THREADS": "2", "OMP_NUM_THREADS": "2"}
    with (file.parent / f"{label}.log").open("w") as log:
        process = subprocess.Popen(
            [*command, f"--out={file}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=log, text=True, env={**os.environ, **few},
        )  # fmt: skip

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            said.put((case, line.strip()))
        said.put((case, "end"))

    threading.Thread(target=listen, daemon=True).start()
    return Child(case, file, process)


def prepare(
    asked: argparse.Namespace, children: dict[str, Child], ready: queue.Queue[Child | None]
) -> None:
    """Prepare all cases side by side; those that are ready go into the line, and nothing last."""
    said: queue.Queue[tuple[str, str]] = queue.Queue()
    waiting = SETS.get(asked.cases, asked.cases).split(",")
    busy: set[str] = set()
    end = time.monotonic() + asked.prepare_s
    while waiting or busy:
        while waiting and len(busy) < asked.at_once:
            case = waiting.pop(0)
            children[case] = started(case, asked, said)
            busy.add(case)
        try:
            case, word = said.get(timeout=max(end - time.monotonic(), 0.01))
        except queue.Empty:
            break
        if word not in ("ready", "end"):
            continue
        if case not in busy:
            continue
        busy.discard(case)
        if word == "ready":
            ready.put(children[case])
        took = time.monotonic() - children[case].begun
        print(f"{case}: {word} after {took:.0f} s", flush=True)
    for case in busy:
        children[case].stop(f"not prepared within {asked.prepare_s} s")
    ready.put(None)


def measured(child: Child, limit_s: float) -> None:
    """Give the card to a case, when nobody else times on it."""
    from burnish.bench.on_card import alone_on

    with alone_on("cuda:0"):
        try:
            child.process.communicate("go\n", timeout=limit_s)
        except subprocess.TimeoutExpired:
            child.stop(f"not measured within {limit_s} s")


def row(told: dict[str, Any]) -> str:
    """Return a line of the table."""
    full = told.get("full", {})
    if "speedup" not in told:
        alone = [f"{told['ms']['full']:.3f} ms alone"] if "full" in told.get("ms", {}) else []
        reason = str(told.get("failed", "no baseline")).strip().splitlines()[-1][-160:]
        return f"| {told['case']} | {'; '.join([*alone, reason])} |"
    ms, (ratio, low, high) = told["ms"], told["speedup"]
    ablation = " / ".join(f"{ms[n]:.3f}" for n in PLANS if n in ms)
    error = told.get("tuned", full)["error"]
    memory = told["baseline_bytes"].get(told["best"]) or 0
    return " | ".join((
        f"| {told['case']}", f"{ms[told['ours']]:.3f}", f"{ms[told['best']]:.3f} {told['best']}",
        f"**{ratio:.2f}** ({low:.2f} – {high:.2f})", ablation,
        f"{full['predicted_us'] / 1e3:.3f} / {full['floor_us'] / 1e3:.3f}", str(full["kernels"]),
        f"{error:.1e} ({told['eager_error']:.1e})",
        f"{full['memory_bytes'] / 1e6:.0f} / {memory / 1e6:.0f}",
        f"{full['plan_s'] + full['compile_s']:.0f} |",
    ))  # fmt: skip


def baselines(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a table of what every baseline took, or why it did not."""
    every = [{**told.get("baseline_s", {}), **told.get("failing", {})} for told in results]
    modes = list(dict.fromkeys(mode for each in every for mode in each))
    yield "| case | " + " | ".join(modes) + " |"
    yield "|---|" + "--:|" * len(modes)
    for told in results:
        ms, failing = told.get("ms", {}), told.get("failing", {})
        cells = (f"{ms[m]:.3f}" if m in ms else failing.get(m, "–")[-60:] for m in modes)
        yield " | ".join((f"| {told['case']}", *cells)) + " |"


HEAD = (
    "| case | ours ms | best baseline ms | times faster (95 %) | by fusion ms |"
    " predicted / floor ms | kernels | error (eager's) | MB ours / theirs | plan and compile s |\n"
    "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
)


def options() -> argparse.ArgumentParser:
    """Return what the command line may have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", default=ALL)
    parser.add_argument("--modes", default="eager,default")
    parser.add_argument("--fusions", default="full", help="full, element-wise, none")
    parser.add_argument("--tune", type=int, default=2, help="other blocks to time for a group")
    parser.add_argument("--known", default="", help="what is known of groups, as JSON")
    parser.add_argument("--ablate", default="", help="cases that are run less fused, too")
    parser.add_argument("--late", default="", help="cases whose kernels also wait for each other")
    parser.add_argument("--autotune", default="", help="cases that PyTorch tunes for minutes, too")
    parser.add_argument("--flash", default="", help="cases whose attention is PyTorch's own, too")
    parser.add_argument("--ort-site", default="/tmp/ort_site", help="where onnxruntime-gpu is")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("--processes", type=int, default=4, help="that compile, for each case")
    parser.add_argument("--prepare-s", type=float, default=400)
    parser.add_argument("--measure-s", type=float, default=60, help="for each case")
    parser.add_argument("--at-once", type=int, default=18)
    parser.add_argument("--as-ready", action="store_true", help="measure while others prepare")
    parser.add_argument("--folder", default="/tmp/burnish_gpu_kernels")
    parser.add_argument("--out", default=os.environ.get("OUT", "out"))
    return parser


def main() -> None:
    """Prepare the cases, measure them one after the other, print the table."""
    asked = options().parse_args()
    asked.until = time.time() + asked.prepare_s - TO_SAY
    out = Path(asked.out)
    out.mkdir(parents=True, exist_ok=True)
    children: dict[str, Child] = {}
    ready: queue.Queue[Child | None] = queue.Queue()

    def write() -> list[dict[str, Any]]:
        results = [child.told() for child in list(children.values())]
        (out / "gpu_kernels.json").write_text(json.dumps(results))
        return results

    def measure() -> None:
        while (child := ready.get()) is not None:
            measured(child, asked.measure_s)
            write()
            print(row(child.told()), flush=True)

    measuring = threading.Thread(target=measure)
    if asked.as_ready:
        measuring.start()
    prepare(asked, children, ready)
    if not asked.as_ready:
        write()
        measuring.start()
    measuring.join()
    results = write()
    print(HEAD, *map(row, results), "", *baselines(results), sep="\n")


if __name__ == "__main__":
    main()
