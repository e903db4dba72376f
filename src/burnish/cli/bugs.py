"""What is said when burnish itself is wrong."""

from __future__ import annotations

import os
import sys
import time
import traceback
from pathlib import Path

from burnish.core import settings
from burnish.core.errors import BurnishError
from burnish.version import __version__


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
