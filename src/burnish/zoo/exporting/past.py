"""What a decoder with past is tried on beyond two shapes: random lengths, and writing text."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnish.core.arrays import Array, Arrays
from burnish.zoo.decoders import step_inputs
from burnish.zoo.entry import BuiltModel, NetworkOptions, Tensors
from burnish.zoo.exporting.recording import array_of, recorded
from burnish.zoo.generation import LOGITS, TOKENS, follow, greedy
from burnish.zoo.precision import cast

_PROMPT = 5
_RANDOM_SHAPES = 3


@dataclass(frozen=True, slots=True)
class Generation:
    """What PyTorch writes after a prompt, and the logits it chose each token from."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    logits: NDArray[np.float32]


def further_inputs(built: BuiltModel, options: NetworkOptions) -> tuple[Tensors, ...]:
    """Return inputs of random batch, length and past, and first of all some without any past."""
    chance = random.Random(options.seed)
    shapes = [(1, _PROMPT, 0)]
    shapes += [
        (chance.randint(1, 4), chance.randint(1, 7), chance.randint(1, 20))
        for _ in range(_RANDOM_SHAPES)
    ]
    return tuple(
        cast(
            step_inputs(built.module.model, options, batch=batch, new=new, past=past, side="left"),
            options.precision,
        )
        for batch, new, past in shapes
    )


def generate(built: BuiltModel) -> Generation | None:
    """Return what the library's own generation writes; None for a model without logits."""
    if built.output_names[0] != LOGITS:
        return None
    import torch

    prompt = built.inputs["input_ids"][:1, :_PROMPT]
    words = tuple(prompt[0].tolist())
    past = empty_past(built)
    tokens = _library_tokens(built, prompt)

    def step(feeds: dict[str, Array]) -> Arrays:
        tensors = {
            name: torch.from_numpy(_native(array)).to(built.inputs[name].dtype)
            for name, array in feeds.items()
        }
        return recorded(built, tensors).outputs

    if tokens is None:
        tokens = greedy(step, words, past).tokens
    return Generation(words, tokens, follow(step, words, past, tokens).logits)


def _native(array: Array) -> Array:
    """Return a copy in a type that NumPy itself has: f32 for bf16."""
    return np.array(array) if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def empty_past(built: BuiltModel) -> Arrays:
    """Return keys and values of no token at all, for one sequence."""
    return {
        name: array_of(tensor[:1, :, :0].float())
        for name, tensor in built.inputs.items()
        if name.startswith("past_")
    }


def _library_tokens(built: BuiltModel, prompt: Any) -> tuple[int, ...] | None:  # noqa: ANN401
    """Return what `transformers` generates; None: the module has no generation of its own."""
    import torch

    model = built.module.model
    if not getattr(model, "can_generate", lambda: False)():
        return None
    # no token ends the text, so that 32 are written whatever the weights are
    model.generation_config.eos_token_id = None
    with torch.inference_mode():
        written = model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=TOKENS,
            do_sample=False,
            num_beams=1,
            pad_token_id=0,
        )
    return tuple(written[0, prompt.shape[1] :].tolist())
