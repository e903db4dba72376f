"""What one program of a kernel does, counted while it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.core.tensors import BITS
from burnish.tile.functions import FUNCTIONS


@dataclass(slots=True)
class Tally:
    """Work and traffic of one program."""

    product_flops: dict[str, float] = field(default_factory=dict)
    """On tensor cores, by element type of the operands, padding included."""
    lane_operations: float = 0.0
    """Scalar operations on CUDA cores, each function with its weight."""
    loaded_bytes: dict[str, float] = field(default_factory=dict)
    """By tensor, every load of every lane."""
    stored_bytes: dict[str, float] = field(default_factory=dict)
    widest: int = 0
    """Elements of the largest block that is held at once."""
    held: int = 0
    """Elements of blocks that are computed side by side."""
    steps: int = 0
    """Products of blocks, one after the other."""
    turns: int = 0
    """Turns of all loops."""

    def load(self, tensor: str, dtype: str, elements: int, trips: int) -> None:
        """Count a load."""
        moved = elements * BITS[dtype] / 8 * trips
        self.loaded_bytes[tensor] = self.loaded_bytes.get(tensor, 0.0) + moved
        self.lane_operations += 0.5 * elements * trips

    def store(self, tensor: str, dtype: str, elements: int) -> None:
        """Count a store."""
        self.stored_bytes[tensor] = self.stored_bytes.get(tensor, 0.0) + elements * BITS[dtype] / 8
        self.lane_operations += 0.5 * elements

    def work(self, function: str, elements: int, trips: int) -> None:
        """Count a function of every lane."""
        self.lane_operations += FUNCTIONS[function].weight * elements * trips
        self.widest = max(self.widest, elements)

    def product(self, dtype: str, rows: int, columns: int, depth: int, trips: int) -> None:
        """Count a product of two blocks."""
        flops = 2.0 * rows * columns * depth * trips
        self.steps += trips
        self.product_flops[dtype] = self.product_flops.get(dtype, 0.0) + flops
        self.widest = max(self.widest, rows * columns)
