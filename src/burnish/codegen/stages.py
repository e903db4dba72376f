"""What a model was after each step of the compiler, as text: for people, and for `diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import onnx_ir as ir

from burnish.codegen.place import BuiltPlan, CompiledRegion, PreparedModel
from burnish.store.element_types import SHORT_NAMES
from burnish.tile.lower import named, operator
from burnish.tile.text import quoted

STEPS = (
    "bind", "rewrite", "lower", "simplify", "partition", "schedule", "emit", "place", "prove",
)  # fmt: skip

_OF_REGIONS: Mapping[str, Callable[[CompiledRegion], tuple[object, ...]]] = {
    "lower": lambda each: (each.lowered,),
    "simplify": lambda each: (each.simple,),
    "partition": lambda each: each.groups,
    "schedule": lambda each: each.choices,
}


def stages(built: BuiltPlan) -> dict[str, str]:
    """Return what there was after each step up to placing, by its name, in order."""
    found = {} if built.prepared is None else first_stages(built.prepared)
    for step, parts in _OF_REGIONS.items():
        found[step] = "\n\n".join(str(part) for each in built.regions for part in parts(each))
    kernels = built.kernels.items()
    found["emit"] = "\n".join(built.headers.get(name, "") + source for name, source in kernels)
    found["place"] = str(built.plan)
    return found


def first_stages(prepared: PreparedModel) -> dict[str, str]:
    """Return what there was after each step that is taken on ONNX."""
    bound = {} if prepared.bound is None else {"bind": model_text(prepared.bound)}
    return {**bound, "rewrite": model_text(prepared.model)}


def model_text(model: ir.Model) -> str:
    """Return an ONNX graph, one node per line."""
    inputs = [f"in {_typed(value)}" for value in model.graph.inputs]
    constants = [f"const {_typed(value)}" for value in model.graph.initializers.values()]
    outputs = [f"out {quoted(value.name or '')}" for value in model.graph.outputs]
    return "\n".join([*inputs, *constants, *outputs, *map(_node_text, model.graph)])


def _node_text(node: ir.Node) -> str:
    given = ", ".join(_typed(value) for value in node.outputs)
    taken = ", ".join("–" if v is None else quoted(v.name or "") for v in node.inputs)
    settings = ", ".join(_attributes(node))
    brackets = f"[{settings}]" if settings else ""
    return f"{given} = {operator(node)}{brackets}({taken})  # {quoted(named(node))}"


def _attributes(node: ir.Node) -> Iterator[str]:
    for name, attribute in node.attributes.items():
        simple = isinstance(attribute.value, (int, float, str, tuple, list))
        yield f"{name}={attribute.value!r}" if simple else f"{name}=…"


def _typed(value: ir.Value) -> str:
    dtype = "?" if value.dtype is None else SHORT_NAMES.get(value.dtype, "?")
    shape = "?" if value.shape is None else ", ".join(str(size) for size in value.shape)
    return f"{quoted(value.name or '')}: {dtype}[{shape}]"
