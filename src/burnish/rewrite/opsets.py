"""Declare a newer opset for a model, where every operator in it keeps its meaning.

ONNX's own converter needs the weights in one protobuf, forgets names and leaves bodies of If and
Loop alone. Here a version step of an operator is passed in one of three ways: its schema did not
change beyond new optional parts, or the change is a re-spelling that we make, or we refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

import numpy as np
import onnx_ir as ir

from burnish.infer.walk import graphs
from burnish.operators.record import STANDARD_DOMAINS
from burnish.rewrite.edit import add_initializer

NEWEST_KNOWN = 23
"""Steps up to here have been read one by one; later ones are refused."""

CHANGED_MEANING = frozenset(
    {
        ("GroupNormalization", 21),  # scale and bias per channel, not per group
        ("AveragePool", 19),  # windows that reach over the edge count differently
        ("Resize", 11), ("Resize", 13), ("Resize", 18), ("Resize", 19),  # rounding, cropping
        ("RoiAlign", 16),  # the new attribute's default is not the old behaviour
        ("Scatter", 11),  # deprecated
        ("Split", 18),  # equal parts must now be asked for
        ("Upsample", 9), ("Upsample", 10),  # deprecated
    }
)  # fmt: skip
"""Steps after which an operator means something else although its schema accepts the old form."""
KERNELLESS = frozenset(
    (name, 22) for name in ("Bernoulli", "GlobalLpPool", "MaxRoiPool", "Multinomial",
                            "RandomNormal", "RandomNormalLike", "RandomUniform",
                            "RandomUniformLike", "RoiAlign")
)  # fmt: skip
"""Steps that ONNX Runtime 1.31 has not taken with its kernels: the model would not load."""


def declared(model: ir.Model) -> int:
    """Return the version of ONNX's own operators that a model declares."""
    return max((model.opset_imports.get(domain, 0) for domain in STANDARD_DOMAINS), default=0)


def obstacle(model: ir.Model, wanted: int) -> str | None:
    """Return why a model cannot declare opset `wanted`; None: it can."""
    have = declared(model)
    if wanted > NEWEST_KNOWN:
        return f"the model declares opset {have}; burnish raises it to {NEWEST_KNOWN} at most"
    for node in _standard_nodes(model):
        for version in _steps(node.op_type, have, wanted):
            reason = _step_obstacle(node, version)
            if reason is not None:
                return f"the model declares opset {have}, and {reason}"
    return None


def raise_to(model: ir.Model, wanted: int) -> None:
    """Declare opset `wanted`; the caller has made sure that there is no obstacle."""
    have = declared(model)
    for node in tuple(_standard_nodes(model)):
        for version in _steps(node.op_type, have, wanted):
            converter = _CONVERTERS.get((node.op_type, version))
            if converter is not None:
                converter(node)
    for domain in STANDARD_DOMAINS:
        if domain in model.opset_imports:
            model.opset_imports[domain] = wanted


def _standard_nodes(model: ir.Model) -> Iterator[ir.Node]:
    for graph in graphs(model):
        yield from (node for node in graph if node.domain in STANDARD_DOMAINS)


@cache
def _steps(op_type: str, have: int, wanted: int) -> tuple[int, ...]:
    """Return the versions in which an operator changed after `have`, up to `wanted`."""
    return tuple(version for version in _versions().get(op_type, ()) if have < version <= wanted)


@cache
def _versions() -> Mapping[str, tuple[int, ...]]:
    import onnx.defs

    found: dict[str, set[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain in STANDARD_DOMAINS:
            found.setdefault(schema.name, set()).add(schema.since_version)
    return {name: tuple(sorted(versions)) for name, versions in found.items()}


def _step_obstacle(node: ir.Node, version: int) -> str | None:
    if (node.op_type, version) in KERNELLESS:
        return f"ONNX Runtime runs no {node.op_type}, as {node.name!r}, from opset {version} on"
    if (node.op_type, version) in _CONVERTERS:
        restriction = _RESTRICTIONS.get((node.op_type, version))
        return None if restriction is None else restriction(node)
    if (node.op_type, version) in CHANGED_MEANING or not _only_extended(node.op_type, version):
        return f"{node.op_type} {node.name!r} means something else from opset {version} on"
    return None


@cache
def _only_extended(op_type: str, version: int) -> bool:
    """Return whether a version of an operator accepts all that the one before it did."""
    import onnx.defs

    if not onnx.defs.has(op_type, version - 1):
        return False  # ONNX Runtime had it before ONNX did; what it meant then is not written
    old = onnx.defs.get_schema(op_type, version - 1)
    new = onnx.defs.get_schema(op_type, version)
    optional = onnx.defs.OpSchema.FormalParameterOption.Optional
    for before, after in ((old.inputs, new.inputs), (old.outputs, new.outputs)):
        kinds = [formal.option for formal in after]
        if kinds[: len(before)] != [formal.option for formal in before]:
            return False
        if any(kind != optional for kind in kinds[len(before) :]):
            return False
    kept = all(
        name in new.attributes
        and str(new.attributes[name].default_value) == str(attribute.default_value)
        for name, attribute in old.attributes.items()
    )
    added = [attribute for name, attribute in new.attributes.items() if name not in old.attributes]
    return kept and not new.deprecated and not any(attribute.required for attribute in added)


def _attribute_to_input(attribute: str) -> Callable[[ir.Node], None]:
    def convert(node: ir.Node) -> None:
        given = node.attributes.pop(attribute, None)
        graph = node.graph
        if given is None or graph is None:
            return
        name = f"{node.outputs[0].name}/{attribute}"
        constant = add_initializer(graph, name, np.array(given.as_ints(), np.int64))
        node.resize_inputs(2)
        node.replace_input_with(1, constant)

    return convert


def _spell_last_axis(node: ir.Node) -> None:
    node.attributes["axis"] = ir.AttrInt64("axis", -1)


def _not_over_last_axis(node: ir.Node) -> str | None:
    """Return why a Softmax of opset < 13, which flattens to two axes, is not today's."""
    source = node.inputs[0]
    axis = node.attributes.get_int("axis", 1)
    known = None if source is None or source.shape is None else len(source.shape)
    if axis == -1 or (known is not None and axis == known - 1):
        return None
    return f"{node.op_type} {node.name!r} over axis {axis} means something else from opset 13 on"


_axes_to_input = _attribute_to_input("axes")
_REDUCTIONS_OF_18 = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")
_CONVERTERS: Mapping[tuple[str, int], Callable[[ir.Node], None]] = {
    ("Squeeze", 13): _axes_to_input,
    ("Unsqueeze", 13): _axes_to_input,
    ("ReduceSum", 13): _axes_to_input,
    ("Split", 13): _attribute_to_input("split"),
    ("Softmax", 13): _spell_last_axis,
    ("LogSoftmax", 13): _spell_last_axis,
    ("Hardmax", 13): _spell_last_axis,
    **{(f"Reduce{kind}", 18): _axes_to_input for kind in _REDUCTIONS_OF_18},
}
_RESTRICTIONS: Mapping[tuple[str, int], Callable[[ir.Node], str | None]] = {
    ("Softmax", 13): _not_over_last_axis,
    ("LogSoftmax", 13): _not_over_last_axis,
    ("Hardmax", 13): _not_over_last_axis,
}
