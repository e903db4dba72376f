"""How much memory there is, and how much there must be."""

from __future__ import annotations

import resource

import pytest

from burnish.core import memory
from burnish.core.errors import MissingCapabilityError


def _limit(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (limit, limit))


def test_the_limit_on_addresses_counts_where_it_is_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    _limit(monkeypatch, resource.RLIM_INFINITY)
    machine = memory.usable_bytes()
    _limit(monkeypatch, 1 << 28)
    assert memory.usable_bytes() == 1 << 28 < machine
    _limit(monkeypatch, 1 << 60)
    assert memory.usable_bytes() == machine


def test_a_limit_under_which_nothing_can_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    _limit(monkeypatch, 100 << 20)
    with pytest.raises(MissingCapabilityError) as caught:
        memory.require_addresses()
    assert caught.value.problem == "the limit on memory is 100 MiB, and burnish needs 272 MiB"
    assert caught.value.hint == "allow more: ulimit -v 1114112"


@pytest.mark.parametrize("limit", [resource.RLIM_INFINITY, 1 << 30])
def test_any_other_limit_is_fine(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    _limit(monkeypatch, limit)
    memory.require_addresses()
