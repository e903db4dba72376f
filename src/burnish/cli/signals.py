"""What ends a command from outside: Ctrl-C, a closed terminal, a system that shuts down."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType

HEEDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A command is to end; no `except Exception` stops it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


def heed() -> None:
    """Let signals end a command as an error would, and a second one end it at once.

    What the user had ignored (`nohup`) stays ignored.
    """
    noticed, notices = os.pipe()
    os.set_blocking(notices, False)
    threading.Thread(target=_end_at_second, args=(noticed,), daemon=True).start()
    signal.set_wakeup_fd(notices, warn_on_full_buffer=False)
    for number in HEEDED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


def heed_no_more() -> None:
    """Let signals end this process at once: its work is done, and what is left goes with it."""
    for number in HEEDED:
        if signal.getsignal(number) is _interrupt:
            signal.signal(number, signal.SIG_DFL)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _kill_children()
    raise Interrupted(number)


def _end_at_second(noticed: int) -> None:
    """End this process when it is told so again: the main thread may be busy in a library."""
    seen = 0
    while (number := os.read(noticed, 1)[0]) not in HEEDED or not seen:
        seen += number in HEEDED
    _kill_children()
    os._exit(128 + number)


def _kill_children() -> None:
    # a command that has not loaded this has started nothing
    children = sys.modules.get("burnish.process.child")
    if children is not None:
        children.kill_all()
