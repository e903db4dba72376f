from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.store import layout
from burnish.zoo.entry import NetworkOptions
from burnish.zoo.exporting.name import (
    default_name,
    default_variant,
    placed,
    source_named,
    writer_of,
)
from burnish.zoo.exporting.request import ExportRequest, FactorySource, FolderSource, ZooSource


def test_a_name_of_the_zoo_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").mkdir()
    assert source_named("gpt2") == ZooSource("gpt2")
    assert source_named("./gpt2") == FolderSource(tmp_path / "gpt2")


def test_a_folder_is_a_folder(tmp_path: Path) -> None:
    assert source_named(str(tmp_path), trust_pickle=True) == FolderSource(tmp_path, True)


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown model 'gpt3'") as raised:
        source_named("gpt3")
    assert raised.value.hint.startswith("did you mean 'gpt2'?")


def test_an_unknown_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: no such folder") as raised:
        source_named(str(tmp_path / "nowhere"))
    assert raised.value.hint.endswith("burnish zoo list")


def test_a_factory_without_its_option_is_pointed_to_it() -> None:
    with pytest.raises(UsageError, match="neither a model of the zoo nor a folder") as raised:
        source_named("net.py:make")
    assert raised.value.hint == "a function is named with --module net.py:make"


def test_a_function_is_placed_without_an_import(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("raise RuntimeError")
    assert placed(f"{tmp_path / 'net.py'}:make") == (str(tmp_path / "net.py"), "make")
    assert placed("package.net:make") == ("package.net", "make")
    with pytest.raises(UsageError, match=r"gone\.py: no such file") as raised:
        placed(f"{tmp_path / 'gone.py'}:make")
    assert raised.value.hint == "write path/to/file.py:function"
    with pytest.raises(UsageError, match=r"'net\.py' does not name a function"):
        placed("net.py")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("gpt2", "gpt2"),
        ("/home/me/my model", "my_model"),
        ("/home/me/.hidden/", "hidden"),
        ("nets/tiny.py:make", "tiny"),
        ("package.nets.tiny:make", "tiny"),
        ("tiny:make", "tiny"),
    ],
)
def test_every_source_has_a_name_that_the_store_takes(source: str, name: str) -> None:
    assert default_name(source) == name
    layout.place(Path("store"), default_name(source), "dynamo")


def test_a_variant_names_all_that_sets_it_apart() -> None:
    plain = ExportRequest(ZooSource("gpt2"))
    assert default_variant(plain, int8=False, optimize=False) == "dynamo"
    options = NetworkOptions(layers=2, small=True, past=True)
    full = ExportRequest(ZooSource("gpt2"), options, "torchscript", functions=True)
    assert (
        default_variant(full, int8=True, optimize=True)
        == "torchscript_small_2layers_past_functions_int8_optimized"
    )
    half = ExportRequest(ZooSource("gpt2"), NetworkOptions(precision="fp16"))
    assert default_variant(half, int8=False, optimize=False) == "dynamo_fp16"


def test_a_graph_that_is_written_here_is_called_by_its_style() -> None:
    assert writer_of(ExportRequest(ZooSource("bert_tf"))) == "tf2onnx-style"
    assert writer_of(ExportRequest(FactorySource("a:b"), exporter="torchscript")) == "torchscript"
