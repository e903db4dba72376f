"""Let a convolution do the padding in front of it.

rewrite:
    Conv(Pad(x, zeros around the positions), w, b, pads = p)
    -->
    Conv(x, w, b, pads = p + zeros)
"""

from __future__ import annotations

import onnx_ir as ir

from burnish.infer.walk import ints, is_standard
from burnish.rewrite.facts import Facts, rank
from burnish.rewrite.rule import Builder, Match, Refusal, Rule


def _find(pad: ir.Node, facts: Facts) -> Match | Refusal | None:
    x, padded = pad.inputs[0], pad.outputs[0]
    readers = [use.node for use in padded.uses()]
    if not is_standard(pad, "Pad") or x is None or padded.is_graph_output():
        return None
    if (
        len(readers) != 1
        or not is_standard(readers[0], "Conv")
        or readers[0].inputs[0] is not padded
    ):
        return None
    conv = readers[0]
    amounts = _amounts(pad, facts)
    if amounts is None:
        return Refusal(
            f"how much Pad {pad.name!r} pads is computed when the model runs",
            "state the padding as constants",
        )
    mode, value = pad.attributes.get_string("mode", "constant"), _filling(pad, facts)
    if mode != "constant" or value != 0:
        return Refusal(
            f"Pad {pad.name!r} fills with {value if mode == 'constant' else mode!r},"
            f" expected 0, as Conv {conv.name!r} does",
            "pad with zeros in the source",
        )
    if any(amount < 0 for amount in amounts) or any(_outer(amounts)):
        return Refusal(
            f"Pad {pad.name!r} adds {list(amounts)}, expected nothing around batch and channels,"
            " and nothing taken away",
            "pad the positions only",
        )
    if conv.attributes.get_string("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return Refusal(
            f"Conv {conv.name!r} pads by {conv.attributes.get_string('auto_pad')!r},"
            " expected stated amounts",
            "state the padding of the convolution in numbers",
        )
    attributes = {f"amount_{index}": amount for index, amount in enumerate(amounts)}
    return Match((pad, conv), conv.outputs[0], {"x": x}, attributes)


def _amounts(pad: ir.Node, facts: Facts) -> tuple[int, ...] | None:
    """Return how much is added before each axis, then after each; None: not known."""
    given = ints(pad, "pads")
    if given is not None:
        return given
    found = facts.integers(pad.inputs[1]) if len(pad.inputs) > 1 else None
    axes = facts.integers(pad.inputs[3]) if len(pad.inputs) > 3 and pad.inputs[3] else None
    known = rank(pad.inputs[0]) if pad.inputs[0] is not None else None
    if found is None or (len(pad.inputs) > 3 and pad.inputs[3] is not None and axes is None):
        return None
    if axes is None:
        return found
    if known is None:
        return None
    amounts = [0] * (2 * known)
    for index, axis in enumerate(axes):
        amounts[axis % known] = found[index]
        amounts[known + axis % known] = found[len(axes) + index]
    return tuple(amounts)


def _filling(pad: ir.Node, facts: Facts) -> float | None:
    if "value" in pad.attributes:
        return pad.attributes.get_float("value")
    given = pad.inputs[2] if len(pad.inputs) > 2 else None
    return 0.0 if given is None else facts.scalar(given)


def _outer(amounts: tuple[int, ...]) -> tuple[int, ...]:
    """Return what is added around the batch and the channels."""
    half = len(amounts) // 2
    return (*amounts[:2], *amounts[half : half + 2])


def _replace(match: Match, builder: Builder) -> ir.Value:
    conv, x = match.nodes[1], match.values["x"]
    amounts = [int(match.attributes[f"amount_{i}"]) for i in range(len(match.attributes))]
    half = len(amounts) // 2
    added = [*amounts[2:half], *amounts[half + 2 :]]
    before = ints(conv, "pads") or (0,) * len(added)
    pads = [one + other for one, other in zip(before, added, strict=True)]
    attributes = {name: value for name, value in conv.attributes.items() if name != "auto_pad"}
    attributes["pads"] = ir.AttrInt64s("pads", pads)
    return builder.node("Conv", [x, *conv.inputs[1:]], like=match.output, attributes=attributes)


RULES = (
    Rule(
        "pad-conv",
        "Conv(Pad(x, zeros), …) --> Conv(x, …, pads)",
        anchors=frozenset({"Pad"}),
        find=_find,
        replace=_replace,
    ),
)
