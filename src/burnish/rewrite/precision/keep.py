"""Which nodes a user wants to stay in f32: by operator, by name, or by a pattern of names."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

import onnx_ir as ir

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion
from burnish.infer import walk

ASKED = "asked for"
_WILD = frozenset("*?[")


class Asked:
    """The nodes that were named; a name or pattern that names none is an error."""

    def __init__(self, model: ir.Model, names: Collection[str]) -> None:
        self._plain = frozenset(names)
        self._patterns = tuple(name for name in names if _WILD & set(name))
        if names:
            self._require_known(model, names)

    def __contains__(self, node: ir.Node) -> bool:
        if not self._plain:
            return False
        name = node.name or ""
        if node.op_type in self._plain or name in self._plain:
            return True
        return any(fnmatchcase(name, pattern) for pattern in self._patterns)

    def _require_known(self, model: ir.Model, names: Collection[str]) -> None:
        nodes = list(walk.nodes(model))
        known = {name for node in nodes for name in (node.op_type, node.name or "")}
        for name in names:
            if name in known or (
                name in self._patterns and any(fnmatchcase(one, name) for one in known)
            ):
                continue
            raise UsageError(
                f"--keep-fp32: the model has no operator and no node {name!r}",
                hint=suggestion(name, sorted(known)),
            )
