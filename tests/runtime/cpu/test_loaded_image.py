"""Code in memory: on ARM, caches are told of it before it runs."""

from __future__ import annotations

import ctypes
import platform
from typing import Any

import pytest

from burnish.core.errors import MissingCapabilityError
from burnish.runtime.cpu import loaded_image
from burnish.runtime.cpu.loaded_image import Image, ImageTable, LoadedImage

IMAGE = Image(b"\xc3" * 100, ImageTable({"nothing": 0}))


class Library:
    """The compiler's library, or the C library: notes what is called."""

    def __init__(self, name: str | None, calls: list[tuple[str, int, int]], code: Any) -> None:  # noqa: ANN401
        self._name, self._calls, self._code = name, calls, code

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name == "__clear_cache" and self._code is None:
            raise AttributeError("undefined symbol: __clear_cache")

        def called(first: ctypes.c_void_p, second: Any, *_: object) -> int:  # noqa: ANN401
            self._calls.append((name, int(first.value or 0), int(second.value)))
            return 0

        return called


def loaded(monkeypatch: pytest.MonkeyPatch, machine: str, code: Any = True) -> Any:  # noqa: ANN401
    """Return an image as it is loaded on a machine, and the calls that this took."""
    calls: list[tuple[str, int, int]] = []
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(loaded_image.ctypes, "CDLL", lambda name, **_: Library(name, calls, code))
    return LoadedImage(IMAGE), calls


def test_on_arm_the_caches_of_instructions_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    image, calls = loaded(monkeypatch, "aarch64")
    start = image.address("nothing")
    assert calls[0] == ("__clear_cache", start, start + 100)
    assert [name for name, _, _ in calls] == ["__clear_cache", "mprotect"]


def test_elsewhere_there_is_nothing_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    _, calls = loaded(monkeypatch, "x86_64")
    assert [name for name, _, _ in calls] == ["mprotect"]


def test_without_the_function_for_it_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingCapabilityError) as found:
        loaded(monkeypatch, "aarch64", None)
    assert found.value.problem == (
        "the system has no __clear_cache, without which ARM cannot run new code"
        " (undefined symbol: __clear_cache)"
    )
    assert "apt-get install libgcc-s1" in found.value.hint
