"""How long a kernel should take on a GPU: tensor cores, CUDA cores, L2, memory, latency, launch.

What a program does was counted while its kernel was written, recomputation included. The longest of
its parts decides; what cannot be hidden (starting, waiting for the first loads) is added. The
shares were measured on an H200 (docs/gpu.md says how far off they are).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from burnish.codegen.gpu.kernel import Written
from burnish.codegen.gpu.spelling import IEEE
from burnish.codegen.gpu.tally import Tally
from burnish.core.tensors import BITS
from burnish.cuda.library import LibraryProduct
from burnish.hw.spec import HardwareSpec
from burnish.tile.graph import TensorType
from burnish.tile.recurrence import TURN

PRODUCT_SHARE = 0.8
"""Of the tensor cores' peak that a product reaches when its operands are near (0.75 to 0.82)."""
L2_SHARE = 1.2
"""Of the second cache's bandwidth; neighbours share what the first cache holds (9.4 of 9 TB/s)."""
LOOKUP_BYTES = 96.0
"""Of the first cache's bandwidth for each line that a load goes through, however little of it is
used: 64 to 128 fit 240 kernels equally well; loads of eight elements each in a line of its own took
128 (two kernels, an H200)."""
ASKED, PARTLY = 1.75, 4.3
"""Bytes at that bandwidth that as many of a sector count as which nobody asked for, and which
nobody writes (6.1 and 2.4 TB/s of sectors with an element each)."""
MEMORY_SHARE = 0.88
"""Of the memory's bandwidth (4.2 of 4.8 TB/s in a copy)."""
LANE_SHARE = 0.8
"""Of the CUDA cores' instructions that do the work of the formula; the rest are addresses,
conversions and waiting."""
RAMP_S, EARLY_RAMP_S = 0.75e-6, 0.45e-6
"""From the start of a kernel to its full rate and back; the second, where it starts while the one
before it still runs (launches and ramps of 1.8 and 1.5 us were fitted to 344 kernels, each alone
in a graph; between others they take about 0.25 us more)."""
STEP_S = 0.16e-6
"""What one step of a product's loop takes when nothing else bounds it, loads in flight."""
COMPUTED_S = 0.19e-6
"""The same where an operand is computed first, or nothing runs ahead, beside what it loads."""
LOOPED_S = 0.9e-6
"""More for each turn of a loop with such steps: the next turn's loads wait for this one's end
(seven such products took 14.4 us in six turns, and 4.7 where all were spelled out)."""
WAITED_S = 0.5e-6
"""More for each further load of such a step, as the nine taps of a window."""
GATHERED_S = 0.3e-9
"""What a program waits for each element that an operand of a product loads by itself; programs
beside each other wait together. Of 24 such kernels (an H200) the median of |log(measured / price)|
is 0.24 with it, and 0.79 without."""
PLACED_S = 0.4e-6
"""More for a step of a product's loop that loads places first, and then what lies there: images
that a convolution frames by reflection (26.2, 14.7 and 12.3 us, and 26.7, 14.3 and 8.9 so)."""
NESTED_S = 6e-6
"""More, where a loop over products lies in another: nothing runs ahead (one such kernel took 189
instead of 14 us)."""
TURN_S = 0.78e-6
"""What one turn of a loop without products takes: its loads do not run ahead."""
AHEAD_S = 0.17e-6
"""The same where they do (0.15 to 0.19)."""
SCHEDULERS = 4
"""Of a multiprocessor: each starts an instruction of one of its warps at a time."""
WAIT_S = 0.07e-6
"""What a program waits for its first loads beyond the start of its kernel."""
STARTED_S = 0.55e-9
"""Between the starts of two programs, on the whole card: nine kernels of 4,096 to 32,768 small ones
took 0.5 to 0.65 ns for each beyond their start."""
MOST_RESIDENT = 32
"""Programs that a multiprocessor has at once, however small they are."""
WHOLE_ROWS = 0.8
"""Of all its parts, one after the other: a product whose block has whole rows has a multiprocessor
for itself, and multiplies, reduces and stores in turn (0.65 to 1.5 of that were measured)."""
REGISTERS = 65_536
"""Of one multiprocessor, each of four bytes."""
MOST_PER_THREAD = 255
"""And no more than all threads of a program have together: sixteen warps have 128 each. A row of
65,536 in so many took 145 to 177 us instead of 10."""
MOST_UNROLLED = 2048
"""Multiplications of a thread in one step of a kernel's products, without tensor cores: Triton
spells them all out. Twice as many spill (128 by 64 by 64 in four warps: 10 us predicted, 72 taken),
eight times as many took minutes to compile and 80 times what was predicted."""
LIBRARY_SHARES = ((2048, 0.71), (0, 0.65))
"""Terms from which on cuBLASLt reaches a share of the tensor cores' peak (572 to 639 TFLOP/s with
768 terms, 698 with 3,072, an H200)."""
FLYING = 0.4
"""Of the registers for all loads of a window in a product: so many are loaded before they are used
(153 registers of a thread, counted in machine code)."""
BESIDE = 0.3
"""Of what hides behind the longest part of a kernel whose loads run ahead, this much does not.
More, where a program loads all of a window at once, and few programs are on a multiprocessor to
compute meanwhile: alone, it loads, computes and multiplies in turn (20.4 us, an H200, where 8.6 and
7.7 should take 13.3)."""
ASIDE, ALONE = 0.24, 1.6
"""The same where nothing runs ahead, for very many programs of a multiprocessor, and what is added
for one; it falls with the root of their number, as others compute while one waits."""
EXPOSED = 0.21
"""Of the shorter of latency and all else, for one program of a multiprocessor; it falls with their
number."""
ROWS_OF_WARP = 16
"""Of a block of scores: where there are more warps than rows for them, several share a row, and
its largest, its sum and its weights cross from one to the other."""
CROSSED_S, CROSSED = 0.3e-6, 11.0
"""What that adds to a turn, and to each weight in operations (4,096 keys, rows of 32: 92 us with
four warps, 62 with two; 64: 105 with eight, 52 with four; 512 keys: 8.9 and 6.4, an H200)."""
NEAR = 0.5
"""Of the second cache: what is less was written by the kernel before, and is read from there."""
OWN_REGISTERS = 40
"""Registers of a thread that hold addresses and counters."""


