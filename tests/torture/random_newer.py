"""Steps with what runs along a sequence, has a body, samples, or gives a size of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from torture.growing import FLOATS, Growing, NoNode
from torture.random_steps import Step, held

Body = Callable[[str], onnx.NodeProto]


def recurrent(grow: Growing) -> object:
    """LSTM, GRU and RNN with any of their options."""
    source = _sequence(grow)
    steps, batch, width = grow.shape(source)
    op, gates = grow.choice(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    direction = grow.choice("forward", "reverse", "bidirectional")
    ways, hidden = 1 + (direction == "bidirectional"), grow.choice(1, 3, 8, 17)

    def some(*shape: int, scale: float = 1.0, share: float = 0.5) -> str:
        return held(grow, grow.numbers(*shape, scale=scale)) if grow.chance(share) else ""

    given = [grow.constant(grow.numbers(ways, gates * hidden, width, scale=width**-0.5)),
             grow.constant(grow.numbers(ways, gates * hidden, hidden, scale=hidden**-0.5)),
             some(ways, 2 * gates * hidden), "", some(ways, batch, hidden)]  # fmt: skip
    given[2] = given[2] if given[2] in grow.constants else ""
    if grow.chance(0.3):
        given[3] = held(grow, grow.random.integers(0, steps + 1, batch).astype(np.int32))
    more: dict[str, object] = {"clip": 1.5} if grow.chance(0.2) else {}
    if op == "LSTM":
        seen = grow.constant(grow.numbers(ways, 3 * hidden)) if grow.chance(0.2) else ""
        given += [some(ways, batch, hidden), seen]
        more |= {"input_forget": 1} if grow.chance(0.1) else {}
    if op == "GRU":
        more["linear_before_reset"] = grow.size(0, 1)
    if op == "RNN" and grow.chance(0.3):
        more["activations"] = [grow.choice("Relu", "Softsign", "Sigmoid")] * ways
    outputs = 3 if op == "LSTM" else 2
    return grow.add(op, source, *given, outputs=outputs, hidden_size=hidden,
                    direction=direction, **more)  # fmt: skip


def _sequence(grow: Growing) -> str:
    """Return something with times, rows and features, new where there is nothing like it."""
    try:
        return grow.pick("float32", least_rank=3, most_rank=3)
    except NoNode:
        return grow.input(grow.numbers(grow.size(1, 9), grow.size(1, 4), grow.choice(1, 5, 16)))


LONGEST_JUDGED = 128
"""Places of a transform for which ONNX Runtime can judge: where they are no power of two it sums
in another way, and of 255 it is off by 2e-4 (a typical output being 1), of 1,392 by 9e-4."""


def spectral(grow: Growing) -> object:
    """DFT of any axis, forwards and back, and STFT."""
    source = grow.pick("float32", least_rank=1, most_rank=3)
    shape = grow.shape(source)
    if grow.chance(0.3) and len(shape) == 2 and shape[1] >= 4:
        frame = grow.size(2, min(shape[1], LONGEST_JUDGED))
        window = grow.constant(np.abs(grow.numbers(frame)) + np.float32(0.5))
        step = grow.constant(np.array(grow.size(1, frame)))
        signal = grow.add("Unsqueeze", source, grow.constant([2]))
        length = grow.constant(np.array(frame))
        return grow.add("STFT", signal, step, window, length, onesided=grow.size(0, 1))
    signal = grow.add("Unsqueeze", source, grow.constant([len(shape)]))
    axis = grow.size(0, len(shape) - 1)
    places = grow.size(1, 2 * shape[axis]) if grow.chance(0.3) else shape[axis]
    if places > LONGEST_JUDGED and places.bit_count() > 1:
        raise NoNode
    length = grow.constant(np.array(places)) if places != shape[axis] else ""
    onesided = grow.size(0, 1)
    place = grow.constant(np.array(axis))
    turned = grow.add("DFT", signal, length, place, onesided=onesided)
    if onesided or grow.chance(0.5):
        return turned
    return grow.add("DFT", turned, "", place, inverse=1)


def sampled(grow: Growing) -> object:
    """GridSample in every mode, its places within and beyond the picture."""
    source = grow.pick("float32", least_rank=4, most_rank=4)
    batch = grow.shape(source)[0]
    grid = grow.random.uniform(-1.3, 1.3, (batch, grow.size(1, 6), grow.size(1, 6), 2))
    return grow.add(
        "GridSample", source, held(grow, grid.astype(np.float32)),
        mode=grow.choice("linear", "linear", "nearest", "cubic"), align_corners=grow.size(0, 1),
        padding_mode=grow.choice("zeros", "border", "reflection"),
    )  # fmt: skip


def cut_out(grow: Growing) -> object:
    """RoiAlign: boxes of a picture, averaged or at their largest."""
    source = grow.pick("float32", least_rank=4, most_rank=4)
    batch, _, rows, columns = grow.shape(source)
    count = grow.size(1, 4)
    corners = grow.random.uniform(0, 1, (count, 4)) * [columns, rows, columns, rows]
    corners = np.concatenate([corners[:, :2] * 0.6, corners[:, 2:]], 1).astype(np.float32)
    which = grow.random.integers(0, batch, count).astype(np.int64)
    more: dict[str, object] = {"sampling_ratio": grow.size(1, 3)} if grow.chance(0.7) else {}
    if more.get("sampling_ratio") == 1 and grow.chance(0.3):
        more["mode"] = "max"  # of more samples the runtime itself says that it is wrong
    return grow.add(
        "RoiAlign", source, held(grow, corners), held(grow, which),
        output_height=grow.size(1, 4),
        output_width=grow.size(1, 4), spatial_scale=grow.choice(1.0, 0.5),
        coordinate_transformation_mode=grow.choice("half_pixel", "output_half_pixel"), **more,
    )  # fmt: skip


def turned_round(grow: Growing) -> object:
    """ReverseSequence along either of the first two axes."""
    source = grow.pick("float32", "int64", least_rank=2)
    time = grow.size(0, 1)
    sizes = grow.shape(source)
    lengths = grow.random.integers(1, sizes[time] + 1, sizes[1 - time]).astype(np.int64)
    given = held(grow, lengths)
    return grow.add("ReverseSequence", source, given, time_axis=time, batch_axis=1 - time)


def counted(grow: Growing) -> object:
    """What has as many elements as there are of something: NonZero, Compress, Unique."""
    op = grow.choice("NonZero", "Compress", "Unique")
    if op == "NonZero":
        return grow.add(op, grow.pick("bool", "int64", "float32", least_rank=1))
    if op == "Unique":
        return grow.add(op, grow.pick("int64", least_rank=1), sorted=1)
    source = grow.pick(*FLOATS, "int64", least_rank=1)
    axis = grow.size(0, len(grow.shape(source)) - 1)
    kept = grow.random.integers(0, 2, grow.shape(source)[axis]).astype(bool)
    return grow.add(op, source, held(grow, kept), axis=axis)


def suppressed(grow: Growing) -> object:
    """NonMaxSuppression of made boxes, and what is picked with its answer."""
    count = grow.size(2, 12)
    corners = np.sort(grow.random.uniform(0, 1, (1, count, 2, 2)), axis=2).reshape(1, count, 4)
    boxes = grow.input(corners.astype(np.float32))
    scores = grow.input(grow.random.uniform(0, 1, (1, 2, count)).astype(np.float32))
    limits = [grow.constant([grow.size(1, 5)]),
              *(grow.constant(np.array([each], np.float32)) for each in (0.4, 0.2))]  # fmt: skip
    kept = grow.add("NonMaxSuppression", boxes, scores, *limits)
    which = grow.add("Gather", kept, grow.constant(np.array(2)), axis=1)
    return grow.add("Gather", boxes, which, axis=1)


def in_bytes(grow: Growing) -> object:
    """MatMulInteger and ConvInteger of whole bytes, with zero points."""
    kind = grow.choice("uint8", "int8")
    other = grow.choice("uint8", "int8")
    zero = grow.constant(np.array(grow.size(0, 5), kind))
    if grow.chance(0.5):
        rows, terms, columns = grow.size(1, 9), grow.choice(3, 4, 16, 33), grow.size(1, 18)
        a = grow.input(grow.numbers(rows, terms, dtype=kind))
        b = grow.constant(grow.numbers(terms, columns, dtype=other))
        more = [zero, grow.constant(np.array(grow.size(0, 3), other))][: grow.size(0, 2)]
        return grow.add("MatMulInteger", a, b, *more)
    image = grow.input(grow.numbers(1, grow.choice(1, 3, 4, 8), 6, 7, dtype="uint8"))
    channels = grow.shape(image)[1]
    weight = grow.constant(grow.numbers(grow.size(1, 5), channels, 3, 3, dtype="int8"))
    zero = grow.constant(np.array(grow.size(0, 5), "uint8"))
    pads = [1, 1, 1, 1] if grow.chance(0.6) else [0, 0, 0, 0]
    return grow.add("ConvInteger", image, weight, zero, pads=pads)


def bits(grow: Growing) -> object:
    """Operations on the bits of whole numbers, ranges, and questions to numbers."""
    op = grow.choice("BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "IsNaN", "IsInf",
                     "Shrink", "MeanVarianceNormalization", "CastLike")  # fmt: skip
    if op.startswith("Bitwise"):
        a = grow.pick("int64", "int32", "uint8")
        if op == "BitwiseNot":
            return grow.add(op, a)
        other = grow.constant(grow.numbers(*grow.shape(a)[-1:], dtype=grow.dtype(a)))
        return grow.add(op, a, other)
    if op == "MeanVarianceNormalization":
        return grow.add(op, grow.pick("float32", least_rank=4, most_rank=4))
    if op == "CastLike":
        return grow.add(op, grow.pick(*FLOATS, "int64"), grow.pick("float32", "int64"))
    more = {"lambd": 0.3, "bias": 0.1} if op == "Shrink" else {}
    return grow.add(op, grow.pick("float32"), **more)


def newest(grow: Growing) -> object:
    """What came with opset 23 and 24: Attention, RotaryEmbedding, RMSNormalization, Swish."""
    op = grow.choice("Attention", "RotaryEmbedding", "RMSNormalization", "Swish", "TensorScatter")
    if op == "Swish":
        return grow.add(op, grow.pick("float32"), alpha=grow.choice(1.0, 1.702))
    if op == "RMSNormalization":
        source = grow.pick("float32", least_rank=2)
        return grow.add(op, source, grow.constant(grow.numbers(grow.shape(source)[-1])), axis=-1)
    batch, heads, length, size = grow.size(1, 3), grow.choice(1, 2, 4), grow.size(1, 9), 8
    q = grow.input(grow.numbers(batch, heads, length, size))
    if op == "RotaryEmbedding":
        angles = grow.random.uniform(0, 6, (length, size // 2))
        tables = [grow.constant(np.broadcast_to(f(angles), (batch, *angles.shape)).astype("f4"))
                  for f in (np.cos, np.sin)]  # fmt: skip
        return grow.add(op, q, *tables, interleaved=grow.size(0, 1))
    if op == "TensorScatter":
        new = grow.size(1, length)
        update = held(grow, grow.numbers(batch, heads, new, size))
        begin = grow.random.integers(0, length - new + 1, batch).astype(np.int64)
        return grow.add(op, q, update, held(grow, begin), axis=-2)
    keys = grow.size(1, 9)
    groups = grow.choice(*[n for n in (1, 2, 4) if heads % n == 0])
    k, v = (held(grow, grow.numbers(batch, groups, keys, size)) for _ in range(2))
    mask = [grow.constant(grow.numbers(length, keys))] if grow.chance(0.4) else []
    return grow.add(op, q, k, v, *mask, is_causal=grow.size(0, 1) if not mask else 0)


def branched(grow: Growing) -> object:
    """If: one of two functions of a tensor, by what is given or computed."""
    x = grow.pick("float32")
    asked = grow.choice("given", "computed", "known")
    if asked == "computed":
        total = grow.add("ReduceMean", x, keepdims=0)
        by = grow.add("Greater", total, grow.constant(np.array(0.1, np.float32)))
    else:
        truth = np.array(grow.chance(0.5))
        by = grow.input(truth) if asked == "given" else grow.constant(truth)
    then, other = (_branch(grow.choice("Relu", "Tanh", "Neg", "Softmax", "Exp"), x, n)
                   for n in range(2))  # fmt: skip
    return grow.add("If", by, then_branch=then, else_branch=other)


def _branch(op: str, x: str, number: int) -> onnx.GraphProto:
    name = f"{x}.branch{number}"
    node = helper.make_node(op, [x], [name])
    result = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
    return helper.make_graph([node], "branch", [], [result])


def looped(grow: Growing) -> object:
    """Loop: a state that is moved on so many times, each of them kept."""
    x = grow.pick("float32")
    count, shape = grow.size(1, 6), grow.shape(x)
    if int(np.prod(shape)) > 2000:
        raise NoNode
    ends = grow.chance(0.2)
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["s", "by"], ["half"]),
            helper.make_node("Add", ["half", x], ["sum"]),
            helper.make_node(grow.choice("Tanh", "Sigmoid", "Relu"), ["sum"], ["next"]),
            helper.make_node("Less", ["i", "most"], ["on"])
            if ends else helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Neg", ["next"], ["kept"]),
        ],
        "turn", [_of("i", TensorProto.INT64), _of("go", TensorProto.BOOL), _float("s", shape)],
        [_of("on", TensorProto.BOOL), _float("next", shape), _float("kept", shape)],
        [helper.make_tensor("by", TensorProto.FLOAT, [], [0.5]),
         helper.make_tensor("most", TensorProto.INT64, [], [2])],
    )  # fmt: skip
    turns = grow.constant(np.array(count))
    turns = turns if grow.chance(0.7) else grow.input(np.array(count))
    begin = held(grow, grow.numbers(*shape))
    go = grow.constant(np.array(True)) if grow.chance(0.7) else ""
    return grow.add("Loop", turns, go, begin, outputs=2, body=body)


def scanned(grow: Growing) -> object:
    """Scan: a state along the first axis of a tensor, in either direction."""
    x = grow.pick("float32", least_rank=2, most_rank=3)
    _, *part = grow.shape(x)
    size = grow.choice(1, 4, 8)
    into = grow.constant(grow.numbers(part[-1], size, scale=part[-1] ** -0.5))
    again = grow.constant(grow.numbers(size, size, scale=0.5 * size**-0.5))
    state = (*part[:-1], size)
    body = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", into], ["new"]),
            helper.make_node("MatMul", ["s", again], ["old"]),
            helper.make_node("Add", ["new", "old"], ["sum"]),
            helper.make_node(grow.choice("Tanh", "Sigmoid", "Relu"), ["sum"], ["next"]),
            helper.make_node(grow.choice("Identity", "Neg", "Exp"), ["next"], ["kept"]),
        ],
        "step", [_float("s", state), _float("x", part)],
        [_float("next", state), _float("kept", state)],
    )  # fmt: skip
    begin = held(grow, grow.numbers(*state))
    back = {"scan_input_directions": [grow.size(0, 1)], "scan_output_directions": [grow.size(0, 1)]}
    return grow.add("Scan", begin, x, outputs=2, body=body, num_scan_inputs=1, **back)


def _float(name: str, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _of(name: str, kind: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, [])


NEWER: dict[Step, float] = {
    recurrent: 2.5, spectral: 0.7, sampled: 0.7, cut_out: 0.5, turned_round: 0.5, counted: 0.4,
    suppressed: 0.2, in_bytes: 0.5, bits: 1, newest: 1, branched: 1, looped: 1, scanned: 1,
}  # fmt: skip
"""What may come next, and how often."""
