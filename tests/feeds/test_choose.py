from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from burnish.core.errors import UsageError
from burnish.feeds.choose import choose
from burnish.feeds.write import write
from burnish.store import layout, onnx_files
from burnish.store.stored import StoredModel

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
g (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
    => (int64[batch, sequence] y) { y = Add(input_ids, attention_mask) }
"""


@pytest.fixture
def model(tmp_path: Path) -> StoredModel:
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "m.onnx")
    return layout.stored(tmp_path / "m.onnx")


def test_samples_differ_in_seed_and_padding(model: StoredModel) -> None:
    feeds = choose(model, bindings={"batch": 3}, samples=4)
    masks = [fed.arrays["attention_mask"] for fed in feeds]
    assert not masks[0][1:, -1].any()
    assert not masks[1][1:, 0].any()
    assert masks[2].all()
    assert not masks[3][1:, -1].any()
    assert (masks[0] != masks[3]).any()


def test_padding_kinds_begin_with_the_requested_one(model: StoredModel) -> None:
    first, second = choose(model, bindings={"batch": 3}, padding="none", samples=2)
    assert first.arrays["attention_mask"].all()
    assert not second.arrays["attention_mask"][1:, -1].any()


def test_later_samples_have_a_row_to_pad(model: StoredModel) -> None:
    first, second = choose(model, samples=2)
    assert (first.bindings["batch"], second.bindings["batch"]) == (1, 2)


def test_a_bound_batch_stays(model: StoredModel) -> None:
    assert [fed.bindings["batch"] for fed in choose(model, bindings={"batch": 1}, samples=2)] == [
        1,
        1,
    ]


def test_one_sample_equals_the_first_of_many(model: StoredModel) -> None:
    (one,) = choose(model, seed=5)
    many = choose(model, seed=5, samples=3)
    np.testing.assert_array_equal(one.arrays["input_ids"], many[0].arrays["input_ids"])


@pytest.mark.parametrize("target", ["x.npz", "folder"])
def test_written_inputs_come_back(model: StoredModel, tmp_path: Path, target: str) -> None:
    feeds = choose(model, bindings={"batch": 2})
    interface = onnx_files.interface(onnx_files.read(model.onnx))
    write(feeds, tmp_path / target, interface=interface, model=model.label)
    (back,) = choose(model, data=tmp_path / target)
    assert back.bindings == feeds[0].bindings
    for name, array in feeds[0].arrays.items():
        np.testing.assert_array_equal(back.arrays[name], array)


def test_a_folder_of_data_sets_gives_all_of_them(model: StoredModel, tmp_path: Path) -> None:
    interface = onnx_files.interface(onnx_files.read(model.onnx))
    write(choose(model, samples=3), tmp_path / "d", interface=interface, model=model.label)
    assert len(choose(model, data=tmp_path / "d")) == 3
    assert len(choose(model, data=tmp_path / "d" / "test_data_set_1")) == 1


def test_data_beside_the_model_is_not_used_unasked(model: StoredModel, tmp_path: Path) -> None:
    interface = onnx_files.interface(onnx_files.read(model.onnx))
    feeds = choose(model, bindings={"sequence": 3})
    write(feeds, tmp_path, interface=interface, model=model.label)
    assert choose(layout.stored(model.onnx))[0].bindings["sequence"] == 128


@pytest.mark.parametrize(
    ("name", "found"), [("batch", "which has 1"), ("beam", "which has no such dimension")]
)
def test_shapes_that_contradict_the_data_are_refused(
    model: StoredModel, tmp_path: Path, name: str, found: str
) -> None:
    interface = onnx_files.interface(onnx_files.read(model.onnx))
    write(choose(model), tmp_path / "x.npz", interface=interface, model=model.label)
    with pytest.raises(UsageError, match=rf"--shape {name}=7 contradicts .*, {found}") as error:
        choose(model, data=tmp_path / "x.npz", bindings={name: 7})
    assert error.value.hint == "leave out --shape or --data: the data decides the sizes"
