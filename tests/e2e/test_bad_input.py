"""Whatever is wrong with the input: two lines, the right exit code, no traceback, nothing lost."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from burnish.cli.main import run
from e2e.conftest import Burnish, command

pytestmark = pytest.mark.slow


def _model(op_type: str = "Relu", *, domain: str = "", size: int | str = "n") -> onnx.ModelProto:
    value = numpy_helper.from_array(np.ones(4096, np.float32), "weight")
    graph = helper.make_graph(
        [helper.make_node(op_type, ["x"], ["y"], name="odd", domain=domain),
         helper.make_node("Add", ["y", "weight"], ["z"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [size, 4096])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [size, 4096])],
        [value],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    return helper.make_model(graph, opset_imports=imports, ir_version=9)


def _missing(path: Path) -> None:
    del path


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _truncated(path: Path) -> None:
    path.write_bytes(_model().SerializeToString()[:-2000])


def _foreign(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04 not a model at all")


def _without_data(path: Path) -> None:
    onnx.save(_model(), path, save_as_external_data=True, location="w.data", size_threshold=0)
    (path.parent / "w.data").unlink()


def _short_data(path: Path) -> None:
    onnx.save(_model(), path, save_as_external_data=True, location="w.data", size_threshold=0)
    (path.parent / "w.data").write_bytes(b"1234")


def _unknown_operator(path: Path) -> None:
    onnx.save(_model("Relux"), path)


def _custom_domain(path: Path) -> None:
    onnx.save(_model("Magic", domain="com.acme"), path)


@pytest.mark.parametrize(
    ("make", "code", "found"),
    [
        (_missing, 2, "is neither a file nor a model in the store"),
        (_empty, 3, "is empty"),
        (_truncated, 3, "m.onnx"),
        (_foreign, 3, "m.onnx"),
        (_without_data, 3, "which does not exist"),
        (_short_data, 3, "which is too short: expected at least"),
        (_unknown_operator, 3, "Relux"),
        (_custom_domain, 3, "com.acme"),
    ],
)
@pytest.mark.parametrize("name", ["run", "optimize", "verify", "bench", "profile", "compile"])
def test_a_model_that_cannot_be_used(
    tmp_path: Path,
    name: str,
    make: Callable[[Path], None],
    code: int,
    found: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make(tmp_path / "m.onnx")
    before = sorted(tmp_path.rglob("*.onnx"))
    output = ("-o", tmp_path / "out") if name in ("run", "optimize", "compile") else ()
    sizes = ("--shape", "n=2") if name == "compile" else ()
    words = [str(word) for word in (name, tmp_path / "m.onnx", *output, *sizes)]
    ended = run(words)  # in this process: what it costs to start one is no part of it
    _assert_two_lines(CompletedProcess(words, ended, *capsys.readouterr()), code, found)
    assert sorted(tmp_path.rglob("*.onnx")) == before


def _assert_two_lines(done: CompletedProcess[str], code: int, found: str) -> None:
    assert "Traceback" not in done.stderr
    problem = [line for line in done.stderr.splitlines() if line.startswith("burnish: ")]
    assert len(problem) == 1, done.stderr
    assert done.stderr.splitlines()[-1].startswith("  hint: ")
    assert found in problem[0]
    assert done.returncode == code, done.stderr


def test_a_dimension_that_cannot_be_bound(burnish: Burnish, example: Path) -> None:
    done = burnish("verify", example, "--shape", "sequenze=8")
    _assert_two_lines(done, 2, "sequenze")
    assert "did you mean 'sequence'" in done.stderr


def test_inputs_that_contradict_the_model(burnish: Burnish, example: Path, tmp_path: Path) -> None:
    ids = np.zeros((1, 2, 3), np.int64)
    np.savez(tmp_path / "x.npz", input_ids=ids, attention_mask=ids, token_type_ids=ids)
    done = burnish("verify", example, "--data", tmp_path / "x.npz")
    assert done.returncode in (2, 3)
    _assert_two_lines(done, done.returncode, "input_ids")


def test_a_size_that_compiling_needs_is_named(burnish: Burnish, tmp_path: Path) -> None:
    onnx.save(_model(size="quux"), tmp_path / "m.onnx")
    done = burnish("compile", "m.onnx", "-o", "folder")
    _assert_two_lines(done, 2, "quux")
    assert "--shape" in done.stderr
    assert not (tmp_path / "folder").exists()


@pytest.fixture(scope="module")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small model, compiled for two rows."""
    folder = tmp_path_factory.mktemp("compiled")
    onnx.save(_model(), folder / "m.onnx")
    done = command(folder, "compile", "m.onnx", "--shape", "n=2", "--no-tune", "-o", "folder")
    assert done.returncode == 0, done.stderr
    return folder / "folder"


@pytest.fixture
def compiled(compiled_once: Path, tmp_path: Path) -> Path:
    """Return a copy of it, to be damaged."""
    return Path(shutil.copytree(compiled_once, tmp_path / "folder"))


def test_a_compiled_model_computes_in_the_shell(
    burnish: Burnish, compiled: Path, tmp_path: Path
) -> None:
    x = np.linspace(-1, 1, 8192, dtype=np.float32).reshape(2, 4096)
    np.savez(tmp_path / "x.npz", x=x)
    done = burnish("exec", compiled, "--input", "x.npz", "-o", "y.npz")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "y.npz") as found:
        np.testing.assert_array_equal(found["z"], np.maximum(x, 0) + 1)


def test_inputs_that_were_not_compiled_for(
    burnish: Burnish, compiled: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "x.npz", x=np.zeros((3, 4096), np.float32))
    done = burnish("exec", compiled, "--input", "x.npz")
    assert done.returncode == 2
    _assert_two_lines(done, 2, "3")
    assert "burnish compile" in done.stderr


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("constants.bin", "is damaged (its content is not what was compiled)"),
        ("kernels.bin", "is damaged (its content is not what was compiled)"),
        ("plan.json", "is not a compiled model (it has no plan.json)"),
    ],
)
def test_a_compiled_folder_that_was_damaged(
    burnish: Burnish, compiled: Path, tmp_path: Path, file: str, found: str
) -> None:
    if file == "plan.json":
        (compiled / file).unlink()
    else:
        (compiled / file).write_bytes((compiled / file).read_bytes()[:-1] + b"?")
    np.savez(tmp_path / "x.npz", x=np.zeros((2, 4096), np.float32))
    _assert_two_lines(burnish("exec", compiled, "--input", "x.npz"), 3, found)


def test_an_unwritable_place_keeps_what_was_there(
    burnish: Burnish, example: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("good")
    done = burnish("optimize", example, "-o", tmp_path / "file" / "m.onnx", "--no-verify")
    _assert_two_lines(done, 2, "cannot be written")
    assert (tmp_path / "file").read_text() == "good"


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder on a file system with one MiB of room."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this machine mounts no file systems")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=False)


def test_a_disk_that_fills_leaves_the_good_file(
    burnish: Burnish, example: Path, full_disk: Path
) -> None:
    (full_disk / "m.onnx").write_text("good")
    done = burnish("optimize", example, "-o", full_disk / "m.onnx", "--no-verify")
    _assert_two_lines(done, 4, "the disk is full")
    assert (full_disk / "m.onnx").read_text() == "good"
    assert [path.name for path in full_disk.iterdir()] == ["m.onnx"]
