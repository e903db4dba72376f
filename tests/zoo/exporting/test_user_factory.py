from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from burnish.core.errors import ModelError, UsageError
from burnish.zoo.exporting.user_factory import (
    absolute,
    build_from_factory,
    flat_tensors,
    larger,
    resized,
    sizes,
)

pytestmark = pytest.mark.torch

NET = """
import torch
from typing import NamedTuple

class Net(torch.nn.Module):
    def forward(self, left, right):
        return {RESULT}

def make():
    inputs = {INPUTS}
    return {MADE}
"""
PLAIN = {
    "RESULT": "left @ right",
    "INPUTS": "(torch.ones(2, 3), torch.ones(3, 4))",
    "MADE": "Net(), inputs",
}


def factory(folder: Path, **parts: str) -> str:
    text = NET
    for name, value in {**PLAIN, **parts}.items():
        text = text.replace("{" + name + "}", value)
    path = folder / f"net_{abs(hash(text))}.py"
    path.write_text(text)
    return f"{path}:make"


def test_positional_inputs_get_the_names_of_forward(tmp_path: Path) -> None:
    built = build_from_factory(factory(tmp_path))
    assert built.input_names == ("left", "right")
    assert built.output_names == ("output",)
    assert built.module(**built.inputs)[0].tolist() == [[3.0] * 4] * 2


@pytest.mark.parametrize(
    ("result", "names"),
    [
        ("(left, right)", ("output_0", "output_1")),
        ("{'sum': left + 1, 'deep': (right, right)}", ("sum", "deep_0", "deep_1")),
        ("{'left': left + 1}", ("output",)),
        ("[left, None, right]", ("output_0", "output_1")),
    ],
)
def test_outputs_are_flat_and_named(tmp_path: Path, result: str, names: tuple[str, ...]) -> None:
    built = build_from_factory(factory(tmp_path, RESULT=result))
    assert built.output_names == names
    assert len(built.module(**built.inputs)) == len(names)


def test_random_weights_are_the_same_every_time_and_the_callers_stay(tmp_path: Path) -> None:
    import torch

    asked = factory(tmp_path, INPUTS="(torch.randn(2, 3), torch.randn(3, 4))")
    torch.manual_seed(7)
    undisturbed = torch.randn(1)
    torch.manual_seed(7)
    first, again = (build_from_factory(asked, seed=seed).inputs["left"] for seed in (1, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, build_from_factory(asked, seed=2).inputs["left"])
    assert torch.equal(torch.randn(1), undisturbed)


def test_axes_give_second_inputs_of_other_sizes(tmp_path: Path) -> None:
    made = "Net(), inputs, {'left': {0: 'rows', 1: 'inner'}, 'right': {0: 'inner'}}"
    built = build_from_factory(factory(tmp_path, MADE=made))
    assert built.dynamic_axes["right"] == {0: "inner"}
    left, right = built.second_inputs["left"], built.second_inputs["right"]
    assert left.shape[0] not in (2, left.shape[1])
    assert left.shape[1] == right.shape[0] != 3
    assert right.shape[1] == 4


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"MADE": "Net()"}, "returned Net, not a module and its inputs"),
        ({"MADE": "(1, 2, 3, 4)"}, "returned 4 things, not a module and its inputs"),
        ({"MADE": "3, inputs"}, "the factory's first value is a int, not a torch.nn.Module"),
        ({"INPUTS": "(torch.ones(2, 3), 7)"}, "the input 'right' is int, not a tensor"),
        ({"RESULT": "None"}, "the module returned NoneType, which holds no tensor"),
        ({"MADE": "Net(), inputs, {'x': {0: 'b'}}"}, "of 'x' are not axes of an input"),
        ({"MADE": "Net(), inputs, {'left': {2: 'b'}}"}, "of 'left' are not axes of an input"),
    ],
)
def test_what_a_factory_must_return_is_said(
    tmp_path: Path, parts: dict[str, str], problem: str
) -> None:
    with pytest.raises(ModelError, match=problem) as raised:
        build_from_factory(factory(tmp_path, **parts))
    assert raised.value.hint


def test_a_place_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.py: no such file"):
        build_from_factory(str(tmp_path / "gone.py:make"))
    with pytest.raises(UsageError, match=r"there is no module 'no_such_package\.net'"):
        build_from_factory("no_such_package.net:make")
    with pytest.raises(UsageError, match="'make' does not name a function"):
        build_from_factory("make")
    with pytest.raises(UsageError, match="has no function 'maked'") as raised:
        build_from_factory(factory(tmp_path) + "d")
    assert raised.value.hint == "it has: make"  # and neither what it imports nor its classes
    (tmp_path / "bare.py").write_text("import torch\nfrom torch import nn\n")
    with pytest.raises(UsageError, match="has no function 'make'") as raised:
        build_from_factory(f"{tmp_path / 'bare.py'}:make")
    assert raised.value.hint.startswith("write a function there that can return (module, inputs)")


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("os:system", "Python itself"),
        ("subprocess:run", "Python itself"),
        ("builtins:exec", "Python itself"),
        ("burnish.core.files:write_text", "burnish"),
        ("burnish.zoo.factory:build", "burnish"),
    ],
)
def test_what_belongs_to_python_or_to_burnish_is_no_factory(name: str, owner: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is no factory: .* belongs to {owner}") as raised:
        build_from_factory(name)
    assert raised.value.hint.startswith("name a function of your own that can return (module,")


@pytest.mark.parametrize(
    "line", ["from os import system as make", "from subprocess import run as make"]
)
def test_a_file_does_not_make_a_factory_of_what_belongs_to_python(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "net.py").write_text(line)
    with pytest.raises(
        UsageError, match=r"net\.py:make is no factory: \w+ belongs to Python itself"
    ):
        build_from_factory(f"{tmp_path / 'net.py'}:make")


def test_a_file_is_found_again_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("net.py:make") == f"{tmp_path / 'net.py'}:make"
    assert absolute("package.net:make") == "package.net:make"


def test_named_tuples_keep_their_names() -> None:
    import collections

    import torch

    pair: Any = collections.namedtuple("Pair", "mean spread")(torch.zeros(1), torch.ones(1))  # noqa: PYI024
    assert [name for name, _ in flat_tensors(pair)] == ["mean", "spread"]


def test_resized_inputs_keep_their_range() -> None:
    import torch

    inputs = {"ids": torch.tensor([[5, 6, 7], [8, 9, 10]])}
    axes = {"ids": {0: "batch", 1: "sequence"}}
    old = sizes(inputs, axes)
    assert old == {"batch": 2, "sequence": 3}
    new = resized(inputs, axes, larger(old))
    assert new["ids"].tolist() == [
        [9, 10, 8, 9, 10, 8],
        [6, 7, 5, 6, 7, 5],
        [9, 10, 8, 9, 10, 8],
    ]
