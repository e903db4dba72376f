"""No command loses what it was not asked to replace, or runs what nobody asked it to run."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.cli.main import run
from codegen.models import mlp, save
from study.test_distill import stack

QUICK = ("--shape", "batch=3", "--threads", "1", "--no-tune", "--samples", "1")


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(save(mlp(), tmp_path / "mlp.onnx"))


def kept(folder: Path) -> dict[str, bytes]:
    """Return everything in a folder, to be compared later."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def project(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "thesis.tex").write_text("years of work")
    (folder / "deep" / "data.csv").write_text("1,2,3")
    return folder


def test_compiling_into_a_project_leaves_the_project(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = kept(project(tmp_path / "proj"))
    assert run(["compile", model, "-o", str(tmp_path / "proj"), *QUICK]) == 2
    said = capsys.readouterr().err
    assert "proj: is not a compiled model that burnish wrote (it has no plan.json)" in said
    assert f"mv {tmp_path}/proj {tmp_path}/proj.old; nothing was replaced" in said
    assert kept(tmp_path / "proj") == before


def test_notes_in_a_compiled_folder_are_not_lost(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", model, "-o", str(tmp_path / "c"), *QUICK]
    assert run(words) == 0
    assert run(words) == 0, "our own folder is replaced"
    (tmp_path / "c" / "kernels" / "notes.txt").write_text("mine")
    before = kept(tmp_path / "c")
    capsys.readouterr()
    assert run(words) == 2
    assert "(it holds kernels/notes.txt)" in capsys.readouterr().err
    assert kept(tmp_path / "c") == before


def test_a_dump_replaces_only_dumps(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compile", model, "-o", str(tmp_path / "c"), "--dump", str(tmp_path / "d"), *QUICK]
    assert run(words) == 0
    (tmp_path / "d" / "plan_0" / "999_stale.ll").write_text("; of an earlier plan")
    assert run(words) == 0
    assert not (tmp_path / "d" / "plan_0" / "999_stale.ll").exists()
    (tmp_path / "d" / "plan_0" / "000_mine.txt").write_text("what I found out")
    capsys.readouterr()
    assert run(words) == 2
    assert "is not a dump of kernels that burnish wrote" in capsys.readouterr().err


def test_recorded_data_is_not_replaced_by_made_inputs(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["inputs", model, "-o", str(tmp_path / "data"), "--samples", "2"]
    assert run(words) == 0
    assert run(words) == 0, "our own inputs are replaced"
    mine = tmp_path / "data" / "test_data_set_1"
    tensor = onnx.numpy_helper.from_array(np.ones((3, 8), np.float32), "x")
    (mine / "input_0.pb").write_bytes(tensor.SerializeToString())
    before = kept(tmp_path / "data")
    capsys.readouterr()
    assert run([*words, "--seed", "7"]) == 2
    assert "test_data_set_1: is not a data set of inputs alone that" in capsys.readouterr().err
    assert kept(tmp_path / "data") == before, "no other set was written either"


@pytest.mark.parametrize("name", ["report.html", "result.json", "mlp_optimized.onnx"])
def test_run_replaces_only_its_own_files(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text('{"mine": 1}')
    before = kept(tmp_path / "out")
    assert run(["run", model, "-o", str(tmp_path / "out")]) == 2
    assert f"{name}: is not a" in capsys.readouterr().err
    assert kept(tmp_path / "out") == before


def test_optimize_by_default_replaces_only_its_own_variant(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "mlp" / "dynamo" / "mlp_dynamo.onnx"
    place.parent.mkdir(parents=True)
    save(mlp(), place)
    mine = tmp_path / "mlp" / "dynamo_optimized" / "mlp_dynamo_optimized.onnx"
    mine.parent.mkdir()
    save(mlp(), mine)
    words = ["optimize", "mlp/dynamo", "--store", str(tmp_path), "--no-verify", "--no-trial"]
    assert run(words) == 2
    assert "is not a model that burnish wrote (it does not tell of" in capsys.readouterr().err
    assert run([*words, "-o", str(mine)]) == 0, "the user may name it"
    assert run(words) == 0, "and then it is ours"


@pytest.mark.parametrize("name", ["test_distilled.py", "gelu_0/distilled/gelu_0_distilled.onnx"])
def test_distill_replaces_only_its_own_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    stored = stack(tmp_path / "model.onnx")
    words = ["distill", str(stored.onnx), "--pattern", "gelu", "-o", str(tmp_path / "out")]
    assert run(words) == 0
    assert run(words) == 0
    (tmp_path / "out" / name).write_text("mine")
    capsys.readouterr()
    assert run(words) == 2
    assert f"{Path(name).name}: is not a" in capsys.readouterr().err
    assert (tmp_path / "out" / name).read_text() == "mine"


def test_a_models_name_does_not_become_code_in_a_test(tmp_path: Path) -> None:
    stored = stack(tmp_path / '""" + open("ran", "w").name + """.onnx')
    words = ["distill", str(stored.onnx), "--pattern", "gelu", "-o", str(tmp_path / "out")]
    assert run(words) == 0
    text = (tmp_path / "out" / "test_distilled.py").read_text()
    names = {}
    exec(compile(text.partition("@pytest")[0], str(tmp_path / "out" / "t.py"), "exec"),
         {"__file__": str(tmp_path / "out" / "t.py")}, names)  # fmt: skip
    assert names["MODEL"] == stored.label
    assert not Path("ran").exists()


@pytest.mark.parametrize("name", ["reference.onnx", "test_data_set_0/input_0.pb"])
def test_reduce_replaces_only_its_own_files(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    assert run(["reduce", model, "-o", str(tmp_path / "out"), "--shape", "batch=3"]) == 2
    assert "that burnish wrote (it" in capsys.readouterr().err
    assert mine.read_bytes() == b"mine"


@pytest.mark.parametrize(
    "words",
    [
        ("bench", "-o"),
        ("optimize", "-o"),
        ("graph", "-o"),
        ("profile", "--trace-out"),
        ("whatif", "--sweep", "--trace-out"),
        ("doctor", "--probe", "cpu", "-o"),
        ("inputs", "-o"),
    ],
)
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "link to nothing"])
def test_no_command_replaces_what_is_no_file(
    model: str,
    tmp_path: Path,
    device: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    kind: str,
) -> None:
    command, *rest = words
    target = tmp_path / "target.npz" if command == "inputs" else tmp_path / "target.svg"
    if kind == "device":
        target.symlink_to(device)
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "folder":
        target.mkdir()
    else:
        target.symlink_to("nothing")
    before = target.lstat()
    named = [] if command == "doctor" else [model]
    assert run([command, *named, *rest, str(target)]) == 2
    assert "cannot be written (it is a " in capsys.readouterr().err
    assert (target.lstat().st_ino, target.lstat().st_mode) == (before.st_ino, before.st_mode)
    assert device.is_char_device()


def test_a_device_that_is_named_outright_stays(
    model: str, device: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["optimize", model, "-o", str(device)]) == 2
    assert "null: cannot be written (it is a device)" in capsys.readouterr().err
    assert device.is_char_device()


def test_a_link_is_followed(model: str, tmp_path: Path) -> None:
    (tmp_path / "real.onnx").write_bytes(b"old")
    (tmp_path / "real.onnx").chmod(0o600)
    (tmp_path / "link.onnx").symlink_to("real.onnx")
    assert run(["optimize", model, "-o", str(tmp_path / "link.onnx"), "--no-verify"]) == 0
    assert (tmp_path / "link.onnx").is_symlink()
    onnx.load(tmp_path / "real.onnx")
    assert stat.S_IMODE((tmp_path / "real.onnx").stat().st_mode) == 0o600


def test_a_folder_command_on_a_file_is_refused_at_once(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("mine")
    for command in (["compile", model], ["run", model], ["distill", model, "--pattern", "gelu"]):
        assert run([*command, "-o", str(tmp_path / "file")]) == 2
        assert "file: cannot be written (it is no folder)" in capsys.readouterr().err


def trap(folder: Path, factory: str) -> Path:
    """Write a source.json that names a factory, and files that tell when they are run."""
    ran = folder / "ran"
    (folder / "burnish.evil.py").write_text(f"open({str(ran)!r}, 'w').close()\ndef make(): pass\n")
    head = {"kind": "torch-source", "schema": 1, "burnish": "0.1.0", "factory": factory}
    arguments = {"command": f"touch {ran}"} if factory == "os:system" else {}
    if factory.startswith("burnish.zoo.exporting"):
        arguments = {"factory": str(folder / "burnish.evil.py:make")}
    (folder / "source.json").write_text(json.dumps({**head, "arguments": arguments}))
    return ran


FACTORIES = ("burnish.evil.py:make", "os:system", "burnish.zoo.exporting.sources:module_and_inputs")


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("factory", FACTORIES)
def test_bench_runs_no_code_that_lies_beside_a_model(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], factory: str
) -> None:
    ran = trap(tmp_path, factory)
    run(["bench", model, "--rounds", "1", "--blocks", "1", "--budget", "1"])
    text = " ".join(capsys.readouterr().out.split())
    assert "was not measured on torch-compile, torch-eager, torch-script: its PyTorch" in text
    assert f"burnish bench {model} --rounds 1 --blocks 1 --budget 1" in text
    assert "--trust-factory" in text
    assert not ran.exists()


@pytest.mark.torch
@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize(
    "words",
    [
        ("bench", "--engine", "torch-eager"),
        ("verify", "--engine", "torch-eager"),
        ("profile", "--engine", "torch-eager"),
        ("whatif", "--sweep", "--engine", "torch-eager"),
    ],
)
def test_the_error_has_the_command_that_allows_it(
    model: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    factory: str,
    words: tuple[str, ...],
) -> None:
    ran = trap(tmp_path, factory)
    assert run([words[0], model, *words[1:]]) == 2
    said = capsys.readouterr().err
    code = "os:system" if factory == "os:system" else f"{tmp_path}/burnish.evil.py:make"
    assert f"its PyTorch module is made by {code}, which is not burnish's code" in said
    command = f"burnish {words[0]} {model} {' '.join(words[1:])} --trust-factory {code}"
    assert said.rstrip().endswith(f"hint: read it; to run it: {command}")
    assert not ran.exists()


@pytest.mark.torch
def test_what_is_trusted_runs(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = trap(tmp_path, "burnish.evil.py:make")
    words = ["--engine", "torch-eager", "--trust-factory", f"{tmp_path}/burnish.evil.py:make"]
    assert run(["verify", model, *words]) == 3
    assert "make returned NoneType, not a module and its inputs" in capsys.readouterr().err
    assert ran.exists()
