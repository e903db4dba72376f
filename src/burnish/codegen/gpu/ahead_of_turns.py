"""Loads for the next turn of a loop over blocks, begun before this one is computed.

Triton fetches ahead what a product reads, if it comes in at least four bytes at once. Scores that
rows of odd length are shifted by (positions relative to each other), and masks, do not: each turn
would wait for them. They are loaded into registers one turn before.
"""

from __future__ import annotations

import re

from burnish.codegen.gpu.products import ProductLoop
from burnish.codegen.gpu.writer import KernelWriter

NARROW = 24.0
"""Operations that an element costs which is loaded in fewer than four bytes (64 by 64 of them added
0.7 us to a step of four warps, 32 by 128 0.44, an H200)."""
_NAME = re.compile(r"[A-Za-z_]\w*")


def run_ahead(writer: KernelWriter, loop: ProductLoop, step: str) -> None:
    """Rewrite the loop that is being written: what is loaded in few bytes runs one turn ahead.

    What depends on more than the turn, as on a place that is loaded first, stays where it is. The
    last turn loads what it has once more.
    """
    if not step or loop.scalars:
        return
    body, outer = writer.scopes[-1].lines, writer.scopes[-2].lines
    k = writer.blocks[loop.k].name
    own = {line.partition(" = ")[0] for line in body} - {k}
    places = [
        place for place, line in enumerate(body) if _runs_ahead(writer, line, k, own - {step})
    ]
    if not places:
        return
    count = next(line for line in body if line.startswith(f"{k} = "))
    first, following = writer.fresh(f"{k}_first"), writer.fresh(f"{k}_next")
    place = count.partition(" = ")[2]
    outer.append(f"{first} = {_renamed(place, step, '0')}")
    later = f"tl.minimum({step} + 1, {loop.steps - 1})"
    fetched = [f"{following} = {_renamed(place, step, later)}"]
    for at in places:
        name, _, text = body[at].partition(" = ")
        ahead = writer.fresh(f"{name}_ahead")
        writer.tally.lane_operations += NARROW * writer.narrow[name] * loop.steps
        outer.append(f"{ahead} = {_renamed(text, k, first)}")
        body[at] = f"{name} = {ahead}"
        fetched.append(f"{ahead} = {_renamed(text, k, following)}")
    taken = [body[at] for at in places]
    kept = [line for at, line in enumerate(body) if at not in places and line != count]
    body[:] = [count, *taken, *fetched, *kept]


def _runs_ahead(writer: KernelWriter, line: str, k: str, own: set[str]) -> bool:
    name, _, text = line.partition(" = ")
    if name not in writer.narrow or not text.startswith("tl.load("):
        return False
    used = set(_NAME.findall(text))
    return k in used and not used & own


def _renamed(text: str, name: str, other: str) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", other, text)
