from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from burnish.core.errors import UsageError
from burnish.core.tensors import TensorSpec
from burnish.feeds.feed import Feeds
from burnish.feeds.load import load
from burnish.feeds.write import write, write_npz
from burnish.store.interface import Interface

ODD = Interface(
    (
        TensorSpec("file", "f32", ("n",)),
        TensorSpec("a/b", "bf16", ("n",)),
        TensorSpec("c", "i4", ("n",)),
        TensorSpec("t", "str", ("n",)),
    ),
    (),
)
FEEDS = Feeds(
    {
        "file": np.ones(2, np.float32),
        "a/b": np.array([1.5, 2], ml_dtypes.bfloat16),
        "c": np.array([-8, 7], ml_dtypes.int4),
        "t": np.array(["grün", ""], object),
    },
    {"n": 2},
    ("a guess",),
)


def test_odd_names_and_types_come_back_from_npz(tmp_path: Path) -> None:
    report = write([FEEDS], tmp_path / "x.npz", interface=ODD, model="m")
    back = load(tmp_path / "x.npz", ODD)
    assert {name: array.tolist() for name, array in back.arrays.items()} == {
        name: array.tolist() for name, array in FEEDS.arrays.items()
    }
    (sample,) = report.samples
    assert sample.path == tmp_path / "x.npz"
    assert sample.inputs[1] == TensorSpec("a/b", "bf16", (2,))
    assert (sample.bindings, sample.notes) == ({"n": 2}, ("a guess",))


def test_equal_inputs_give_equal_files(tmp_path: Path) -> None:
    for name in ("x.npz", "y.npz"):
        write([FEEDS], tmp_path / name, interface=ODD, model="m")
    assert (tmp_path / "x.npz").read_bytes() == (tmp_path / "y.npz").read_bytes()


def test_a_folder_holds_every_sample(tmp_path: Path) -> None:
    report = write([FEEDS, FEEDS], tmp_path / "d", interface=ODD, model="m")
    assert [sample.path.name for sample in report.samples] == ["test_data_set_0", "test_data_set_1"]
    assert all(sample.path.is_dir() for sample in report.samples)


def test_an_npz_file_holds_one_sample(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"an \.npz file holds one sample, not 2") as error:
        write([FEEDS, FEEDS], tmp_path / "x.npz", interface=ODD, model="m")
    assert error.value.hint == f"name a folder instead: -o {tmp_path / 'x'}"
    with pytest.raises(UsageError) as error:
        write([FEEDS, FEEDS], tmp_path / "my x.npz", interface=ODD, model="m")
    assert error.value.hint == f"name a folder instead: -o '{tmp_path / 'my x'}'"


def test_a_name_that_no_archive_holds(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        write_npz({"n" * 70_000: np.zeros(2)}, tmp_path / "x.npz")
    assert caught.value.problem == (
        f"{tmp_path / 'x.npz'}: no .npz file holds a tensor with a name of 70,000 characters"
    )
    assert caught.value.hint == f"name a folder instead: -o {tmp_path / 'x'}"