@dataclass(frozen=True, slots=True)
class Price:
    """GpuPredicted seconds of one launch, and what they are made of."""

    seconds: float
    product_s: float
    lane_s: float
    l2_s: float
    memory_s: float
    latency_s: float
    launch_s: float
    spills: bool
    """Whether a thread would need more registers than there are."""
    memory_bytes: float


def price(
    written: Written, types: Mapping[str, TensorType], hw: HardwareSpec, precision: str = IEEE
) -> Price:
    """Return what a launch should take."""
    if written.launch.library is not None:
        return _library_price(written, written.launch.library, types, hw)
    tally, programs = written.tally, written.programs
    threads = 32 * written.launch.warps
    per_thread = OWN_REGISTERS + (1.5 * tally.widest + 0.6 * tally.held + tally.carried) / threads
    most = min(MOST_PER_THREAD, REGISTERS // threads)
    resident = _resident(written, min(per_thread + FLYING * tally.flying / 4 / threads, most), hw)
    uneven = _uneven(written, hw, resident)
    products = sum(
        flops / _product_rate(hw, dtype, precision) for dtype, flops in tally.product_flops.items()
    )
    crossed, crossed_s = _crossed(tally, written.launch.warps)
    lanes = (tally.lane_operations + crossed) / (hw.peak_flops_per_s["f32"] / 2 * LANE_SHARE)
    lookups = tally.lines * LOOKUP_BYTES / hw.memory[0].bandwidth_bytes_per_s
    product_s, lane_s, l2_s = (each * programs * uneven for each in (products, lanes, lookups))
    fetched = max(_fetched_bytes(tally, types, uneven), _near_bytes(tally) * uneven) * programs
    l2_s = max(l2_s, fetched / (hw.memory[-2].bandwidth_bytes_per_s * L2_SHARE))
    moved = _memory_bytes(written, types)
    far = _far_bytes(written, types, moved, hw)
    memory_s = far / (hw.memory[-1].bandwidth_bytes_per_s * MEMORY_SHARE)
    waves = math.ceil(programs / (hw.compute_units * resident))
    waiting_s = waves * (_latency_s(tally, written.launch.warps) + crossed_s)
    latency_s = max(waiting_s, programs * STARTED_S)
    launch_s = hw.launch_overhead_s + (EARLY_RAMP_S if written.launch.early else RAMP_S)
    rounds = max(programs / hw.compute_units, 1.0)
    apart = 1 / resident if tally.flying else 0.0
    looped = tally.steps or (tally.waits and tally.turns)
    apart = max(apart, BESIDE if looped else ASIDE + ALONE / math.sqrt(rounds))
    parts = (product_s, lane_s, l2_s, memory_s, latency_s)
    busy = _busy(written, parts, apart, EXPOSED / rounds)
    scalar = tally.unrolled.get("f32", 0) if precision == IEEE else 0
    spills = per_thread > most or scalar > MOST_UNROLLED * threads
    return Price(
        busy + launch_s, product_s, lane_s, l2_s, memory_s, latency_s, launch_s,
        spills, moved,
    )  # fmt: skip


def _resident(written: Written, per_thread: float, hw: HardwareSpec) -> int:
    """Return how many programs a multiprocessor has at once, with so many registers a thread."""
    shared = written.tally.looped_bytes * written.launch.stages
    room = int(hw.memory[0].capacity_bytes // max(shared, 1.0))
    fit = int(REGISTERS // (32 * written.launch.warps * per_thread))
    return max(min(fit, room, MOST_RESIDENT), 1)


def _latency_s(tally: Tally, warps: int) -> float:
    """Return how long one program takes whose work takes no time: it waits for its loads."""
    chained = tally.steps * STEP_S + tally.waits * COMPUTED_S + tally.nested * NESTED_S
    # warps that add up together wait for each other, and what the next sum loads waits with them
    chained += tally.again * COMPUTED_S if warps > 1 else 0.0
    chained += tally.waited * WAITED_S
    chained += tally.gathered * GATHERED_S + tally.placed * PLACED_S
    chained += LOOPED_S * max(min(tally.turns - tally.steps - tally.ahead, tally.waits), 0)
    turned = max(tally.turns - tally.steps - tally.waits - tally.ahead, 0) * TURN_S
    turned += tally.ahead * AHEAD_S
    return WAIT_S + chained + turned


def _crossed(tally: Tally, warps: int) -> tuple[float, float]:
    """Return the operations, and the seconds, that warps take which share rows of scores."""
    shared = [each for each in tally.averaged if each[0] < ROWS_OF_WARP * warps]
    operations = sum(rows * depth * turns for rows, depth, turns in shared) * CROSSED
    return operations, sum(turns for _, _, turns in shared) * CROSSED_S


def _uneven(written: Written, hw: HardwareSpec, resident: int) -> float:
    """Return how much longer the busiest multiprocessor works than all do on average."""
    rounds = math.ceil(written.programs / hw.compute_units)
    uneven = 1.05
    if rounds <= 4 * resident:
        uneven = rounds * hw.compute_units / written.programs
    if written.tally.carried:
        warps = rounds * written.launch.warps / SCHEDULERS
        uneven *= math.ceil(warps) / warps
    return uneven


def _busy(
    written: Written,
    parts: tuple[float, float, float, float, float],
    apart: float,
    exposed: float,
) -> float:
    """Return what a launch takes of which parts hide behind each other, its start left out.

    `apart` is the share of what hides that does not, `exposed` that of latency.
    """
    product_s, lane_s, l2_s, memory_s, latency_s = parts
    busy = max(parts)
    busy += exposed * min(latency_s, max(parts[:-1]))
    busy += apart * (product_s + lane_s + l2_s - max(product_s, lane_s, l2_s))
    if written.tally.carried:
        # a thread that has much to multiply has few others beside it: half of it waits for loads
        busy = max(busy, max(lane_s, latency_s) + 0.5 * min(lane_s, latency_s))
    if written.form.whole and written.form.multiplies:
        busy = max(busy, WHOLE_ROWS * (product_s + lane_s + l2_s + memory_s))
    return busy


def _library_price(
    written: Written, product: LibraryProduct, types: Mapping[str, TensorType], hw: HardwareSpec
) -> Price:
    """Return what a library should take for a product that fills a card."""
    share = next(share for terms, share in LIBRARY_SHARES if product.terms >= terms)
    flops = 2.0 * product.rows * product.columns * product.terms
    product_s = flops / (hw.peak_flops_per_s[product.dtype] * share)
    moved = _memory_bytes(written, types)
    memory_s = moved / (hw.memory[-1].bandwidth_bytes_per_s * MEMORY_SHARE)
    added = (
        product.rows * product.columns * BITS[product.dtype] / 8
        if product.added is not None
        else 0.0
    )
    added_s = added / (hw.memory[-1].bandwidth_bytes_per_s * MEMORY_SHARE)
    launch_s = hw.launch_overhead_s + RAMP_S
    seconds = max(product_s + added_s, memory_s) + launch_s
    return Price(seconds, product_s, 0.0, 0.0, memory_s, 0.0, launch_s, False, moved)


def _product_rate(hw: HardwareSpec, dtype: str, precision: str) -> float:
    rates = hw.peak_flops_per_s
    if dtype == "f32":
        return rates["f32"] * 0.6 if precision == IEEE else rates.get("tf32", rates["f32"])
    return rates.get(dtype, rates["f32"]) * PRODUCT_SHARE


def _memory_bytes(written: Written, types: Mapping[str, TensorType]) -> float:
    """Return the bytes between memory and the second cache: each element once."""
    total = 0.0
    for moved in (written.tally.loaded_bytes, written.tally.stored_bytes):
        for name, each in moved.items():
            kind = types[name]
            total += min(kind.size * BITS[kind.dtype] / 8, each * written.programs)
    return total


def _fetched_bytes(tally: Tally, types: Mapping[str, TensorType], uneven: float) -> float:
    """Return what a program fetches and stores, and leaves of lines: of a small tensor only once.

    What is left keeps the second cache busy, wherever it is asked from.
    """
    moved = sum(tally.loaded_bytes.values()) + sum(tally.stored_bytes.values())
    return moved * uneven + sum(
        min(left, types[name].size * BITS[types[name].dtype] / 8)
        for name, left in tally.unused_bytes.items()
    )


def _near_bytes(tally: Tally) -> float:
    """Return what a program asks the second cache for, and what it gets or spoils beside that."""
    asked = sum(tally.loaded_bytes.values()) + sum(tally.stored_bytes.values())
    return asked + ASKED * tally.unused_loads + PARTLY * tally.unused_stores


def _far_bytes(
    written: Written, types: Mapping[str, TensorType], moved: float, hw: HardwareSpec
) -> float:
    """Return those of the bytes that a kernel needs which the second cache has not.

    Constants come from memory: those of other kernels have passed since, unless it is a step of a
    sequence, which reads what the step before has read. All else does where it is too much to have
    stayed.
    """
    again = any(TURN in name for name in written.constants)
    size = {name: types[name].size * BITS[types[name].dtype] / 8 for name in written.constants}
    loaded = written.tally.loaded_bytes
    every = sum(min(size[n], loaded.get(n, 0.0) * written.programs) for n in size)
    fixed = 0.0 if again else every
    gone = min(max(moved / hw.memory[-2].capacity_bytes - NEAR, 0.0), 1.0)
    return fixed + (moved - fixed) * gone
