"""A closed pipe, an old locale, a narrow terminal, no disk, no memory: the right outcome."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

pytestmark = pytest.mark.slow

EVIL = "\x1b[2J[red]x[/red]\nburnish: all is well\u202egnp"


def _model(path: Path, *, name: str = "add", factor: float = 1.0) -> Path:
    weights = numpy_helper.from_array(np.full(4, factor, np.float32), f"{name}/w")
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["n", 4]) for n in ("x", "y")]
    node = helper.make_node("Mul", ["x", f"{name}/w"], ["y"], name=name)
    graph = helper.make_graph([node], "g", infos[:1], infos[1:], [weights])
    imports = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=9), path)
    return path


def _burnish(
    folder: Path, *arguments: object, environment: Mapping[str, str] | None = None, prefix: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """Return what burnish gives in a child; `prefix` is shell that comes before it."""
    words = [sys.executable, "-m", "burnish", *map(str, arguments)]
    command: Sequence[str] = ["sh", "-c", f'{prefix} exec "$@"', "sh", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, check=False, timeout=600,
        env={**os.environ, "BURNISH_CACHE": str(folder / "cache"), **(environment or {})},
    )  # fmt: skip


def _told(done: subprocess.CompletedProcess[bytes], code: int) -> str:
    """Return the problem that two lines on stderr tell."""
    lines = done.stderr.decode().splitlines()
    assert done.returncode == code, lines
    assert lines[-2].startswith("burnish: "), lines
    assert lines[-1].startswith("  hint: "), lines
    return lines[-2]


@pytest.fixture
def closed_pipe() -> Iterator[int]:
    """Yield where to write what nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--help",), 0),
        (("model", "show", "m.onnx"), 0),
        (("model", "show", "m.onnx", "--json"), 0),
        (("verify", "m.onnx", "other.onnx"), 1),
        (("optimize", "m.onnx", "-o", "out.onnx"), 0),
    ],
)
@pytest.mark.parametrize("both", [False, True], ids=["stdout", "stdout and stderr"])
def test_a_closed_pipe_changes_no_outcome(
    tmp_path: Path, closed_pipe: int, arguments: tuple[str, ...], code: int, both: bool
) -> None:
    _model(tmp_path / "m.onnx")
    _model(tmp_path / "other.onnx", factor=2.0)
    done = subprocess.run(
        [sys.executable, "-m", "burnish", *arguments], cwd=tmp_path, check=False, timeout=600,
        stdout=closed_pipe, stderr=closed_pipe if both else subprocess.PIPE,
    )  # fmt: skip
    assert done.returncode == code
    assert "Traceback" not in (done.stderr or b"").decode()
    assert "Exception ignored" not in (done.stderr or b"").decode()
    assert (tmp_path / "out.onnx").exists() == (arguments[0] == "optimize")


