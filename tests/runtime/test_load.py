"""A compiled folder gives what was compiled, or says why it cannot."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import burnish
from burnish.codegen import write
from burnish.codegen.cpu import image
from burnish.codegen.place import BuiltPlan
from burnish.core.errors import CheckFailedError, MissingCapabilityError, ModelError, UsageError
from burnish.hw.detect import Cpu
from burnish.rewrite.static import static
from burnish.runtime import folder as folders
from burnish.runtime.load import load
from burnish.store.compiled import PLAN, SUMS
from codegen import models
from codegen.hand_written import ABOUT, built, expected
from codegen.models import PORTABLE


def written(target: Path, *each: BuiltPlan) -> Path:
    write.write(target, ABOUT, each, PORTABLE)
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "compiled", built(4), built(9))


def test_it_runs_as_it_was_compiled(folder: Path) -> None:
    with burnish.load(folder, threads=2) as model:
        x = np.arange(9, dtype=np.float32)
        np.testing.assert_array_equal(model.run({"x": x})["y"], expected(x))
        model.prepare({"x": x})()


def test_it_tells_what_it_takes_and_gives(folder: Path) -> None:
    with load(folder) as model:
        assert [str(spec) for spec in model.inputs] == ["x: f32[n]"]
        assert [str(spec) for spec in model.outputs] == ["y: f32[n]"]


def test_the_plan_is_chosen_by_the_shapes(folder: Path) -> None:
    with load(folder) as model:
        for size in (4, 9, 4):
            x = np.ones(size, np.float32)
            assert model.executable({"x": x}).plan.sizes == {"n": size}
            np.testing.assert_array_equal(model.run({"x": x})["y"], expected(x))


def test_it_can_be_moved(folder: Path, tmp_path: Path) -> None:
    shutil.move(folder, tmp_path / "elsewhere")
    with load(tmp_path / "elsewhere") as model:
        np.testing.assert_array_equal(
            model.run({"x": np.ones(4, np.float32)})["y"], expected(np.ones(4, np.float32))
        )


def test_another_size_is_refused_with_the_command_that_adds_it(folder: Path) -> None:
    with load(folder) as model, pytest.raises(UsageError) as found:
        model.run({"x": np.ones(5, np.float32)})
    assert found.value.problem == f"{folder}: was compiled for n=4; n=9, and is fed x: [5]"
    assert found.value.hint == (
        "compile it for these, too: burnish compile tiny.onnx --shape n=4 --shape n=9 --shape n=5"
        f" -o {folder}"
    )


def test_bad_feeds_are_named(folder: Path) -> None:
    with load(folder) as model, pytest.raises(UsageError, match="input 'x' is missing"):
        model.run({})


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", 1025])
def test_threads_that_are_none_are_refused(folder: Path, threads: int) -> None:
    with pytest.raises(UsageError) as found:
        load(folder, threads=threads)
    assert found.value.problem == f"threads are a whole number from 1 to 1,024, not {threads!r}"
    assert found.value.hint.startswith("leave it out for all ")


def test_a_part_without_onnx_runtime_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = static(models.model(models.MIXED), {"batch": 3})
    loaded = models.opened(models.built(bound), bound, tmp_path / "c")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingCapabilityError, match="and onnxruntime is not installed") as raised:
        loaded.run({"x": np.ones((3, 1100), np.float32)})
    assert raised.value.hint == "pip install onnxruntime"


def test_constants_that_two_plans_share_are_there_once(tmp_path: Path) -> None:
    one = written(tmp_path / "one", built(9)) / folders.CONSTANTS
    two = written(tmp_path / "two", built(9), built(9)) / folders.CONSTANTS
    assert one.stat().st_size == two.stat().st_size


def test_another_cpu_is_refused_with_what_it_lacks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = {"avx2", "sse4_1", "ssse3", "popcnt"}
    monkeypatch.setattr("burnish.hw.detect.cpu", lambda: Cpu("another", 1, None, None, flags))
    with pytest.raises(MissingCapabilityError) as found:
        load(folder)
    assert found.value.problem == (
        f"{folder}: its kernels are for cpu: portable (compiled on a CPU), and here there is no"
        " sse4_2"
    )
    assert found.value.hint.startswith("compile it again here: burnish compile tiny.onnx")
    assert found.value.hint.endswith(f" -o {folder}_cpu"), "the folder is for another machine"


def test_commands_that_compile_again_can_be_pasted_whatever_places_are_called(
    folder: Path, tmp_path: Path
) -> None:
    place = folder.rename(tmp_path / "it's mine")
    read = folders.read(place)
    read = replace(read, about=replace(read.about, source="/my models/tiny.onnx"))
    words = shlex.split(read.command(place))
    assert words[:3] == ["burnish", "compile", "/my models/tiny.onnx"]
    assert words[-2:] == ["-o", str(place)]


@pytest.mark.parametrize("name", [folders.CONSTANTS, PLAN, "kernels/sum.o"])
def test_a_damaged_file_is_refused(folder: Path, name: str) -> None:
    content = bytearray((folder / name).read_bytes())
    content[content.rindex(b"\0") if b"\0" in content else content.index(b"tiny")] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=r"is damaged \(its content is not what was compiled\)"):
        load(folder)


def test_sums_that_were_emptied_are_refused(folder: Path) -> None:
    (folder / folders.IMAGE).write_bytes(bytes(4096))
    (folder / SUMS).write_text("")
    with pytest.raises(ModelError, match=r"plan\.json is not in SHA256SUMS"):
        load(folder)


@pytest.mark.parametrize(
    "name",
    [folders.CONSTANTS, folders.IMAGE, folders.TABLE, PLAN, "kernels/sum.o", "kernels/sum.ll"],
)
def test_a_file_that_the_sums_do_not_name_is_refused(folder: Path, name: str) -> None:
    lines = (folder / SUMS).read_text().splitlines(keepends=True)
    (folder / SUMS).write_text("".join(line for line in lines if not line.endswith(f" {name}\n")))
    with pytest.raises(ModelError, match=f"{name}.* not in SHA256SUMS") as found:
        load(folder)
    assert found.value.hint.endswith("compile it again with burnish compile")


def test_a_file_that_was_added_is_refused(folder: Path) -> None:
    (folder / "part_7.onnx").write_bytes(b"mine")
    with pytest.raises(ModelError, match=r"it holds part_7\.onnx, which is not in SHA256SUMS"):
        load(folder)


def test_a_link_in_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / folders.CONSTANTS).rename(tmp_path / "moved")
    (folder / folders.CONSTANTS).symlink_to(tmp_path / "moved")
    with pytest.raises(ModelError, match=r"constants\.bin, which is no regular file"):
        load(folder)


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "", "kernels"])
def test_sums_that_lead_elsewhere_are_refused(folder: Path, name: str) -> None:
    (folder.parent / "outside").touch()
    with (folder / SUMS).open("a") as stream:
        stream.write(f"{'0' * 64}  {name}\n")
    with pytest.raises(ModelError, match=f"{name} is missing"):
        load(folder)


@pytest.mark.parametrize("change", [{"symbols": {"sum": 10**9}}, {"externals": {"exp": -1}}, {}])
def test_a_table_that_does_not_fit_the_code_is_refused(
    folder: Path, change: dict[str, object]
) -> None:
    path = folder / folders.TABLE
    table = json.loads(path.read_text())
    symbols = table["code"]["image"]["symbols"] if change else {}
    table["code"]["image"] = {"symbols": symbols, "externals": {}, **change}
    path.write_text(json.dumps(table))
    write.write_sums(folder)
    with (
        load(folder) as model,
        pytest.raises(ModelError, match=r"kernels\.bin: is not what kernels\.json tells"),
    ):
        model.run({"x": np.ones(4, np.float32)})


@pytest.mark.parametrize("name", [folders.CONSTANTS, SUMS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing") as found:
        load(folder)
    assert found.value.hint.endswith("compile it again with burnish compile")


def test_any_other_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is not a compiled model \(it has no plan.json\)") as e:
        load(tmp_path)
    assert e.value.hint == f"make one: burnish compile MODEL -o {tmp_path}"


def test_a_plan_of_another_version_is_refused(folder: Path) -> None:
    path = folder / PLAN
    path.write_text(path.read_text().replace('"schema": 5', '"schema": 4'))
    write.write_sums(folder)
    with pytest.raises(ModelError) as found:
        load(folder)
    version = burnish.__version__
    assert (
        found.value.problem
        == f"{folder}: was compiled by burnish {version} in form 4, and this is 5"
    )
    assert found.value.hint == f"compile it again: burnish compile tiny.onnx -o {folder}"


def test_what_is_not_accepted_is_not_written(folder: Path) -> None:
    before = (folder / SUMS).read_text()

    def refuse(_draft: Path) -> str:
        raise CheckFailedError("no", hint="")

    with pytest.raises(CheckFailedError):
        write.write(folder, ABOUT, [built(5)], PORTABLE, accept=refuse)
    assert (folder / SUMS).read_text() == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_the_proof_of_a_draft_is_written_with_it(tmp_path: Path) -> None:
    def prove(draft: Path) -> str:
        with load(draft) as model:
            model.run({"x": np.ones(4, np.float32)})
        return "{}\n"

    write.write(tmp_path / "c", ABOUT, [built(4)], PORTABLE, accept=prove)
    assert (tmp_path / "c" / folders.PROOF).read_text() == "{}\n"
    load(tmp_path / "c")


def test_two_kernels_of_one_name_are_a_mistake(tmp_path: Path) -> None:
    other = BuiltPlan(built(4).plan, {"sum": "; another"}, built(4).constants)
    with pytest.raises(ValueError, match="two kernels are called 'sum'"):
        written(tmp_path / "c", built(4), other)


def test_kernels_that_cannot_be_linked_are_loaded_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_objects: object) -> None:
        raise image.NotLinkableError("as a test")

    monkeypatch.setattr(image, "link", refuse)
    folder = written(tmp_path / "c", built(4))
    assert folders.read_table(folder).code == {"image": None}
    with load(folder, threads=2) as model:
        x = np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(model.run({"x": x})["y"], expected(x))


def test_running_needs_no_compiler_and_no_onnx(folder: Path) -> None:
    code = f"""
import sys
sys.modules |= dict.fromkeys(["llvmlite", "onnx", "onnx_ir", "onnxruntime", "torch", "click"])
import numpy as np
import burnish
with burnish.load({str(folder)!r}, threads=2) as model:
    y = model.run({{"x": np.ones(4, np.float32)}})["y"]
assert y.tolist() == [3.25] * 4, y
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)
