from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.store import layout
from burnish.store.stored import TorchSource


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name, variant in (("bert", "dynamo"), ("bert", "torchscript"), ("vit", "dynamo")):
        path = layout.place(tmp_path / "store", name, variant)
        path.parent.mkdir(parents=True)
        path.touch()
    for number in (10, 2, 0):
        (tmp_path / "store" / "bert" / "dynamo" / f"test_data_set_{number}").mkdir()
    return tmp_path / "store"


def test_place_is_model_then_variant() -> None:
    place = layout.place(Path("s"), "bert-mini", "dynamo")
    assert place == Path("s/bert-mini/dynamo/bert-mini_dynamo.onnx")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", ".hidden", "a b"])
def test_names_that_are_no_folder_names_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be part of a model's name") as error:
        layout.place(Path("s"), name, "dynamo")
    assert error.value.hint.startswith("use letters, digits")


def test_a_name_with_variant_is_found(store: Path) -> None:
    found = layout.resolve("bert/dynamo", store)
    assert found.onnx == store / "bert/dynamo/bert_dynamo.onnx"
    assert found.label == "bert/dynamo"


def test_data_sets_are_in_order_of_their_number(store: Path) -> None:
    names = [path.name for path in layout.resolve("bert/dynamo", store).data_sets]
    assert names == ["test_data_set_0", "test_data_set_2", "test_data_set_10"]


def test_a_name_may_mean_all_its_variants(store: Path) -> None:
    found = layout.resolve_all("bert", store)
    assert [one.label for one in found] == ["bert/dynamo", "bert/torchscript"]
    assert [one.label for one in layout.resolve_all(str(store), store)] == [
        "bert/dynamo", "bert/torchscript", "vit/dynamo",
    ]  # fmt: skip


def test_a_name_with_one_variant_will_do(store: Path) -> None:
    assert layout.resolve("vit", store).label == "vit/dynamo"


def test_a_name_with_several_variants_will_not(store: Path) -> None:
    with pytest.raises(UsageError, match="'bert' names 2 models") as error:
        layout.resolve("bert", store)
    assert error.value.hint == "name one of: bert/dynamo, bert/torchscript"


@pytest.mark.parametrize("path", ["vit", "vit/dynamo", "vit/dynamo/vit_dynamo.onnx"])
def test_paths_into_a_store_know_model_and_variant(store: Path, path: str) -> None:
    assert layout.resolve(str(store / path), Path("elsewhere")).label == "vit/dynamo"


def test_the_working_folder_may_be_the_model(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(store / "vit")
    assert layout.resolve(".", Path("elsewhere")).label == "vit/dynamo"


def test_a_file_outside_of_a_store_is_called_by_its_stem(tmp_path: Path) -> None:
    (tmp_path / "any.onnx").touch()
    found = layout.resolve(str(tmp_path / "any.onnx"), tmp_path)
    assert (found.label, found.variant, found.torch) == ("any", None, None)


def test_a_folder_with_several_files_asks_which(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.onnx").touch()
    with pytest.raises(UsageError, match="names 2 models") as error:
        layout.resolve(str(tmp_path), tmp_path)
    assert error.value.hint == f"name one of: {tmp_path / 'a.onnx'}, {tmp_path / 'b.onnx'}"


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model in this folder") as error:
        layout.resolve(str(tmp_path), tmp_path)
    assert error.value.hint == "name an .onnx file or the folder of one"


def test_an_unknown_name_gets_the_nearest(store: Path) -> None:
    with pytest.raises(UsageError, match="'bort/dynamo' is neither a file nor a model in") as error:
        layout.resolve("bort/dynamo", store)
    assert error.value.hint.startswith("did you mean 'bert/dynamo'? known: bert, bert/dynamo")


def test_an_unknown_name_without_a_store(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a file nor a model") as error:
        layout.resolve("x.onnx", tmp_path / "none")
    assert error.value.hint == "see what can be exported: burnish zoo list"


def test_a_misspelt_file_is_led_to_one_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model.onnx").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="neither a file nor a model") as error:
        layout.resolve("modle.onnx", tmp_path / "none")
    assert error.value.hint == "did you mean 'model.onnx'? known: model.onnx"


def test_listing_has_every_model(store: Path) -> None:
    labels = [model.label for model in layout.listing(store)]
    assert labels == ["bert/dynamo", "bert/torchscript", "vit/dynamo"]


def test_listing_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder") as error:
        layout.listing(tmp_path / "none")
    assert error.value.hint == "name the store with --store or BURNISH_STORE"


def test_the_torch_source_is_read_back(store: Path) -> None:
    source = TorchSource("function", "package.module:function", {"layers": 2, "past": False})
    layout.write_source(layout.place(store, "vit", "dynamo"), source)
    assert layout.resolve("vit", store).torch == source
    assert not layout.resolve("vit", store).trusted


OWN = "burnish.zoo.exporting.sources:module_and_inputs"


@pytest.mark.parametrize(
    ("factory", "arguments", "source"),
    [
        ("burnish.zoo.factory:module_and_inputs", {"name": "vit"}, ("zoo", "vit", {})),
        (OWN, {"factory": "/net.py:make", "seed": 1}, ("module", "/net.py:make", {"seed": 1})),
        (OWN, {"folder": "/own"}, ("folder", "/own", {})),
        ("net.py:make", {"n": 2}, ("function", "net.py:make", {"n": 2})),
        ("burnish.evil.py:make", {}, ("function", "burnish.evil.py:make", {})),
        ("burnish.zoo.factory:build", {"name": "vit"},
         ("function", "burnish.zoo.factory:build", {"name": "vit"})),
    ],
)  # fmt: skip
def test_sources_of_the_first_schema_are_understood(
    store: Path, factory: str, arguments: dict[str, object], source: tuple[object, ...]
) -> None:
    old = {"kind": "torch-source", "schema": 1, "burnish": "0.1.0", "factory": factory}
    text = json.dumps({**old, "arguments": arguments})
    (store / "vit" / "dynamo" / "source.json").write_text(text)
    assert layout.resolve("vit", store).torch == TorchSource(*source)


def test_a_source_cannot_say_that_it_is_trusted(store: Path) -> None:
    text = json.dumps({
        "kind": "torch-source", "schema": 2, "burnish": "0.1.0", "origin": "function",
        "name": "net.py:make", "arguments": {}, "trusted": True,
    })  # fmt: skip
    (store / "vit" / "dynamo" / "source.json").write_text(text)
    assert not layout.resolve("vit", store).trusted


def test_a_damaged_torch_source_is_said(store: Path) -> None:
    (store / "vit" / "dynamo" / "source.json").write_text("{}")
    with pytest.raises(ModelError, match=r"source\.json: holds no record, not "):
        layout.resolve("vit", store)


def test_a_name_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"m\xff.onnx")
    path.write_bytes(b"")
    with pytest.raises(ModelError, match=r"m\\udcff\.onnx: is no name in UTF-8") as error:
        layout.resolve(str(path), tmp_path)
    assert error.value.hint == "give the file, or its folder, another name"
