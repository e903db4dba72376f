"""What a model declares of its outputs, held against what its plans give."""

from __future__ import annotations

from collections.abc import Iterable

from burnish.codegen.place import BuiltPlan
from burnish.core.errors import ModelError
from burnish.runtime.folder import About
from burnish.runtime.soundness import fits


def require_declared(about: About, built: Iterable[BuiltPlan]) -> None:
    """Raise if a model declares an output of another shape than it has."""
    for each in built:
        for spec in about.outputs:
            tensor = each.plan.tensors.get(spec.name)
            shape = None if tensor is None else tensor.shape
            if shape is not None and not fits(shape, spec):
                raise ModelError(
                    f"{about.source}: declares its output {spec}, and gives {list(shape)}",
                    hint="correct what it declares, or export it again",
                )
