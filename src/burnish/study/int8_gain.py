"""Whether products in int8 will be faster on this machine: measured on the one that matters most.

It takes two seconds, and is told before anything is converted: without the instructions for it, or
with few rows, quantising what is multiplied can take longer than multiplying saves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from burnish.bench.machine import usable_cores
from burnish.bench.probe import product_factor
from burnish.core.errors import BurnishError
from burnish.feeds.choose import choose
from burnish.infer import walk
from burnish.infer.constants import constant_tensor, sizes
from burnish.rewrite.precision.products import WeightedProduct, product_at
from burnish.store.stored import StoredModel

PAYS = 1.1
"""How many times faster a product must be for the rest not to eat it up."""
Shape = tuple[int, int, int]
"""Rows, depth and columns of a product."""
Measure = Callable[[Shape], float]


@dataclass(frozen=True, slots=True)
class Int8Gain:
    """How much faster a model's heaviest product is in int8, measured here."""

    shape: Shape
    products: int
    """How many products of the model have this shape."""
    of_products: int
    factor: float

    @property
    def pays(self) -> bool:
        """Return whether int8 is worth it for speed; it is smaller in any case."""
        return self.factor >= PAYS

    def __str__(self) -> str:
        rows, depth, columns = self.shape
        verdict = "int8 should pay here" if self.pays else "int8 should not pay here, but in size"
        return (
            f"{verdict}: a product of {rows}×{depth} with {depth}×{columns} "
            f"({self.products} of {self.of_products}) takes {1 / self.factor:.2f} of its time "
            "in fp32"
        )


def _measured(shape: Shape) -> float:
    return product_factor("i8", shape, threads=usable_cores())


def int8_gain(
    rewritten: ir.Model, model: StoredModel, measure: Measure = _measured
) -> Int8Gain | None:
    """Return what int8 gives for the shape of product that does most of a model's work.

    None: it has no product whose size is known.
    """
    try:
        bound = choose(model)[0].bindings
    except BurnishError:
        bound = {}
    shapes = Counter(
        shape
        for node in walk.nodes(rewritten)
        if isinstance(place := product_at(node), WeightedProduct)
        and (shape := _shape(place, bound)) is not None
    )
    if not shapes:
        return None
    heaviest = max(shapes, key=lambda shape: math.prod(shape) * shapes[shape])
    return Int8Gain(heaviest, shapes[heaviest], shapes.total(), measure(heaviest))


def _shape(place: WeightedProduct, bound: Mapping[str, int]) -> Shape | None:
    dims = sizes(place.activation)
    weights = constant_tensor(place.weights)
    if dims is None or weights is None:
        return None
    known = [bound.get(dim) if isinstance(dim, str) else dim for dim in dims[:-1]]
    if not all(known):
        return None
    depth, columns = (int(size) for size in weights.shape.numpy())
    if place.transposed:
        depth, columns = columns, depth
    return math.prod(size for size in known if size is not None), depth, columns
