"""What runs candidates in a child process, and whose plans do what their numbers say."""

from __future__ import annotations

import os
import signal
import time

from burnish.codegen.bundle_times import CandidateRun, CandidateTime

SLOW, CRASHES, FAST, WRONG, HANGS = range(5)


class ScriptedWorker:
    """Takes 8 us for one plan and 2 us for another, and for others never comes back."""

    def time(self, asked: CandidateRun) -> CandidateTime:
        if asked.plan == CRASHES:
            os.kill(os.getpid(), signal.SIGKILL)
        if asked.plan == HANGS:
            time.sleep(600)
        if asked.plan == WRONG:
            return CandidateTime(failure="y: 3 of 1,024 elements are wrong")
        return CandidateTime((8e-6 if asked.plan == SLOW else 2e-6,) * 3)
