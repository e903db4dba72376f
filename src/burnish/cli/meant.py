"""What an option means that other tools have and burnish spells otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.core.nearest import nearest

_ELSEWHERE: Mapping[str, Sequence[str]] = {
    "--shape batch=8": ("--batch", "--batch-size", "--batch_size", "--bs"),
    "--shape sequence=128": ("--sequence", "--seq", "--seq-len", "--sequence-length", "--length"),
    "--past-length 128": ("--past", "--past-sequence-length", "--past_sequence_length"),
    "--precision f16": ("--fp16", "--float16", "--half"),
    "--precision bf16": ("--bf16",),
    "--precision i8": ("--int8", "--quantize"),
    "--engine": ("--provider", "--ep", "--backend", "--device", "--execution-provider"),
    "--target cuda": ("--gpu", "--use-gpu", "--use_gpu", "--cuda"),
    "--runs": ("--iterations", "--iters", "--repeat", "--repetitions", "--num-runs"),
    "--rounds": ("--runs", "--iterations", "--iters", "--repeat", "--repetitions"),
    "--budget 60s": ("--time", "--timeout", "--duration", "--max-time"),
    "--output": ("--out", "--dst", "--destination", "--save", "--save-model"),
    "--data": ("--inputs", "--feeds", "--load-inputs"),
    "--disable": ("--skip", "--exclude", "--skip-fusions"),
    "--trial": ("--check",),
    "--no-trial": ("--no-check",),
    "--measure": ("--check",),
    "--cast": ("--precision",),
    "--atol": ("--tol", "--tolerances"),
    "--threads": ("--num-threads", "--intra-op", "--intra-op-threads"),
}
"""What to write here, by what people write elsewhere; the first that the command has is meant."""


def meant_by(option: str, known: Sequence[str]) -> str | None:
    """Return what to write in place of an unknown option of a command; None: nobody knows."""
    for here, elsewhere in _ELSEWHERE.items():
        if option.lower() in elsewhere and here.partition(" ")[0] in known:
            return here
    return nearest(option, known, likeness=0.75)  # dashes make any two options alike
