"""What lines of a profile of XLA hold, by their titles: streams, operators, steps, sums."""

from __future__ import annotations

import re

DEVICE = re.compile(r"/(?:device:)?(?:GPU|TPU)[^:]*:(?P<number>\d+)", re.IGNORECASE)
STREAM = re.compile(r"Stream #?(?P<number>\d+)")
OPERATORS, STEPS = "XLA Ops", "Steps"
HOST = "/host:CPU"
IS_OPERATOR, IS_STEP = "hlo_op", "step_num"
"""Statistics that only operators, and only steps, have."""
_COPY = re.compile("memcpy|memset|copy-start|copy-done", re.IGNORECASE)
_SYNC = re.compile("ynchronize|BlockHostUntil|Await", re.IGNORECASE)
_RUN = re.compile(r"PjitFunction|ExecuteHelper|::Execute$|ExecuteSharded")


def counts(title: str, *, has_streams: bool) -> bool:
    """Return whether a device's line is work or steps; others sum these up."""
    if title == STEPS:
        return True
    return STREAM.search(title) is not None if has_streams else title == OPERATORS


def kind_of_work(name: str) -> str:
    """Return the category of what a device did."""
    return "copy" if _COPY.search(name) else "kernel"


def kind_of_call(name: str) -> str:
    """Return the category of what a host did beside a device."""
    if _SYNC.search(name):
        return "sync"
    return "module" if _RUN.search(name) else "other"


def operator(name: str) -> str:
    """Return the operator that an instruction is an instance of."""
    return name.split(".")[0].lstrip("%")


def stream(title: str) -> int | None:
    """Return the number of a stream; None: the line is none."""
    found = STREAM.search(title)
    return int(found["number"]) if found else None
