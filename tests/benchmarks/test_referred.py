"""Exports without their weights are what they were, to the byte, or are said not to be."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser
from weightless import added

torch = pytest.importorskip("torch")
import referred  # noqa: E402  (imports torch)
from referred import (  # noqa: E402
    Piece,
    digest,
    joined,
    made,
    main,
    pack,
    raw,
    references,
    taken_apart,
)

from burnish.zoo.entry import BuiltModel  # noqa: E402


def built() -> BuiltModel:
    """Return a model with weights, a buffer and an input that are worth a reference."""
    torch.manual_seed(4)
    layer = torch.nn.Linear(40, 30)
    layer.register_buffer("table", torch.randn(6, 50).half())
    x = {"x": torch.randn(5, 40)}
    return BuiltModel(layer, x, {"x": torch.randn(7, 40)}, ("y",), {})


def exported(store: Path, model: BuiltModel, *, beside: bool = False) -> Path:
    """Write what an exporter might: weights turned round, a table, constants of its own, inputs."""
    graph = parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
        g (float[n,40] x) => (float[n,30] y) { h = MatMul(x, w) y = Add(h, own) }""")
    weight = raw(model.module.weight, referred.TURNED)
    own = np.random.default_rng(1).random((30, 30)).astype(np.float32)
    table = model.module.table.numpy()
    graph.graph.initializer.extend([
        numpy_helper.from_array(np.frombuffer(weight, np.float32).reshape(40, 30), "w"),
        numpy_helper.from_array(own, "own"), numpy_helper.from_array(table, "table"),
    ])  # fmt: skip
    folder = store / "one" / "dynamo"
    (folder / "test_data_set_0").mkdir(parents=True)
    onnx.save(
        graph, str(folder / "one_dynamo.onnx"), save_as_external_data=beside, size_threshold=0,
        location="one_dynamo.000000000000.data",
    )  # fmt: skip
    data = folder / "test_data_set_0"
    for name, values in (("input_0", model.inputs["x"].numpy()), ("output_0", np.ones(200))):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(values).SerializeToString())
    source = {"kind": "torch-source", "schema_version": 2, "origin": "zoo", "name": "one"}
    (folder / "source.json").write_text(json.dumps({**source, "arguments": {"small": True}}))
    return folder


def of_zoo(monkeypatch: pytest.MonkeyPatch, model: BuiltModel) -> None:
    monkeypatch.setattr("referred.factory.build", lambda name, options: model)


def files(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("beside", [False, True])
def test_an_export_is_restored_to_the_byte_without_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, beside: bool
) -> None:
    of_zoo(monkeypatch, built())
    before = files(exported(tmp_path / "store", built(), beside=beside))
    pack(tmp_path / "store", tmp_path / "carried")
    with tarfile.open(tmp_path / "carried" / "one.tar.xz") as archive:
        kept = sum(member.size for member in archive if not member.name.endswith(referred.TOLD))
    weights = 4 * 40 * 30 + 2 * 6 * 50 + 4 * 5 * 40
    left_out = len(before.pop("test_data_set_0/output_0.pb"))
    assert left_out
    assert kept == sum(map(len, before.values())) - weights
    assert main(["make", str(tmp_path / "carried" / "one.tar.xz"), str(tmp_path / "there")]) == 0
    assert files(tmp_path / "there" / "one" / "dynamo") == before


def test_what_is_drawn_otherwise_is_no_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_zoo(monkeypatch, built())
    exported(tmp_path / "store", built())
    pack(tmp_path / "store", tmp_path / "carried")
    other = built()
    with torch.no_grad():
        other.module.weight[3, 4] += 1e-6
    of_zoo(monkeypatch, other)
    assert main(["make", str(tmp_path / "carried" / "one.tar.xz"), str(tmp_path / "there")]) == 1
    assert "one_dynamo.onnx is not what it was" in capsys.readouterr().out
    assert not (tmp_path / "there" / "one").exists()
    of_zoo(monkeypatch, replace(other, module=torch.nn.Identity()))
    assert main(["make", str(tmp_path / "carried" / "one.tar.xz"), str(tmp_path / "there")]) == 1
    assert "the model has no module." in capsys.readouterr().out


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_an_archive_that_is_none_is_said_to_be_none(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "one.tar.xz"
    archive.write_bytes(content)
    assert main(["make", str(archive), str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("one.tar.xz is not restored: ")
    with tarfile.open(archive, "w:xz") as out:
        added(out, "one/dynamo/a", b"1")
    assert main(["make", str(archive), str(tmp_path)]) == 1
    assert "has no told.json" in capsys.readouterr().out


def test_only_what_is_new_is_packed_and_only_what_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_zoo(monkeypatch, built())
    exported(tmp_path / "store", built())
    main(["pack", str(tmp_path / "store"), str(tmp_path / "carried")])
    assert capsys.readouterr().out.startswith("one.tar.xz: ")
    main(["pack", str(tmp_path / "store"), str(tmp_path / "carried")])
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(referred, "LARGEST_BYTES", 100)
    main(["pack", str(tmp_path / "store"), str(tmp_path / "other")])
    assert capsys.readouterr().out.rstrip().endswith("too large to be carried")
    assert not list((tmp_path / "other").iterdir())


def test_bytes_that_are_no_tensor_stay_and_spans_may_overlap() -> None:
    model = made(built())
    known = references(model)
    weight = raw(model["module.weight"], referred.AS_IT_LIES)
    data = b"head" + weight + b"between" + weight + b"tail"
    first, second = 4, 4 + len(weight) + 7
    spans = [(first, len(weight)), (first, len(weight)), (second, len(weight)), (0, 600)]
    pieces, kept = taken_apart(data, spans, known)
    assert kept == b"headbetweentail"
    assert [piece.name for piece in pieces] == ["", "module.weight", "", "module.weight", ""]
    assert joined(pieces, kept, model) == data
    assert taken_apart(b"nothing", [], known) == ([Piece(7)], b"nothing")


def test_equal_bytes_have_one_digest_whatever_they_lie_in() -> None:
    assert digest(b"abc") == digest(memoryview(b"xabcx")[1:4]) != digest(b"abd")
    assert raw(torch.tensor(1.5), referred.AS_IT_LIES) == b"\0\0\xc0\x3f"
