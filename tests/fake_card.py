"""A fake card for child processes: its kernels double what they are given, or do worse."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from fake_driver import FakeDriver, kernel

__all__ = ["FakeDriver"]

SIZE = 1024


def f32(memory: np.ndarray) -> np.ndarray:
    return memory[: 4 * SIZE].view(np.float32)


@kernel
def double(_grid: object, x: np.ndarray, y: np.ndarray, *_: None) -> None:
    f32(y)[:] = 2 * f32(x)


@kernel
def wrong(_grid: object, x: np.ndarray, y: np.ndarray, *_: None) -> None:
    f32(y)[:] = 2 * f32(x)
    f32(y)[:3] += 1


@kernel
def crashing(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@kernel
def hanging(*_: object) -> None:
    time.sleep(600)