OLD_LOCALES = (
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@pytest.mark.parametrize(
    ("environment", "arguments"),
    [
        (OLD_LOCALES[0], ("model", "show", "m.onnx")),
        (OLD_LOCALES[0], ("advise", "m.onnx")),
        (OLD_LOCALES[1], ("explain", "m.onnx")),
        (OLD_LOCALES[1], ("profile", "m.onnx", "--runs", "2")),
        (OLD_LOCALES[0], ("whatif", "m.onnx", "--sweep")),
        (OLD_LOCALES[1], ("graph", "m.onnx", "-o", "out.svg")),
    ],
)
def test_an_old_locale_shows_what_it_can(
    tmp_path: Path, environment: Mapping[str, str], arguments: tuple[str, ...]
) -> None:
    _model(tmp_path / "m.onnx", name="größe")
    done = _burnish(tmp_path, *arguments, environment=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert done.stdout


def test_json_in_an_old_locale_is_json(tmp_path: Path) -> None:
    _model(tmp_path / "größe.onnx")
    arguments = ("model", "show", "größe.onnx", "--json")
    done = _burnish(tmp_path, *arguments, environment=OLD_LOCALES[0])
    assert json.loads(done.stdout)["label"] == "größe"


def test_an_error_in_an_old_locale(tmp_path: Path) -> None:
    done = _burnish(tmp_path, "model", "show", "größe.onnx", environment=OLD_LOCALES[0])
    assert "is neither a file nor a model in the store" in _told(done, 2)


def test_names_move_no_cursor(tmp_path: Path) -> None:
    _model(tmp_path / "m.onnx", name=EVIL)
    shown = [
        _burnish(tmp_path, *arguments)
        for arguments in (
            ("profile", "m.onnx", "--runs", "2", "--by", "node"),
            ("whatif", "m.onnx", "--scale", "nobody=2"),
            ("graph", "m.onnx", "--engine", "onnxruntime-cpu", "-o", "out.md"),
            ("model", "show", "m.onnx", "--json"),
        )
    ]
    text = "".join((done.stdout + done.stderr).decode() for done in shown)
    assert "all is well" in text
    assert not {"\x1b", "\u202e"} & set(text)
    assert "\nburnish: all is well" not in text


def test_a_narrow_terminal_shows_whole_words(tmp_path: Path) -> None:
    script = shutil.which("script")
    if script is None:
        pytest.skip("there is no `script` to make a terminal with")
    _model(tmp_path / "m.onnx")
    command = f"stty cols 20; {sys.executable} -m burnish model show m.onnx"
    done = subprocess.run(
        [script, "-qec", command, "/dev/null"], cwd=tmp_path, capture_output=True, check=False,
        timeout=600, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0
    assert b"parameters" in done.stdout


@pytest.fixture(params=["full", "read-only"])
def unwritable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Yield a folder in which nothing can be written, on a file system of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    options = "size=16k" if request.param == "full" else "size=16k,ro"
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this machine mounts no file systems")
    try:
        if request.param == "full":
            with (folder / "fill").open("wb", buffering=0) as stream:
                try:
                    while stream.write(bytes(4096)):
                        pass
                except OSError:
                    pass
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ("model", "show", "m.onnx"),
        ("optimize", "m.onnx", "-o", "out.onnx"),
        ("whatif", "m.onnx", "--sweep"),
    ],
)
def test_a_cache_that_cannot_be_written_stops_nobody_who_can_do_without(
    tmp_path: Path, unwritable: Path, arguments: tuple[str, ...]
) -> None:
    _model(tmp_path / "m.onnx")
    done = _burnish(tmp_path, *arguments, environment={"BURNISH_CACHE": str(unwritable / "c")})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("unwritable", ["full"], indirect=True)
def test_a_tuner_that_can_keep_nothing_still_tunes(tmp_path: Path, unwritable: Path) -> None:
    _model(tmp_path / "m.onnx")
    words = ("compile", "m.onnx", "--shape", "n=2", "--budget", "1", "-o", "out")
    done = _burnish(tmp_path, *words, environment={"BURNISH_CACHE": str(unwritable / "c")})
    assert done.returncode == 0, done.stderr


def test_a_cache_that_is_needed_and_cannot_be_written(tmp_path: Path, unwritable: Path) -> None:
    _model(tmp_path / "m.onnx")
    done = _burnish(
        tmp_path, "verify", "m.onnx", "--engine", "burnish", "--shape", "n=2",
        environment={"BURNISH_CACHE": str(unwritable / "c")},
    )  # fmt: skip
    assert "the compiled model cannot be kept" in _told(done, 4)
    assert b"BURNISH_CACHE" in done.stderr


def test_scratch_that_cannot_be_written_goes_elsewhere(tmp_path: Path, unwritable: Path) -> None:
    _model(tmp_path / "m.onnx")
    done = _burnish(tmp_path, "profile", "m.onnx", environment={"TMPDIR": str(unwritable)})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kilobytes", [100_000, 200_000])
@pytest.mark.parametrize("command", ["model show m.onnx", "verify m.onnx", "advise m.onnx"])
def test_a_limit_on_memory_under_which_nothing_loads(
    tmp_path: Path, kilobytes: int, command: str
) -> None:
    _model(tmp_path / "m.onnx")
    done = _burnish(tmp_path, *command.split(), prefix=f"ulimit -v {kilobytes};")
    assert "the limit on memory is" in _told(done, 4)


def test_a_model_that_does_not_fit_the_limit_on_memory(tmp_path: Path) -> None:
    _model(tmp_path / "m.onnx")
    done = _burnish(
        tmp_path, "inputs", "m.onnx", "--shape", "n=1000000000", "-o", "x.npz",
        prefix="ulimit -v 2000000;",
    )  # fmt: skip
    assert "takes 29.8 GiB to make, and there are 1.91 GiB of memory" in _told(done, 4)
    assert not (tmp_path / "x.npz").exists()
