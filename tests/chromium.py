"""Open a page in headless Chromium and ask it what happened, over its debugging pipe."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe", "--hide-scrollbars",
)  # fmt: skip
START = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4);"
    "os.execv(sys.argv[3], sys.argv[3:])"
)
COMPLAINTS = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")


def executable() -> str | None:
    return shutil.which("chromium") or shutil.which("google-chrome")


IN_CHROMIUM = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(executable() is None, reason="chromium is not installed"),
]
"""The marks of tests that open pages."""


@dataclass
class Browser:
    """One tab: commands go in, events are kept."""

    commands: int
    answers: int
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _sent: int = 0
    _unread: bytes = b""

    def ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._sent += 1
        message: dict[str, Any] = {"id": self._sent, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._sent:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def attach(self) -> Self:
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.ask(f"{domain}.enable")
        return self

    def open(self, page: Path, *, width: int, scheme: str) -> None:
        """Load a page as a window of this width shows it, in a `light` or `dark` scheme."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)
        self.visit(page.as_uri())

    def visit(self, url: str) -> None:
        """Load an address, and wait until all of it is there."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        while not self._seen("Page.loadEventFired"):
            self.events.append(self._next())

    def value(self, expression: str) -> Any:  # noqa: ANN401  (what the page answers)
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return answer["result"].get("value")

    def picture(self, target: Path) -> None:
        """Write what the whole page looks like, for people to look at."""
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        target.write_bytes(base64.b64decode(answer["data"]))

    def until(self, expression: str, *, limit_s: float = 60.0) -> Any:  # noqa: ANN401
        """Return what the page answers as soon as that is something; fails after a while."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if (found := self.value(expression)) is not None and found is not False:
                return found
            time.sleep(0.2)
        raise AssertionError(f"not in {limit_s:g} s: {expression}")

    @property
    def requested(self) -> list[str]:
        sent = self._seen("Network.requestWillBeSent")
        return [event["request"]["url"] for event in sent]

    @property
    def complaints(self) -> list[dict[str, Any]]:
        return [event for method in COMPLAINTS for event in self._seen(method)]

    def _seen(self, method: str) -> list[dict[str, Any]]:
        return [event["params"] for event in self.events if event.get("method") == method]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._unread:
            part = os.read(self.answers, 1 << 16)
            assert part, "chromium closed its debugging pipe"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        parsed: dict[str, Any] = json.loads(message)
        return parsed


@contextmanager
def browser(*more: str) -> Iterator[Browser]:
    """Start Chromium with a fresh profile and `more` flags; its pipe is on descriptors 3 and 4."""
    found = executable()
    assert found
    ends = [*os.pipe(), *os.pipe()]
    # Above 9, so that putting them on 3 and 4 cannot overwrite one of them.
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    read_commands, commands, answers, write_answers = high
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        ends_of_child = (str(read_commands), str(write_answers))
        flags = (*FLAGS, *more, f"--user-data-dir={profile}")
        process = subprocess.Popen(
            [sys.executable, "-c", START, *ends_of_child, found, *flags],
            pass_fds=(read_commands, write_answers),
            stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        try:
            yield Browser(commands, answers).attach()
        finally:
            process.terminate()
            process.wait(timeout=600)
            os.close(commands)
            os.close(answers)
