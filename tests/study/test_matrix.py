from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.store import layout
from burnish.store.stored import StoredModel
from burnish.study.matrix import families, groups
from burnish.study.measuring import items_of
from burnish.study.requests.judging import BenchCommand

TOKENS = """
<ir_version: 8, opset_import: ["": 18]>
g (int64[batch_size, seq_len] input_ids) => (float[batch_size, seq_len] y) {
    y = Cast <to = 1> (input_ids) }
"""
PIXELS = """
<ir_version: 8, opset_import: ["": 18]>
g (float[n, 3, 8, 8] pixels) => (float[n, 3, 8, 8] y) { y = Neg(pixels) }
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("store")
    for name, text in {"bert/dynamo": TOKENS, "bert/script": TOKENS, "vit/dynamo": PIXELS}.items():
        target = layout.place(place, *name.split("/"))
        target.parent.mkdir(parents=True)
        onnx.save(onnx.parser.parse_model(text), target)
    onnx.save(onnx.parser.parse_model(TOKENS), place / "loose.onnx")
    return place


def stored(store: Path, name: str) -> StoredModel:
    return layout.resolve(str(store / name) if "." in name else name, store)


def test_variants_of_a_name_are_compared_and_other_names_are_not(store: Path) -> None:
    models = [stored(store, n) for n in ("bert/dynamo", "vit/dynamo", "bert/script", "loose.onnx")]
    assert [[one.label for one in family] for family in families(models)] == [
        ["bert/dynamo", "bert/script", "loose"], ["vit/dynamo"],
    ]  # fmt: skip


def test_every_combination_is_a_group_under_a_name_of_its_own(store: Path) -> None:
    asked = BenchCommand(
        "bert", batch=(1, 8), sequence=128, precision=("fp32", "int8"), threads=(1, 2)
    )
    found, notes = groups(asked, [stored(store, "bert/dynamo")])
    assert notes == ()
    assert found[0].shape == {"batch_size": 1, "seq_len": 128}
    assert [one.label("m") for one in found[:2]] == [
        "m batch_size=1,seq_len=128 fp32 threads=1", "m batch_size=1,seq_len=128 fp32 threads=2",
    ]  # fmt: skip
    assert len({one.label("m") for one in found}) == len(found) == 8


def test_what_one_group_has_alone_is_not_in_its_name(store: Path) -> None:
    found, _ = groups(
        BenchCommand("bert", batch=4, precision="f16"), [stored(store, "bert/script")]
    )
    assert [one.label("m@e") for one in found] == ["m@e"]


def test_a_size_that_a_model_lacks_is_left_out_and_said(store: Path) -> None:
    models = [stored(store, "vit/dynamo"), stored(store, "bert/dynamo")]
    found, notes = groups(BenchCommand("x", batch=(1, 2), sequence=(16, 32)), models)
    assert [dict(one.shape) for one in found[:2]] == [{"n": 1}, {"n": 2}]
    assert len(found) == 2 + 4
    assert notes == ("--sequence says nothing of vit/dynamo, which has no such dimension",)


def test_a_batch_is_known_by_what_it_means_and_not_by_its_name(store: Path) -> None:
    assert items_of(stored(store, "vit/dynamo"), {"n": 7}) == 7
    assert items_of(stored(store, "bert/dynamo"), {"batch_size": 3, "seq_len": 9}) == 3


@given(
    batch=st.lists(st.integers(1, 9), max_size=3),
    sequence=st.lists(st.integers(1, 9), max_size=3),
    threads=st.lists(st.integers(1, 3), max_size=2),
)
def test_there_are_as_many_groups_as_combinations(
    store: Path, batch: list[int], sequence: list[int], threads: list[int]
) -> None:
    asked = BenchCommand("x", batch=batch, sequence=sequence, threads=threads)
    found, _ = groups(asked, [stored(store, "bert/dynamo")])
    sizes = [max(1, len(set(some))) for some in (batch, sequence, threads)]
    assert len(found) == sizes[0] * sizes[1] * sizes[2]
    assert len({one.label("m") for one in found}) == len(found)
