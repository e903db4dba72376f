"""Text for inputs that are text: words that stand in the model, and some that do not."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from burnish.core.arrays import Array
from burnish.store.element_types import array_of

TEXT = "str"
_MADE_UP = ("burnish", "42", "-1.5", "", "Ünïcode", "two words")
_MOST_WORDS = 1000
_LONGEST = 8
"""Words of one element."""
_STRINGS = ir.AttributeType.STRINGS


def words_of(model: ir.Model) -> tuple[str, ...]:
    """Return text that stands in attributes and constants of a model: its categories and words."""
    found: dict[str, None] = {}
    for node in model.graph.all_nodes():
        for attribute in node.attributes.values():
            if attribute.type is _STRINGS:
                found |= dict.fromkeys(attribute.as_strings())
            elif attribute.type is ir.AttributeType.TENSOR:
                found |= dict.fromkeys(_held(attribute.as_tensor()))
    for value in model.graph.initializers.values():
        if value.const_value is not None:
            found |= dict.fromkeys(_held(value.const_value))
    return tuple(found)[:_MOST_WORDS]


def texts(shape: tuple[int, ...], words: tuple[str, ...], random: np.random.Generator) -> Array:
    """Return text of a shape: half of the elements are one word, the others several."""
    known = (*words, *_MADE_UP)
    made = np.empty(shape, object)
    for place in np.ndindex(shape):
        count = 1 if random.random() < 0.5 else int(random.integers(2, _LONGEST))
        picked = random.integers(0, len(known), count)
        made[place] = " ".join(known[int(row)] for row in picked)
    return made


def _held(tensor: ir.TensorProtocol) -> list[str]:
    if tensor.dtype is not ir.DataType.STRING:
        return []
    return [str(text) for text in array_of(tensor).flat]
