"""A class of the compiler is found by its name: no two have the same, but in two back ends.

What belongs to one back end is never read together with what belongs to another.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "burnish"
PACKAGES = ("codegen", "runtime", "tile", "hw")


def test_no_two_classes_of_the_compiler_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in (path for name in PACKAGES for path in (SOURCE / name).rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(_rooms(found)) > 1} == {}


def _rooms(places: list[str]) -> list[str]:
    """Return the places, those in back ends as one."""
    own = [place for place in places if place.split("/")[1] in ("cpu", "gpu", "cuda")]
    shared = [place for place in places if place not in own]
    twice = len({place.split("/")[1] for place in own}) < len(own)
    return own + shared if twice else shared + own[:1]
