"""What one program of a kernel does, counted while it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.codegen.gpu.lines import first_line
from burnish.core.tensors import BITS
from burnish.tile.functions import FUNCTIONS
from burnish.tile.index import Atom, Index

STEP, LONG_STEP = 64, 1.5
"""Terms of a step, and what one with more of them counts as."""
WEIGHTS = {"gelu": FUNCTIONS["erf"].weight, "silu": FUNCTIONS["sigmoid"].weight, "exp2": 6.0}
"""Of functions that only a GPU has as one."""
SCATTERED = 12.0
"""Operations that the load of a single element costs."""
ADDRESSED = 3.0
"""Those of a thread for each of its loads and stores: address, condition, conversion."""


@dataclass(slots=True)
class Tally:
    """Work and traffic of one program.

    A warp takes as long whether its lanes have something to do or not: a block of fewer elements
    than there are threads counts as one for each.
    """

    threads: int = 1
    product_flops: dict[str, float] = field(default_factory=dict)
    """Of products, by element type of the operands, padding included."""
    unrolled: dict[str, int] = field(default_factory=dict)
    """Multiplications in one step of every product that is written, by the same types."""
    lane_operations: float = 0.0
    """Scalar operations on CUDA cores, each function with its weight."""
    loaded_bytes: dict[str, float] = field(default_factory=dict)
    """By tensor, every load of every lane."""
    unused_bytes: dict[str, float] = field(default_factory=dict)
    """By tensor, of lines that loads take little of, what they do not take."""
    _lines: set[tuple[str, tuple[tuple[Atom, int], ...], int]] = field(default_factory=set)
    """Such loads, and about where they begin."""
    stored_bytes: dict[str, float] = field(default_factory=dict)
    lines: float = 0.0
    """Lines of memory that the first cache looks up."""
    unused_loads: float = 0.0
    """Bytes of sectors that loads fetch beside what they ask for."""
    unused_stores: float = 0.0
    """Bytes of sectors of which stores write the rest."""
    widest: int = 0
    """Elements of the largest block that is held at once."""
    held: int = 0
    """Elements of blocks that are computed side by side."""
    carried: int = 0
    """Elements of sums that are handed from one turn of a loop to the next, and of their taps."""
    flying: float = 0.0
    """Bytes that are loaded for one side of a product outside of loops, all at once."""
    ahead: int = 0
    """Turns of a loop without products whose loads run ahead."""
    steps: float = 0.0
    """Products of loaded blocks in a loop, whose loads run ahead; a long one counts as more."""
    waits: int = 0
    """Products that wait for what is computed or loaded just before them."""
    waited: int = 0
    """Loads that these need beside their two operands, as the taps of a window."""
    loads: int = 0
    """Statements that load."""
    planes: int = 0
    """Those of them that vary along two dimensions."""
    gathered: float = 0.0
    """Elements that products' operands load one by one."""
    placed: float = 0.0
    """Loads in loops over products whose places are loaded first."""
    nested: int = 0
    """Steps of loops over products that lie in loops over products."""
    looped_bytes: float = 0.0
    """What one turn of the innermost loops loads: each step that runs ahead holds as much."""
    multiplied_sums: int = 0
    """Loops over products whose sums another product multiplies, and products at its right side."""
    turns: int = 0
    """Turns of all loops."""
    averaged: list[tuple[int, int, int]] = field(default_factory=list)
    """Averages by softmax, block by block: rows and terms of a block, and turns."""
    again: int = 0
    """Sums over rows that a nest forms at a further place, with loads of their own."""
    _added_up: set[str] = field(default_factory=set)

    def load(
        self,
        tensor: str,
        dtype: str,
        elements: int,
        trips: int,
        *,
        alone: bool = False,
        dimensions: int = 0,
    ) -> None:
        """Count a load; `alone`: each lane takes an instruction, an address and a condition."""
        self.planes += dimensions > 1
        each = elements * BITS[dtype] / 8
        self.loads += 1
        self.loaded_bytes[tensor] = self.loaded_bytes.get(tensor, 0.0) + each * trips
        scattered = SCATTERED * max(elements, self.threads)
        self.lane_operations += (scattered if alone else self._beside(elements)) * trips
        self.looped_bytes += each if trips > 1 else 0.0

    def operand(self, single: tuple[int, int], trips: int, *, placed: bool) -> None:
        """Count what it costs more that an operand is loaded one by one, or from loaded places.

        `single`: elements and turns where neighbouring lanes do not make four bytes, so that each
        takes an instruction, and nothing is copied while others are multiplied.
        """
        elements, turns = single
        self.gathered += elements * turns
        self.placed += trips if placed and trips > 1 else 0

    def spare(self, tensor: str, dtype: str, elements: int, trips: int) -> None:
        """Take back what was counted for some turns of a load."""
        self.spare_bytes(tensor, dtype, elements * trips)
        self.lane_operations -= self._beside(elements) * trips

    def spare_bytes(self, tensor: str, dtype: str, elements: float) -> None:
        """Take back what was counted to move for some elements of a load."""
        self.loaded_bytes[tensor] -= elements * BITS[dtype] / 8

    def leave(self, tensor: str, offset: Index, unused_bytes: float) -> None:
        """Count what a load leaves of lines; others that begin near it find them at hand."""
        if not unused_bytes:
            return
        key = tensor, offset.terms, first_line(offset)
        if key not in self._lines:
            self._lines.add(key)
            self.unused_bytes[tensor] = self.unused_bytes.get(tensor, 0.0) + unused_bytes

    def _beside(self, elements: int) -> float:
        """Return the operations of a load or a store whose neighbours one instruction moves."""
        return max(0.5 * elements, ADDRESSED * self.threads)

    def add_up(self, nest: str) -> None:
        """Count a sum over rows."""
        self.again += nest in self._added_up
        self._added_up.add(nest)

    def fetch(self, dtype: str, elements: int, trips: int, sectors: float) -> None:
        """Count what comes with a load: `sectors` times what is asked for is fetched."""
        self.unused_loads += elements * BITS[dtype] / 8 * trips * (sectors - 1)

    def store(self, tensor: str, dtype: str, elements: int, *, sectors: float = 1) -> None:
        """Count a store; `sectors`: how many times its bytes there are in what it touches."""
        each = elements * BITS[dtype] / 8
        self.unused_stores += each * (sectors - 1)
        self.stored_bytes[tensor] = self.stored_bytes.get(tensor, 0.0) + each
        self.lane_operations += self._beside(elements)

    def work(self, function: str, elements: int, trips: int) -> None:
        """Count a function of every lane."""
        weight = WEIGHTS[function] if function in WEIGHTS else FUNCTIONS[function].weight
        self.lane_operations += weight * max(elements, self.threads) * trips
        self.widest = max(self.widest, elements)

    def product(
        self, dtype: str, sizes: tuple[int, int, int], trips: int, *, ahead: bool, loads: int = 2
    ) -> None:
        """Count a product of two blocks; `ahead`: both are loaded, while others are multiplied.

        `loads` are the statements that its operands need.
        """
        rows, columns, depth = sizes
        if ahead:
            self.steps += trips * (1.0 if depth <= STEP else LONG_STEP)
        else:
            self.waits += trips
            self.waited += trips * max(loads - 2, 0)
        flops = 2.0 * rows * columns * depth * trips
        self.product_flops[dtype] = self.product_flops.get(dtype, 0.0) + flops
        self.unrolled[dtype] = self.unrolled.get(dtype, 0) + rows * columns * depth
        self.widest = max(self.widest, rows * columns)
