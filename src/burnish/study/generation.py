"""Whether an exported decoder writes what PyTorch writes."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.core.errors import CheckFailedError
from burnish.core.units import error as shown
from burnish.engines.base import Session
from burnish.parity.tolerances import ARITHMETIC
from burnish.store.element_types import numpy_type
from burnish.store.interface import Interface
from burnish.study.export_report import GenerationCheck
from burnish.zoo.exporting.past import Generation
from burnish.zoo.generation import follow, greedy

_PAST = "past_"


def check_generation(
    session: Session, interface: Interface, generation: Generation
) -> GenerationCheck:
    """Return what a session writes after PyTorch's prompt, and how it judges PyTorch's tokens."""
    past = _empty_past(interface)
    names = {spec.name for spec in interface.inputs}

    def step(feeds: dict[str, Array]) -> Arrays:
        return session.run({name: feeds[name] for name in feeds if name in names})

    written = greedy(step, generation.prompt, past, tokens=len(generation.tokens))
    followed = follow(step, generation.prompt, past, generation.tokens)
    expected = np.array(generation.tokens)
    chosen = followed.logits.argmax(axis=1)
    rows = np.arange(len(expected))
    regret = generation.logits[rows, expected] - generation.logits[rows, chosen]
    return GenerationCheck(
        expected=generation.tokens,
        written=written.tokens,
        agreeing=int((chosen == expected).sum()),
        max_abs=float(np.abs(followed.logits - generation.logits).max()),
        deviation=float(generation.logits.std()),
        largest_regret=float(regret.max()),
    )


def require_generation(check: GenerationCheck, *, arithmetic: str) -> None:
    """Fail unless the tokens are PyTorch's.

    In f32 all must be. With fewer bits a token may differ where PyTorch itself thinks as much of
    it, within the tolerance of the type; after such a token the texts are no longer comparable,
    so that the choices along PyTorch's text are judged.
    """
    if arithmetic == "f32":
        if check.identical:
            return
        reason = f"{_common(check)} of {len(check.expected)} tokens before they part"
    else:
        allowed = ARITHMETIC[arithmetic].allowance(check.deviation)
        if check.largest_regret <= allowed:
            return
        reason = (
            f"it prefers a token that PyTorch holds {shown(check.largest_regret)} below its own"
        )
    raise CheckFailedError(
        f"the exported model writes other tokens than PyTorch: {reason}",
        hint="try the other --exporter; --no-generation skips this check",
    )


def _common(check: GenerationCheck) -> int:
    pairs = zip(check.expected, check.written, strict=True)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(check.expected))


def _empty_past(interface: Interface) -> dict[str, Array]:
    """Return keys and values of no token, for one sequence, as the model's types want them."""
    return {
        spec.name: np.zeros(
            (1, spec.shape[1], 0, spec.shape[3]),  # type: ignore[arg-type]
            numpy_type(spec.dtype),
        )
        for spec in interface.inputs
        if spec.name.startswith(_PAST)
    }
