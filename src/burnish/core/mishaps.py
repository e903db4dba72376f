"""What is said when the machine fails burnish: memory, disk, permissions."""

from __future__ import annotations

import errno

from burnish.core.errors import BurnishError, MissingCapabilityError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
_TOO_MANY = (errno.EMFILE, errno.ENFILE)
_NO_ROOM_TO_LOAD = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")
"""What the loader of shared libraries says when they do not fit into the address space."""
_NO_THREAD = "can't start new thread"


def explained(error: Exception) -> BurnishError | None:
    """Return what a user should read where memory, disk or permissions ran out; else None.

    These can fail any line of code, and no line of code can help it.
    """
    if _is_out_of_memory(error):
        return MissingCapabilityError(
            f"there is not enough memory{_detail(error)}",
            hint="choose smaller sizes with --shape, or allow more (ulimit -v)",
        )
    if not isinstance(error, OSError):
        return None
    where = f"{error.filename}: " if error.filename else ""
    if error.errno in _FULL:
        return MissingCapabilityError(
            f"{where}the disk is full ({error.strerror})",
            hint="free some space, or choose other places with TMPDIR and BURNISH_CACHE",
        )
    if error.errno in _FORBIDDEN:
        return MissingCapabilityError(
            f"{where}{error.strerror}",
            hint="give access to it, or choose other places with TMPDIR and BURNISH_CACHE",
        )
    if error.errno in _TOO_MANY:
        return MissingCapabilityError(
            f"{where}{error.strerror}", hint="allow more open files: ulimit -n 4096"
        )
    if error.errno == errno.ENOENT and "temporary directory" in (error.strerror or ""):
        return MissingCapabilityError(
            "no folder for temporary files can be written",
            hint="set TMPDIR to a folder that can be written, with some space",
        )
    return None


def _is_out_of_memory(error: Exception) -> bool:
    match error:
        case MemoryError():
            return True
        case OSError(errno=errno.ENOMEM):
            return True
        case ImportError() | OSError():
            return any(words in str(error) for words in _NO_ROOM_TO_LOAD)
        case RuntimeError():
            return _NO_THREAD in str(error)
        case _:
            return False


def _detail(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0]
    return f" ({text})" if text else ""
