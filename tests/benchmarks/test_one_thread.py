from __future__ import annotations

import math
from pathlib import Path

import one_thread
import pytest
from one_thread import Row


def test_networks_are_public_functions_without_parameters(tmp_path: Path) -> None:
    file = tmp_path / "nets.py"
    file.write_text(
        "raise SystemExit('nothing of it runs')\n"
        "def one(): ...\ndef _own(): ...\ndef image(size): ...\ndef two(): ...\n"
    )
    assert one_thread.networks(file) == ["one", "two"]


def test_the_best_of_the_others_is_compared_with_ours() -> None:
    row = Row("net", times_s={"burnish": 2.0, "onnxruntime": 5.0, "openvino": 3.0})
    assert row.ratio == 1.5
    assert math.isnan(Row("net", "compile: exit code 3").ratio)


def test_a_row_tells_what_was_left_and_what_was_refused() -> None:
    times = {"burnish": 2e-3, "onnxruntime": 5e-3}
    told = one_thread.line(Row("net", "", 7.0, 3, ("/TopK: it orders many",), times))
    assert told == (
        "net                       2.50  burnish 2.00 ms  onnxruntime 5.00 ms  "
        "3 kernels, compiled in 7 s  left: /TopK: it orders many"
    )
    assert one_thread.line(Row("net", "compile: exit code 3, why")).endswith("exit code 3, why")


def test_every_call_has_its_turn_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(one_thread.time, "process_time", lambda: float(next(clock)))
    order: list[str] = []
    calls = {name: (lambda name=name: order.append(name)) for name in ("a", "b")}
    assert one_thread.in_turns(calls, 3) == {"a": 1.0, "b": 1.0}
    assert order == [*"ab", "a", *"ababab"]
