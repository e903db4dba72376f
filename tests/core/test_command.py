from __future__ import annotations

import shlex
from pathlib import Path

from burnish.core.command import command


def test_a_place_stays_one_word_of_a_shell() -> None:
    said = command("exec", Path("my 'own' folder"), "--data", "INPUTS.npz")
    assert shlex.split(said) == ["burnish", "exec", "my 'own' folder", "--data", "INPUTS.npz"]
