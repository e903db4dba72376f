"""Weights in 8 bits once and for all, activations in 8 bits as they come: ONNX Runtime's way."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from burnish.core.errors import ModelError
from burnish.process.scratch import scratch
from burnish.store import onnx_files
from burnish.store.history import History, Step

_QUANTISED = frozenset({"MatMulInteger", "ConvInteger", "DynamicQuantizeLSTM", "DequantizeLinear"})
_FULL_RANGE = ("avx512_vnni", "avx_vnni", "amx_int8", "asimddp")
"""Processor flags of instructions that add 8-bit products without running out of 16 bits."""


def quantize(path: Path, *, flags: Sequence[str]) -> Step:
    """Quantise the model at `path`, in place, for a processor with these flags; say how.

    Weights get one scale per output channel. Where the processor would add products in 16 bits,
    weights use 7 of their 8 bits, so that no sum of two saturates.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    _require_flat(path)
    reduce_range = not set(flags) & set(_FULL_RANGE)
    with scratch("int8-dynamic") as folder, _quiet():
        draft = folder / path.name
        quantize_dynamic(
            path,
            draft,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=reduce_range,
        )
        step = Step("quantize", f"int8 dynamic, per channel, {7 if reduce_range else 8} bits")
        _require_quantised(draft)
        history = History(onnx_files.content_key(path), (step,))
        onnx_files.write(onnx_files.read(draft), path, history=history)
    return step


def _require_flat(path: Path) -> None:
    if onnx_files.read(path).functions:
        raise ModelError(
            "functions cannot be quantised: ONNX Runtime's quantiser does not look inside them",
            hint="leave --functions away",
        )


def _require_quantised(path: Path) -> None:
    if not any(node.op_type in _QUANTISED for node in onnx_files.read(path).graph):
        raise ModelError(
            "nothing in the model can be quantised: it multiplies by no constant weights",
            hint="leave -p int8 away",
        )


class _quiet:  # noqa: N801  (used like a function: `with _quiet()`)
    """Silence the quantiser's advice to pre-process, which is about static shapes."""

    def __enter__(self) -> None:
        logging.disable(logging.WARNING)

    def __exit__(self, *_: object) -> None:
        logging.disable(logging.NOTSET)
