"""A child that runs burnish commands one after another in one process, and says how each ended.

A command comes as a line of JSON on stdin; the answer is a line of JSON on the file descriptor
that the first argument names, so that nothing that a library prints can be taken for one.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import resource
import sys
import time
from typing import IO

from burnish.cli.main import run

KEPT = 4000


def main(answers_to: int, memory_bytes: int) -> None:
    """Answer commands until stdin ends."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    with os.fdopen(answers_to, "w") as answers:
        for line in sys.stdin:
            request = json.loads(line)
            os.chdir(request["folder"])
            _answer(answers, request["command"])


def _answer(answers: IO[str], command: list[str]) -> None:
    out, err = io.StringIO(), io.StringIO()
    began = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(command)
    seconds = time.monotonic() - began
    said = {"code": code, "seconds_s": seconds, "err": err.getvalue(), "out": out.getvalue()[:KEPT]}
    # errors hold the frames of what failed, and these whole graphs
    gc.collect()
    answers.write(json.dumps(said) + "\n")
    answers.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
