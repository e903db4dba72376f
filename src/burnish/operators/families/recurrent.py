"""Networks that run along a sequence: LSTM, GRU and RNN; their loops depend on each other."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.operators.record import Operands, Operator, Partial, register
from burnish.operators.rules import all_first_type


def _shape(at: Operands) -> Sequence[Partial | None]:
    source, recurrence = at.shape(0), at.shape(2)
    if source is None or recurrence is None or at.number("layout", 0):
        return [None]
    steps, batch, _ = source
    directions, hidden = recurrence[0], recurrence[2]
    last = (directions, batch, hidden)
    return [(steps, directions, batch, hidden), last, last]


def _recurrent(gates: int) -> Operator:
    def work(at: Operands) -> float:
        steps, batch, width = at.sizes(0)
        directions, _, hidden = at.sizes(2)
        return 2.0 * steps * batch * directions * gates * hidden * (width + hidden)

    return Operator(shape=_shape, types=all_first_type, work=work)


register({"LSTM": _recurrent(4), "GRU": _recurrent(3), "RNN": _recurrent(1)})
