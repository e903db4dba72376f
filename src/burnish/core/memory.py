"""How much memory this process may have."""

from __future__ import annotations

import os
import resource

from burnish.core import units
from burnish.core.errors import MissingCapabilityError

_LEAST_BYTES, _PER_THREAD_BYTES = 256 << 20, 8 << 20
"""What the libraries and their threads take to be loaded; with less, they end the process."""


def usable_bytes() -> int:
    """Return the machine's memory, or the limit on this process's addresses if that is less."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return total if limit == resource.RLIM_INFINITY else min(total, limit)


def require_addresses() -> None:
    """Raise where the limit on addresses is below what any command needs.

    NumPy's library would end the process with a message and an exit code of its own.
    """
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = _LEAST_BYTES + _PER_THREAD_BYTES * (os.cpu_count() or 1)
    if limit != resource.RLIM_INFINITY and limit < needed:
        raise MissingCapabilityError(
            f"the limit on memory is {units.size(limit)}, and burnish needs {units.size(needed)}",
            hint=f"allow more: ulimit -v {4 * needed >> 10}",
        )
