from __future__ import annotations

import math
from pathlib import Path

import pytest

from burnish.analyze.scenario import Action, Scenario, action, option, read
from burnish.analyze.selector import Selector
from burnish.core.errors import ModelError, UsageError


@pytest.mark.parametrize(
    ("do", "text", "by", "shown"),
    [
        ("scale", "Softmax=4", 4.0, "scale Softmax 4.00×"),
        ("scale", "Softmax=inf", math.inf, "scale Softmax ∞×"),
        ("scale", "op:A,op:B=1.5x", 1.5, "scale op:A, op:B 1.50×"),
        ("set", "top:1=20us", 20e-6, "set top:1 20.0 µs"),
        ("set", "top:1=0 ms", 0.0, "set top:1 0 ns"),
        ("roofline", "MatMul=80%", 0.8, "roofline MatMul at 80.0 %"),
        ("precision", "MatMul=int8", "i8", "precision MatMul i8"),
        ("remove", "a,b", None, "remove a, b"),
        ("fuse", "a,b", None, "fuse a, b"),
    ],
)
def test_options_say_what_to_change_and_how(
    do: str, text: str, by: float | str | None, shown: str
) -> None:
    found = option(do, text)
    assert found.by == by or found.by == pytest.approx(by)
    assert str(found) == shown


@pytest.mark.parametrize(
    ("do", "text", "problem"),
    [
        ("scale", "Softmax", "--scale 'Softmax' is not WHAT=VALUE"),
        ("scale", "=2", "scale does not say what to change"),
        ("scale", "a=", "scale has no value"),
        ("scale", "a=fast", "scale: 'fast' is no value for it"),
        ("scale", "a=0", "scale: 0 is out of range"),
        ("roofline", "a=120%", "roofline: 120% is out of range"),
        ("set", "a=3", "set: '3' is no value for it"),
    ],
)
def test_options_that_make_no_sense(do: str, text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        option(do, text)
    assert caught.value.problem == problem
    assert caught.value.hint.startswith("for instance --")


def test_what_cannot_be_done_is_told_with_what_can() -> None:
    with pytest.raises(UsageError) as caught:
        action("scales", ["a"], 2)
    assert caught.value.problem == "'scales' is nothing that can be done"
    assert caught.value.hint.startswith("did you mean 'scale'?")
    with pytest.raises(UsageError, match=r"batch: 2.5 is out of range"):
        action("batch", by=2.5)


def test_a_toml_file_may_hold_several_scenarios(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text(
        '[[scenario]]\nname = "one"\n[[scenario.action]]\ndo = "scale"\nselect = "op:A"\nby = 2\n'
        '[[scenario]]\n[[scenario.action]]\ndo = "cuda-graph"\n'
    )
    assert read(path) == (
        Scenario("one", (Action("scale", (Selector("op", "A"),), 2.0),)),
        Scenario("plans 1", (Action("cuda-graph"),)),
    )


def test_a_json_file_may_be_one_scenario(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"action": [{"do": "remove", "select": ["a", "b"]}]}')
    removed = Action("remove", (Selector("any", "a"), Selector("any", "b")))
    assert read(path) == (Scenario("plan", (removed,)),)


def test_speedups_of_amdahl4ml_are_read_with_ids_as_text_or_numbers(tmp_path: Path) -> None:
    path = tmp_path / "speedups.json"
    path.write_text(
        '{"speedups": [{"op_id": "2", "speedup": 2}, {"op_id": 7, "speedup": 3},'
        ' {"op_type": "matmul", "speedup": 2}, {"name": "/a/b", "speedup": 5}]}'
    )
    (found,) = read(path)
    assert [str(one) for one in found.actions] == [
        "scale matmul 2.00×",
        "scale name:/a/b 5.00×",
        "scale id:2 2.00×",
        "scale id:7 3.00×",
    ]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.toml", "x = ", "is not TOML"),
        ("a.json", "{", "is not JSON"),
        ("a.json", "[1]", "holds no table"),
        ("a.toml", "name = 'x'", "scenario 0 has no 'action'"),
        ("a.toml", "[[action]]\ndo = 'scale'\nselekt = 'a'", "'selekt' is not known"),
        ("a.toml", "[[action]]\ndo = 'scale'\nselect = 'a'", "scale has no value"),
        ("a.toml", "scenario = 3", "'scenario' is not a list"),
        ("a.json", '{"speedups": 3}', "'speedups' is not a list"),
        ("a.json", '{"speedups": [{"speedup": 2}]}', "a speed-up names no op_id, op_type or name"),
    ],
)
def test_files_that_cannot_be_used_say_why(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError) as caught:
        read(tmp_path / name)
    assert problem in caught.value.problem


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        read(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", "[" * 100_000, "is not JSON (it is nested too deeply)"),
        ("a.toml", "a = " + "[" * 100_000, "is not TOML (it is nested too deeply)"),
        ("a.json", '{"scenario": [1]}', "scenario 0 is not a table"),
        ("a.json", '{"action": [1]}', "an action is 1, not a table"),
        ("a.json", '{"speedups": [1]}', "a speed-up is 1, not a table"),
        ("a.json", '{"speedups": [{"name": "a", "speedup": "x"}]}', "scale: 'x' is no value"),
        (
            "a.json",
            '{"action": [{"do": "scale", "select": "a", "by": NaN}]}',
            "nan is out of range",
        ),
        ("a.json", '{"action": [{"do": "set", "select": "a", "by": Infinity}]}', "out of range"),
        ("a.json", '{"action": [{"do": "set", "select": "a", "by": "1e400s"}]}', "out of range"),
        (
            "a.json",
            '{"action": [{"do": "scale", "select": "a", "by": ' + "9" * 400 + "}]}",
            "a number is out of range",
        ),
    ],
)
def test_odd_content_says_what_is_odd(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError) as caught:
        read(tmp_path / name)
    assert problem in caught.value.problem


def test_any_selector_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"action": [{"do": "remove", "select": 1.5}]}')
    (found,) = read(tmp_path / "a.json")
    assert str(found.actions[0]) == "remove 1.5"


def test_the_bare_list_of_amdahl4ml_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "speedups.json"
    path.write_text('[{"op_id": "2", "speedup": 2}]')
    (found,) = read(path)
    assert [str(action) for action in found.actions] == ["scale id:2 2.00×"]
