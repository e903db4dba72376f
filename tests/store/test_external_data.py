from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx import helper, numpy_helper

from burnish.core.errors import ModelError
from burnish.store import external_data, onnx_files


def model_with_data(folder: Path, *, location: str = "w.data", **entries: int) -> Path:
    """Write y = x + w with the 4 floats of w in w.data."""
    w = numpy_helper.from_array(np.zeros(4, np.float32), "w")
    w.ClearField("raw_data")
    w.data_location = onnx.TensorProto.EXTERNAL
    w.external_data.add(key="location", value=location)
    for key, value in entries.items():
        w.external_data.add(key=key, value=str(value))
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [w])
    folder.mkdir(exist_ok=True)
    path = folder / "m.onnx"
    opsets = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=opsets), path)
    (folder / "w.data").write_bytes(np.arange(4, dtype=np.float32).tobytes())
    return path


def test_data_is_found_from_any_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_with_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    model = onnx_files.read(Path("m.onnx"))
    monkeypatch.chdir("/")
    tensor = model.graph.initializers["w"].const_value
    assert tensor is not None
    assert tensor.numpy().tolist() == [0, 1, 2, 3]
    assert external_data.files(model) == (tmp_path / "w.data",)


def test_reading_does_not_read_the_data(tmp_path: Path) -> None:
    model = onnx_files.read(model_with_data(tmp_path))
    assert all(tensor.raw is None for tensor in external_data.external_tensors(model))


def resident_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssFile"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells what is in memory")
def test_memory_of_data_is_given_back_and_the_data_stays_readable(tmp_path: Path) -> None:
    content = np.random.default_rng(0).random(1 << 23, np.float32)
    (tmp_path / "w.data").write_bytes(b"\0" * 100 + content.tobytes())
    tensor = ir.ExternalTensor(
        "w.data", 100, content.nbytes, ir.DataType.FLOAT, shape=ir.Shape(content.shape), name="w",
        base_dir=str(tmp_path),
    )  # fmt: skip
    array = tensor.numpy()
    assert array.sum() == content.sum()
    before = resident_kib()
    external_data.let_go(tensor)
    assert before - resident_kib() > content.nbytes // 1024 // 2
    np.testing.assert_array_equal(array, content)


def test_there_is_nothing_to_give_back_of_what_was_not_read_or_lies_in_the_model(
    tmp_path: Path,
) -> None:
    unread = next(external_data.external_tensors(onnx_files.read(model_with_data(tmp_path))))
    for tensor in (None, unread, ir.tensor([1.0, 2.0])):
        external_data.let_go(tensor)
    assert unread.raw is None


def test_missing_data_file(tmp_path: Path) -> None:
    path = model_with_data(tmp_path)
    (tmp_path / "w.data").unlink()
    with pytest.raises(ModelError, match=r"tensor 'w' lies in 'w\.data', which does not") as error:
        onnx_files.read(path)
    assert error.value.hint.startswith("copy w.data from where the model came from")


def test_short_data_file(tmp_path: Path) -> None:
    path = model_with_data(tmp_path, offset=4)
    with pytest.raises(ModelError, match="expected at least 20 bytes, found 16") as error:
        onnx_files.read(path)
    assert error.value.hint == "copy w.data again from where the model came from"


def test_length_that_contradicts_the_shape(tmp_path: Path) -> None:
    path = model_with_data(tmp_path, length=12)
    with pytest.raises(ModelError, match="with 12 bytes, its type and shape need 16") as error:
        onnx_files.read(path)
    assert error.value.hint == "export the model again: its file contradicts itself"


def test_data_outside_of_the_folder(tmp_path: Path) -> None:
    path = model_with_data(tmp_path / "inside", location="../w.data")
    (tmp_path / "w.data").write_bytes(bytes(16))
    with pytest.raises(ModelError, match="outside of the model's folder") as error:
        onnx_files.read(path)
    assert error.value.hint.startswith("put both into one folder, links followed: cp -L")


def test_link_that_leads_outside_of_the_folder(tmp_path: Path) -> None:
    path = model_with_data(tmp_path / "inside")
    (tmp_path / "inside" / "w.data").rename(tmp_path / "w.data")
    (tmp_path / "inside" / "w.data").symlink_to(tmp_path / "w.data")
    with pytest.raises(ModelError, match="outside of the model's folder"):
        onnx_files.read(path)


def test_hard_link(tmp_path: Path) -> None:
    path = model_with_data(tmp_path)
    os.link(tmp_path / "w.data", tmp_path / "second.data")
    with pytest.raises(ModelError, match="has 2 hard links") as error:
        onnx_files.read(path)
    assert error.value.hint.startswith("replace the link by a copy: cp ")


def test_what_mends_a_link_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    path = model_with_data(tmp_path / "it's mine")
    os.link(path.parent / "w.data", tmp_path / "second.data")
    with pytest.raises(ModelError, match="has 2 hard links") as error:
        onnx_files.read(path)
    command = error.value.hint.removeprefix("replace the link by a copy: ")
    subprocess.run(command, shell=True, check=True)
    onnx_files.read(path)


def test_what_brings_data_into_one_folder_can_be_pasted(tmp_path: Path) -> None:
    path = model_with_data(tmp_path / "it's mine", location="../my w.data")
    (tmp_path / "my w.data").write_bytes(bytes(16))
    with pytest.raises(ModelError) as error:
        onnx_files.read(path)
    words = shlex.split(error.value.hint.partition(": ")[2])
    assert words[:3] == ["cp", "-L", str(path)]
    assert Path(words[3]).samefile(tmp_path / "my w.data")


@pytest.mark.parametrize(
    ("location", "finding"),
    [
        ("w\0.data", "which cannot be a file (embedded null byte)"),
        ("w" * 5000, "which cannot be a file ([Errno 36] File name too long"),
        ("QQQQ", "which cannot be a file (Can't mix strings and bytes in path components)"),
    ],
)
def test_a_place_that_no_file_can_have(tmp_path: Path, location: str, finding: str) -> None:
    path = model_with_data(tmp_path, location=location)
    path.write_bytes(path.read_bytes().replace(b"QQQQ", b"\xff\xfe\xfd\xfc"))
    with pytest.raises(ModelError) as caught:
        onnx_files.read(path)
    assert finding in caught.value.problem
    assert len(caught.value.problem) < 1000


def test_text_has_no_size_in_bytes() -> None:
    word = onnx.helper.make_tensor("w", onnx.TensorProto.STRING, [1], [b"a"])
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.STRING, [1])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.BOOL, [1])
    node = onnx.helper.make_node("Equal", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [x], [y], [word])
    model = ir.serde.deserialize_model(onnx.helper.make_model(graph))
    assert not external_data.is_wanted(model)


def test_memory_that_is_let_go_holds_the_same_when_it_is_looked_at_again(tmp_path: Path) -> None:
    model = onnx_files.read(model_with_data(tmp_path))
    (tensor,) = external_data.external_tensors(model)
    external_data.let_go(tensor)  # nobody has looked yet
    seen = tensor.numpy()
    external_data.let_go(tensor)
    assert seen.tolist() == [0, 1, 2, 3]
    assert tensor.numpy() is seen
    external_data.let_go(ir.tensor(np.zeros(2)))  # in no file: nothing to do
