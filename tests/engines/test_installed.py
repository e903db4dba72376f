"""Looking for packages and devices imports nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from burnish.engines.installed import has_nvidia_gpu, version_of


def test_the_version_is_the_one_of_the_distribution() -> None:
    assert version_of("numpy") == np.__version__
    assert version_of("no-such-distribution", "numpy", module="numpy") == np.__version__


def test_a_module_that_is_not_here_has_no_version() -> None:
    assert version_of("no_such_module") is None


def test_a_module_without_a_distribution_has_an_unknown_version() -> None:
    assert version_of("json") == "unknown"


@pytest.mark.parametrize(("device", "expected"), [("nvidia0", True), ("nvidiactl", False)])
def test_a_gpu_is_a_numbered_device(tmp_path: Path, device: str, expected: bool) -> None:
    (tmp_path / device).touch()
    assert has_nvidia_gpu(tmp_path) is expected


def test_asking_all_engines_whether_they_work_imports_none_of_them() -> None:
    code = (
        "import sys; from burnish.engines.base import ENGINES\n"
        "[ENGINES[name].availability() for name in ENGINES]\n"
        "heavy = {'torch', 'onnxruntime', 'openvino', 'tensorrt', 'triton'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
