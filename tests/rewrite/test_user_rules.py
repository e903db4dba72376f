from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import onnx_ir as ir
import pytest

from burnish.core.errors import UsageError
from burnish.rewrite import user_rules
from burnish.rewrite.options import OptimizeOptions
from burnish.rewrite.rule import Rule
from burnish.study.trial import FusionTrial, tried
from rewriting import Graph, op_types

RULE = (
    "from burnish.rewrite.rule import Rule\n"
    "RULES = (Rule({name!r}, 'a --> b', frozenset({{'Erf'}}), lambda *_: None, None),)\n"
)


def test_the_rules_of_a_file_are_returned(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(RULE.format(name="mine"))
    (rule,) = user_rules.load(path)
    assert rule.name == "mine"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("x = 1", "has no RULES, a tuple of burnish.rewrite.rule.Rule"),
        ("RULES = (1,)", "has no RULES, a tuple of burnish.rewrite.rule.Rule"),
        ("1 / 0", "cannot be run: ZeroDivisionError: division by zero"),
        (RULE.format(name="gelu"), "there is already a rule 'gelu'"),
    ],
)
def test_a_file_that_gives_no_rules_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UsageError, match=problem) as caught:
        user_rules.load(path)
    assert caught.value.hint


def test_what_is_no_python_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("RULES = ()")
    with pytest.raises(UsageError, match="is not a Python file"):
        user_rules.load(tmp_path / "rules.txt")
    with pytest.raises(UsageError, match=r"none\.py: no such file"):
        user_rules.load(tmp_path / "none.py")


PAGE = Path(__file__).parents[2] / "docs" / "user-rules.md"


def softsign(*, numerator: str) -> ir.Model:
    graph = Graph()
    x, y = graph.input("x", ["n", 8]), graph.input("y", ["n", 8])
    shifted = graph.op("Add", 1.0, graph.op("Abs", x))
    result = graph.op("Mul", {"x": x, "y": y}[numerator], graph.op("Reciprocal", shifted))
    return graph.model(result)


def on_page(number: int, folder: Path) -> tuple[Rule, ...]:
    path = folder / "my_rules.py"
    path.write_text(PAGE.read_text().split("```python\n")[number].split("```")[0])
    return user_rules.load(path)


@pytest.fixture
def documented(tmp_path: Path) -> tuple[Rule, ...]:
    return on_page(1, tmp_path)


@pytest.fixture
def for_functions(tmp_path: Path) -> tuple[Rule, ...]:
    return on_page(2, tmp_path)


CALLING = """
<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
main (float[batch, 8] x) => (float[batch, 8] y)
{{
    a = mine.Soft (x)
    b = Relu (a)
    y = mine.Soft (b)
}}
<domain: "mine", opset_import: ["" : 17]>
Soft (x) => (y)
{{
    one = Constant <value = float {{ {one} }}> ()
    a = Abs (x)
    s = {add} (a, one)
    y = Div (x, s)
}}
"""


def calling(*, one: float = 1.0, add: str = "Add") -> ir.Model:
    return ir.from_proto(onnx.parser.parse_model(CALLING.format(one=one, add=add)))


def test_a_rule_for_functions_replaces_calls_as_a_whole(for_functions: tuple[Rule, ...]) -> None:
    result, check = tried(calling(), OptimizeOptions(), FusionTrial(rules=for_functions))
    assert op_types(result.model) == ["Softsign", "Relu", "Softsign"]
    assert [fusion.rule for fusion in result.report.fusions] == ["my-softsign"] * 2
    assert check is not None
    assert (check.sites, check.undone, check.unchecked) == (2, 0, ())


def test_a_function_that_computes_something_else_is_told_and_inlined(
    for_functions: tuple[Rule, ...],
) -> None:
    result, _ = tried(calling(add="Sub"), OptimizeOptions(), FusionTrial(rules=for_functions))
    assert op_types(result.model).count("Sub") == 2
    first, _ = result.report.misses
    assert first.rule == "my-softsign"
    assert "computes Abs, Sub, Div, expected Abs, Add, Div" in first.reason


def test_a_function_of_other_constants_is_found_out_by_trying(
    for_functions: tuple[Rule, ...],
) -> None:
    result, check = tried(calling(one=2.0), OptimizeOptions(), FusionTrial(rules=for_functions))
    assert "Softsign" not in op_types(result.model)
    assert check is not None
    assert check.undone == 2
    assert all("tried on its own" in miss.reason for miss in result.report.misses)


def test_the_documented_rule_fires_and_is_right(documented: tuple[Rule, ...]) -> None:
    result, check = tried(softsign(numerator="x"), OptimizeOptions(), FusionTrial(rules=documented))
    assert op_types(result.model) == ["Softsign"]
    assert check is not None
    assert (check.sites, check.undone, check.unchecked) == (1, 0, ())


def test_the_documented_rule_says_why_not(documented: tuple[Rule, ...]) -> None:
    result, _ = tried(softsign(numerator="y"), OptimizeOptions(), FusionTrial(rules=documented))
    (miss,) = result.report.misses
    assert "plus 1 divides something else than 'x'" in miss.reason
