from __future__ import annotations

import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.core.tensors import TensorSpec
from burnish.feeds.load import load
from burnish.store.interface import Interface

TWO = Interface(
    (TensorSpec("ids", "i64", ("batch", "seq")), TensorSpec("mask", "f32", ("batch", "2*seq"))), ()
)
IDS, MASK = np.zeros((2, 3), np.int64), np.zeros((2, 6), np.float32)


def saved(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "x.npz", **arrays)
    return folder / "x.npz"


def test_inputs_and_their_sizes_are_found(tmp_path: Path) -> None:
    feeds = load(saved(tmp_path, mask=MASK, ids=IDS), TWO)
    assert list(feeds.arrays) == ["ids", "mask"]
    assert feeds.bindings == {"batch": 2, "seq": 3}


def test_types_that_numpy_lacks_are_recognised(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "bf16", (2,)),), ())
    array = np.array([1.5, -2], ml_dtypes.bfloat16)
    feeds = load(saved(tmp_path, x=array.view("V2")), interface)
    assert feeds.arrays["x"].tolist() == [1.5, -2]


def test_bytes_in_the_other_order_are_turned(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "f32", (2,)),), ())
    found = load(saved(tmp_path, x=np.array([1.5, -2], ">f4")), interface).arrays["x"]
    assert (found.tolist(), found.dtype.isnative) == ([1.5, -2], True)


def test_text_is_recognised(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "str", (1,)),), ())
    assert load(saved(tmp_path, x=np.array(["a"])), interface).arrays["x"].tolist() == ["a"]


def test_any_rank_will_do_where_the_model_does_not_say(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "f32", ("...",)),), ())
    assert load(saved(tmp_path, x=MASK), interface).arrays["x"].shape == (2, 6)


PROBLEMS = [
    ({"ids": IDS}, r"lacks mask: f32\[batch, 2\*seq\]; it has ids", "the model takes: ids, mask"),
    (
        {"ids": IDS, "mask": MASK, "z": IDS},
        "has z, which the model does not take",
        "the model takes: ids, mask",
    ),
    (
        {"ids": IDS, "mask": MASK.astype(np.float64)},
        r"'mask' is f64, the model takes mask: f32",
        "convert it to float32 before saving",
    ),
    (
        {"ids": IDS[0], "mask": MASK},
        r"'ids' has the shape \[3\], the model takes ids: i64\[batch, seq\]",
        "save it in the model's shape, or export the model with dynamic dimensions",
    ),
    (
        {"ids": IDS, "mask": MASK[:1]},
        "'batch' is 2 in ids and 1 in mask",
        "make the inputs agree on the sizes that they share",
    ),
    (
        {"ids": IDS, "mask": MASK[:, :5]},
        r"'mask' has 5 where '2\*seq' is 6 \(seq=3\)",
        "make the inputs agree on the sizes that they share",
    ),
]


@pytest.mark.parametrize(("arrays", "problem", "hint"), PROBLEMS)
def test_what_the_model_does_not_take_is_named(
    tmp_path: Path, arrays: dict[str, np.ndarray], problem: str, hint: str
) -> None:
    with pytest.raises(ModelError, match=problem) as error:
        load(saved(tmp_path, **arrays), TWO)
    assert error.value.hint == hint


def test_a_fixed_size_must_be_met(tmp_path: Path) -> None:
    interface = Interface((TensorSpec("x", "f32", ("n", 4)),), ())
    with pytest.raises(ModelError, match=r"has the shape \[2, 6\], the model takes x: f32\[n, 4\]"):
        load(saved(tmp_path, x=MASK), interface)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder") as error:
        load(tmp_path / "none.npz", TWO)
    assert error.value.hint.startswith("burnish inputs MODEL -o ")


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").touch()
    with pytest.raises(UsageError, match=r"is neither an \.npz file nor a test_data_set") as error:
        load(tmp_path / "x.bin", TWO)
    assert error.value.hint == "save the inputs by name with numpy.savez"


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"garbage"])
def test_damaged_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.npz").write_bytes(content)
    with pytest.raises(ModelError, match=r"is not a readable \.npz file") as error:
        load(tmp_path / "x.npz", TWO)
    assert error.value.hint.startswith("save the inputs by name with numpy.savez")


def test_pickles_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is not a readable \.npz file"):
        load(saved(tmp_path, ids=np.array([{}], object)), TWO)


def _npy(shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


@pytest.mark.parametrize(
    "content",
    [_npy("(1099511627776,)"), _npy("(-1,)"), _npy("((((((((("), _npy("(" + "1, " * 72 + ")"), b""],
    ids=["beyond memory", "negative", "no Python", "rank 72", "empty"],
)
def test_an_array_that_claims_anything(tmp_path: Path, content: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("ids.npy", content)
    with pytest.raises(ModelError, match=r"is not a readable|in it is not an array"):
        load(tmp_path / "x.npz", TWO)


def test_something_in_an_archive_that_is_no_array(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("ids", b"hello")
    with pytest.raises(ModelError, match=r"x\.npz: 'ids' in it is not an array"):
        load(tmp_path / "x.npz", TWO)
