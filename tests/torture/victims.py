"""Processes that carry a mark: started, watched, killed, and looked for afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_MARK = "BURNISH_TORTURE_MARK"
_TICKS = os.sysconf("SC_CLK_TCK")
LIMIT_S = 240.0
"""How long a command may take, loaded machine and all."""
_LOOK_S = 0.1
"""How often new children are looked for: that reads the environment of every process."""
END_S = 60.0
"""How long a process may take to end that was asked to."""
ORPHAN_S = 10.0
"""How long its children may outlive it: they are ended with it, not told to be done soon."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int | None
    """None: it did not end in time."""
    said: str
    cpu_s: float
    """What it and its children had computed when last looked at."""
    struck: bool
    """Whether it was still running when it was to be killed."""

    @property
    def traceback(self) -> str:
        """Return the last line of a traceback; empty: there is none."""
        if self.code != 70 and "Traceback (most recent call last)" not in self.said:
            return ""
        return self.said.strip().splitlines()[-1] if self.said.strip() else "exit code 70"


class Victim:
    """One command, with everything it starts marked."""

    def __init__(
        self,
        words: list[str],
        folder: Path,
        log: Path,
        environment: Mapping[str, str],
        *,
        file_limit_bytes: int | None = None,
    ) -> None:
        """Start a command line in `folder`, what it says going to `log`."""
        self._mark = uuid.uuid4().hex
        self._log = log
        self._known: list[int] = []
        self._looked_s = 0.0
        with log.open("wb") as talk:
            self._process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL,
                stdout=talk, stderr=talk, start_new_session=True,
                env={**os.environ, **environment, _MARK: self._mark},
                preexec_fn=None if file_limit_bytes is None else _limited(file_limit_bytes),
            )  # fmt: skip

    def finish(self) -> Ended:
        """Wait for the end."""
        return self.strike(lambda _cpu_s: False, signal.SIGKILL)

    def strike(self, now: Callable[[float], bool], how: signal.Signals) -> Ended:
        """Send a signal to the command (not to its children) as soon as `now` says so."""
        start, cpu_s, struck = time.monotonic(), 0.0, False
        while self._process.poll() is None:
            cpu_s = max(cpu_s, self._cpu_s())
            if now(cpu_s):
                struck = True
                self._process.send_signal(how)
                break
            if time.monotonic() - start > LIMIT_S:
                break
            time.sleep(0.004)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S if struck else 0.1)
        code = self._process.poll()
        said = self._log.read_text(errors="replace")
        return Ended(code, said, cpu_s, struck)

    def orphans(self) -> list[str]:
        """Return what is left of its children after a while, and end it."""
        deadline = time.monotonic() + ORPHAN_S
        while (left := self.living()) and time.monotonic() < deadline:
            time.sleep(0.05)
        named = [_words(pid) for pid in left]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.poll()
        return named

    def living(self) -> list[int]:
        """Return every living process that was started by the command, however indirectly."""
        return list(self._marked())

    def _marked(self) -> Iterator[int]:
        sign = f"{_MARK}={self._mark}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                environment = (entry / "environ").read_bytes()
                if sign in environment.split(b"\0") and _state(entry) != "Z":
                    yield int(entry.name)

    def _cpu_s(self) -> float:
        if time.monotonic() - self._looked_s > _LOOK_S:
            self._known = self.living()
            self._looked_s = time.monotonic()
        total = 0.0
        for pid in self._known:
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += sum(int(each) for each in fields[11:15]) / _TICKS
        return total


def _limited(file_limit_bytes: int) -> Callable[[], None]:
    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit_bytes, file_limit_bytes))

    return limit


def _state(entry: Path) -> str:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0]


def _words(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:160]
    return str(pid)
