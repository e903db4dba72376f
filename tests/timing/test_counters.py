from __future__ import annotations

import ctypes
import errno
import platform
from pathlib import Path

import pytest

from burnish.timing import counters
from burnish.timing.counters import LAST_CACHE_MISSES, PAGE_FAULTS, Counter, NotCountedError

PAGES, PAGE_BYTES = 64, 4096


@pytest.fixture
def faults() -> Counter:
    try:
        return Counter(PAGE_FAULTS)
    except NotCountedError as error:
        pytest.skip(str(error))


def touched(pages: int) -> None:
    import mmap

    with mmap.mmap(-1, pages * PAGE_BYTES) as memory:
        for place in range(0, len(memory), PAGE_BYTES):
            memory[place] = 1


def test_only_what_happens_while_it_is_on_is_counted(faults: Counter) -> None:
    touched(PAGES)
    assert faults.read() == 0
    with faults.on():
        touched(PAGES)
    once = faults.read()
    assert once > 0
    touched(PAGES)
    assert faults.read() == once
    faults.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (errno.EACCES, "counters not permitted: kernel.perf_event_paranoid is 3; allow them with"),
        (errno.ENOENT, "counters not there: the processor, or the virtual machine around it"),
        (errno.ENOSYS, "counters not there"),
        (errno.EMFILE, "Too many open files"),
    ],
)
def test_why_nothing_is_counted_is_said(
    error: int, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "level").write_text("3\n")
    monkeypatch.setattr(counters, "_PARANOID", tmp_path / "level")
    monkeypatch.setattr(ctypes, "get_errno", lambda: error)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: _Refusing())
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(NotCountedError) as caught:
        Counter(LAST_CACHE_MISSES["read"])
    assert str(caught.value).startswith(told)


class _Refusing:
    def syscall(self, *_: object) -> int:
        return -1


def test_a_system_without_such_a_call_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(NotCountedError, match="nobody counts on Darwin arm64"):
        Counter(PAGE_FAULTS)
