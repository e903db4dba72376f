"""What is said when the machine fails burnish, and when burnish fails."""

from __future__ import annotations

import errno
import os
import sys
import time
import traceback
from pathlib import Path

from burnish.core import settings
from burnish.core.errors import BurnishError, MissingCapabilityError
from burnish.version import __version__

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


def reported(error: Exception) -> BurnishError:
    """Return what a user should read when burnish itself is wrong; the details go to a file."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}burnish{os.sep}" in frame.filename]
    place = f" in {Path((own or frames)[-1].filename).name}:{(own or frames)[-1].lineno}"
    lines = (
        f"burnish {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n"
        f"{' '.join(sys.argv)}\n{''.join(traceback.format_exception(error))}"
    )
    path = settings.read().cache / "bugs" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8", errors="backslashreplace")
        hint = f"report it with {path}; -v shows the same here"
    except OSError:
        hint = "report it with what burnish -v shows for the same command"
    first = str(error).strip().partition("\n")[0][:200]
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return BurnishError(f"this is a bug in burnish, not in your model ({what}{place})", hint=hint)


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
