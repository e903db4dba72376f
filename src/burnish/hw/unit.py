"""One compute unit as code meets it: what the cost model and the shape of kernels are chosen by.

Rates and capacities are the device's (`burnish.hw.spec`). What is here was measured with kernels
of our own, or counted in a manual, and differs between kinds of cores less than those do; a
description may state any of it in a table `[unit]`, and the rest is as below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class UnitSpec:
    """A core of a CPU, or a multiprocessor of a GPU."""

    vector_bytes: int = 32
    """What one instruction works on; of a GPU, a warp."""
    read_bytes: int = 64
    """The least bytes that are read at once: a line of a cache, a sector."""
    write_bytes: int = 64
    scratch_share: float = 1.5
    """Scratch may take this many times the unit's own memory: recomputing the halo of smaller tiles
    was measured to cost more than the misses (a 780 KB ring in a 512 KB cache won)."""
    cache_sets_bytes: int = 4096
    """Addresses this far apart share a set of the first cache: 64 sets of 64 bytes."""
    cache_ways: int = 12
    """Lines that a set holds."""
    most_copied_bytes: int = 512 << 10
    """What a tile needs of an operand may have this size to be copied, so that it stays near."""
    peak_share: float = 0.85
    """Of the peak rate that a register-blocked sum of products reaches when its operands are near;
    with what its loads expose, about 0.79 (64 to 81 of 100 measured)."""
    exposed_share: float = 0.25
    """Of the shorter parts, what the longest does not hide: waiting and computing overlap, but not
    wholly."""
    colliding: float = 1.4
    """How much longer a product takes whose operand's lines share a set of the first cache (1.3 to
    1.9 measured)."""
    register_rows: int = 6
    """Rows of outputs that a kernel keeps in registers: one load serves as many multiply-adds."""
    scattered_operations: int = 3
    """What the load of a single element costs when each comes from another line; a transposed read
    was measured to take 0.4 to 0.9 ns an element, about two to five operations."""
    picked_operations: int = 3
    """What a vector of elements costs which lie a few apart: loads, and picking lanes."""
    nest_start_s: float = 30e-9
    """What entering one nest for one tile costs: set-up of loops and addresses."""
    row_start_s: float = 3e-9
    """What beginning one contiguous run of the innermost loop costs (1.5 to 4.5 ns measured)."""
    unevenness: float = 0.1
    """Share of a tile's time by which units finish apart; more tiles per unit even it out."""
    first_cache_bytes: int = 32 << 10
    second_cache_bytes_per_cycle: int = 24
    """What the second cache delivers while all goes well."""
    accumulators: int = 8
    """Sums at once that keep two multiply-add units of four cycles busy."""
    step_cycles: float = 1.5
    """What one step along a sum costs whatever the block: counting, addresses, uneven starts."""
    piece_cycles: float = 60.0
    """What beginning a piece of memory that is in no cache costs, however long it is: a gate over
    64 planes of 256×256 took 7.9 ms in pieces of two lines, 4.9 of five and 4.6 of six."""
    piece_s: float = 24e-9
    """The same in a price, for a piece of one plane after a piece of another: rows of 64 and 128
    columns of 510 planes took 4 to 39 ns more each than the bandwidth alone."""
    gather_loads: float = 10.0
    """What reading a vector one element at a time costs, in plain vector loads."""
    across_operations: float = 8.0
    """What combining the lanes of a finished vector costs, in vector operations."""


CORE = UnitSpec()
"""A core that nobody described further."""

UNITS: Mapping[str, UnitSpec] = {
    "cpu": CORE,
    "gpu": replace(CORE, vector_bytes=128, read_bytes=128, write_bytes=32, scratch_share=1.0),
}
"""By the kind of device."""
