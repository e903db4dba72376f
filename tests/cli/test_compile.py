from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

import burnish
from burnish.cli.main import run
from burnish.core.array_types import array_type
from burnish.core.errors import UsageError
from codegen.models import MIXED, MLP, mlp, model, save


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return save(mlp(), tmp_path / "mlp.onnx")


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_a_model_is_compiled_and_run(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "c"
    words = ["--shape", "batch=3", "--threads", "1", "--no-tune", "--dump", str(tmp_path / "d")]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    text = shown(capsys)
    assert "batch=3: 4 nodes in 1 kernel, 0 with ONNX Runtime" in text
    assert "mlp on burnish equals mlp on onnxruntime-cpu" in text
    assert f"written: {folder}" in text
    assert f"run it: burnish exec {folder} --data INPUTS.npz" in text
    assert list((tmp_path / "d" / "plan_0").glob("000_*.ll"))
    np.savez(tmp_path / "x.npz", x=np.ones((3, 8), np.float32))
    target = tmp_path / "y.npz"
    given = ["--input", str(tmp_path / "x.npz"), "--runs", "2", "-o", str(target)]
    assert run(["exec", str(folder), *given]) == 0
    text = shown(capsys)
    assert "(median of 2 runs)" in text
    assert f"written: {target}" in text


def test_outputs_are_not_written_into_the_folder_that_is_run(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, data = tmp_path / "c", tmp_path / "x.npz"
    words = ["--shape", "batch=3", "--threads", "1", "--no-tune"]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    np.savez(data, x=np.ones((3, 8), np.float32))
    asked = ["exec", str(folder), "--data", str(data)]
    assert run([*asked, "-o", str(folder / "y.npz")]) == 2
    assert "y.npz: lies in" in capsys.readouterr().err
    with pytest.raises(UsageError, match="lies in"):
        burnish.execute(folder, data=data, output=folder / "y.npz")
    assert run(asked) == 0


def test_what_the_library_keeps_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = save(model(MIXED), tmp_path / "mixed.onnx")
    words = ["--shape", "batch=3", "--threads", "1", "--no-tune"]
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), *words]) == 0
    text = shown(capsys)
    assert "with ONNX Runtime" in text
    assert "NonZero" in text


def test_json_is_one_document(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--shape", "batch=3", "--shape", "batch=5", "--fusion", "none", "--no-tune"]
    words += ["--json"]
    assert run(["-q", "compile", str(stored), "-o", str(tmp_path / "c"), *words]) == 0
    document = json.loads(shown(capsys))
    assert (document["kind"], document["schema"]) == ("compile-report", 4)
    assert [len(plan["steps"]) for plan in document["plans"]] == [4, 4]


def test_an_open_size_is_named(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compile", str(stored), "-o", str(tmp_path / "c")]) == 2
    assert "--shape batch=1\n" in capsys.readouterr().err


def test_the_command_to_compile_again_has_the_options(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "c"
    words = ["--shape", "batch=3", "--threads", "1", "--skip-dot", "--fusion", "element-wise"]
    words += ["--no-tune"]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    np.savez(tmp_path / "x.npz", x=np.ones((4, 8), np.float32))
    assert run(["exec", str(folder), "--input", str(tmp_path / "x.npz")]) == 2
    assert (
        f"burnish compile {stored} --shape batch=3 --shape batch=4 --fusion element-wise "
        f"--skip-dot --no-tune --threads 1 -o {folder}" in capsys.readouterr().err
    )


@pytest.mark.slow
def test_tuning_times_candidates_and_races_the_library(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path / "cache"))
    words = ["--shape", "batch=3", "--threads", "1", "--budget", "20s", "--topk", "3"]
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), *words]) == 0
    assert "ONNX Runtime" in shown(capsys)
    assert (tmp_path / "cache" / "tuning-1.sqlite").is_file()


@pytest.mark.parametrize("text", ["soon", "-3s", "m"])
def test_a_budget_must_be_a_time(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), f"--budget={text}"]) == 2
    assert f"{text!r} is not a time" in capsys.readouterr().err


def test_all_axes_without_a_size_are_named_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]>
    two (float[batch, sequence, 8] x, float[batch, past] z) => (float[batch, sequence, 8] y)
    { y = Relu (x) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "two.onnx")
    asked = ["compile", str(tmp_path / "two.onnx"), "-o", str(tmp_path / "c")]
    assert run([*asked, "--shape", "batch=2"]) == 2
    error = capsys.readouterr().err
    assert "burnish: sequence, past: no size, and code is generated for fixed sizes" in error
    assert "hint: give each one, for instance: burnish compile " in error
    assert "--shape batch=2,sequence=128,past=16" in error


def wide(path: Path, width: int = 64, result: int = 32) -> Path:
    """Write two layers that are wide enough to be worth fewer bits."""
    rng = np.random.default_rng(0)
    sizes = {"w": (width, 2 * width), "b": (2 * width,), "v": (2 * width, result)}
    weights = {name: rng.standard_normal(size).astype("f4") / 8 for name, size in sizes.items()}
    text = MLP.replace("batch, 8", f"batch, {width}").replace("batch, 4", f"batch, {result}")
    return save(model(text, weights), path)


