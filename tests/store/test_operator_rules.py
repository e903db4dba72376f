"""What ONNX says of an operator."""

from __future__ import annotations

import sys

import onnx
import onnx_ir as ir
import pytest

from burnish.store.operator_rules import opset_of, rules_of


def test_the_rules_of_a_convolution() -> None:
    rules = rules_of("", "Conv", 17)
    assert rules is not None
    assert (rules.fewest_inputs, rules.most_inputs) == (2, 3)
    assert rules.must_be_given == {0, 1}
    assert rules.attribute_types["pads"] is ir.AttributeType.INTS
    assert not rules.required_attributes


def test_the_long_name_of_the_domain_is_the_same() -> None:
    assert rules_of("ai.onnx", "Cast", 17) == rules_of("", "Cast", 17)


@pytest.mark.parametrize(
    ("domain", "op_type", "opset"),
    [("com.acme", "Relu", 1), ("", "Relux", 17), ("com.microsoft", "Relu", 1)],
)
def test_others_have_none(domain: str, op_type: str, opset: int | None) -> None:
    assert rules_of(domain, op_type, opset) is None


@pytest.mark.parametrize(
    ("domain", "imports", "opset"),
    [
        ("", {"": 17}, 17),
        ("", {"ai.onnx": 13}, 13),
        ("ai.onnx", {"": 17, "ai.onnx": 13}, 17),
        ("", {}, onnx.defs.onnx_opset_version()),
        ("com.acme", {"com.acme": 2}, 2),
        ("com.acme", {"": 17}, None),
    ],
)
def test_which_opset_a_domain_is_of(
    domain: str, imports: dict[str, int], opset: int | None
) -> None:
    assert opset_of(domain, imports) == opset


def test_an_operator_that_came_later_has_no_upper_bounds() -> None:
    early, late = rules_of("", "LayerNormalization", 12), rules_of("", "LayerNormalization", 17)
    assert early is not None
    assert late is not None
    assert early.fewest_inputs == late.fewest_inputs == 2
    assert (early.most_inputs, late.most_inputs) == (sys.maxsize, 3)


def test_the_table_is_what_onnx_runtime_says_of_its_own_operators() -> None:
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime

    seen = 0
    for schema in runtime.get_all_operator_schema():
        rules = rules_of(schema.domain, schema.name, None)
        if schema.domain != "com.microsoft" or rules is None:
            continue
        seen += 1
        types = {name: int(attribute.type) for name, attribute in schema.attributes.items()}
        known = {name: int(kind) for name, kind in rules.attribute_types.items() if name in types}
        assert known.items() <= types.items(), schema.name
        assert rules.fewest_inputs >= schema.min_input, schema.name
        assert rules.fewest_outputs >= schema.min_output, schema.name
    assert seen > 100