def test_a_model_is_compiled_in_integers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored, folder = wide(tmp_path / "wide.onnx"), tmp_path / "c"
    words = ["--shape", "batch=5", "--threads", "1", "--no-tune", "-p", "int8"]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    text = shown(capsys)
    assert "2 nodes in int8 (dynamic, per channel" in text
    assert "changed on purpose: against the original, 3 samples" in text
    assert f"{tmp_path / 'c_int8.onnx'}, which the kernels are compiled from" in text
    assert ", 0 with ONNX Runtime" in text
    assert "c_int8 on burnish equals c_int8 on onnxruntime-cpu" in text
    assert run(["verify", str(stored), str(folder), "--tolerance", "i8-dynamic"]) == 0


def test_a_model_is_compiled_in_bf16(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored, folder = wide(tmp_path / "wide.onnx", 128, 96), tmp_path / "c"
    words = ["--shape", "batch=5", "--threads", "1", "--no-tune", "-p", "bf16"]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    text = shown(capsys)
    assert "computes in bf16: 2 nodes, and none that could stays in fp32" in text
    assert "c_bf16 on onnxruntime-cpu equals wide on onnxruntime-cpu" in text
    assert f"{tmp_path / 'c_bf16.onnx'}, which the kernels are compiled from" in text
    assert ", 0 with ONNX Runtime" in text
    assert "c_bf16 on burnish equals c_bf16 on onnxruntime-cpu" in text
    kernels = "".join(path.read_text() for path in (folder / "kernels").glob("*.ll"))
    assert "burnish.dot2" in kernels
    assert run(["verify", str(stored), str(folder), "--tolerance", "bf16"]) == 0


def test_a_model_of_bf16_is_compiled_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    sizes = {"w": (64, 128), "b": (128,), "v": (128, 96)}
    kind = array_type("bf16")
    weights = {name: (rng.standard_normal(size) / 8).astype(kind) for name, size in sizes.items()}
    text = MLP.replace("float[batch, 8]", "bfloat16[3, 64]").replace(
        "float[batch, 4]", "bfloat16[3, 96]"
    )
    stored, folder = save(model(text, weights), tmp_path / "half.onnx"), tmp_path / "c"
    words = ["--threads", "1", "--no-tune"]
    assert run(["compile", str(stored), "-o", str(folder), *words]) == 0
    told = shown(capsys)
    assert "half on burnish equals half on onnxruntime-cpu" in told
    assert "ONNX Runtime's CPU provider has no bf16: what is compared computes in f32" in told
    assert "burnish.dot2" in "".join(one.read_text() for one in (folder / "kernels").glob("*.ll"))


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (
            ["-p", "fp16"],
            "kernels for CPUs multiply in fp32, bf16 and int8, not in fp16",
            "write -p bf16 or -p int8, or leave -p away",
        ),
        (
            ["-p", "int8", "--target", "sm_90"],
            "kernels for cards multiply in fp32, tf32, fp16 and bf16, not in int8",
            "write -p tf32 or -p fp16 or -p bf16, or leave -p away",
        ),
        (
            ["-p", "tf32"],
            "kernels for CPUs multiply in fp32, bf16 and int8, not in tf32",
            "write -p bf16 or -p int8, or leave -p away",
        ),
        (
            ["-p", "tf32", "--target", "sm_90", "--bundle", "b"],
            "--bundle and --timings are for products as the model has them, not for -p tf32",
            "leave them out, or -p tf32",
        ),
    ],
)
def test_precisions_without_kernels_are_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    words: list[str], problem: str, hint: str,
) -> None:  # fmt: skip
    asked = ["--shape", "batch=3", *words]
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), *asked]) == 2
    told = capsys.readouterr().err
    assert problem in told
    assert hint in told
    assert not (tmp_path / "c").exists()


def test_a_model_of_16_bits_is_not_sent_to_precisions_that_refuse_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "g (float16[n, 4] x) => (float16[n, 4] y) { y = MatMul(x, w) }"
    proto = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 17]> {text}')
    held = onnx.numpy_helper.from_array(np.eye(4, dtype=np.float16), "w")
    proto.graph.initializer.append(held)
    onnx.save(proto, path := tmp_path / "half.onnx")
    asked = ["--shape", "n=3", "-p", "fp16"]
    assert run(["compile", str(path), "-o", str(tmp_path / "c"), *asked]) == 2
    told = capsys.readouterr().err
    assert "leave -p away" in told
    assert "computes in fp16 as it is" in told
    assert "bf16 or" not in told


def test_a_model_that_integers_spoil_says_what_may_help(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from burnish.study import moved

    monkeypatch.setattr(moved, "BOUNDS", {"int8": 1e-9})
    stored = wide(tmp_path / "wide.onnx")
    words = ["--shape", "batch=5", "--threads", "1", "--no-tune", "-p", "int8"]
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), *words]) == 1
    told = capsys.readouterr().err
    assert f"burnish optimize {stored} -p int8 -o {tmp_path / 'c_int8.onnx'}" in told
    assert "--keep-fp32" in told
    assert not (tmp_path / "c").exists()


def test_a_model_without_products_says_how_its_convolutions_become_integers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "conv (float[1, 2, 6, 6] x) => (float[1, 3, 4, 4] y) { y = Conv(x, w) }"
    weights = {"w": np.ones((3, 2, 3, 3), np.float32)}
    stored = save(model(text, weights), tmp_path / "conv.onnx")
    assert run(["compile", str(stored), "-o", str(tmp_path / "c"), "-p", "int8"]) == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "nothing in the model can be quantised" in told
    assert "(calibrate its convolutions: --calibrate DATA, or --calibrate synthetic)" in told
    assert "compile what that writes" in told
