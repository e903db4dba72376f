"""What functions expand to is counted, not done; and what never ends is found."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import parser

from burnish.core import settings
from burnish.core.errors import ModelError
from burnish.store import expansion, onnx_files
from burnish.store.inlining import inline

HEAD = '<ir_version: 9, opset_import: ["" : 17, "my" : 1]>'
BRANCHES = "then_branch = t () => (p) { p = my.f0(a) }, else_branch = e () => (q) { q = Neg(a) }"
IMPORTS = '<domain: "my", opset_import: ["" : 17, "my" : 1]>'


def _doubling(levels: int) -> str:
    functions = [f"{IMPORTS} f0 (a) => (b) {{ b = Neg(a) }}"]
    functions += [
        f"{IMPORTS} f{n} (a) => (b) {{ c = my.f{n - 1}(a) b = my.f{n - 1}(c) }}"
        for n in range(1, levels + 1)
    ]
    call = f"g (float[4] x) => (float[4] y) {{ y = my.f{levels}(x) }}"
    return HEAD + call + " ".join(functions)


def _model(text: str) -> ir.Model:
    return ir.serde.deserialize_model(parser.parse_model(text))


def test_a_kilobyte_that_stands_for_thousands_of_nodes_is_refused() -> None:
    with pytest.raises(ModelError) as caught:
        expansion.check(_model(_doubling(12)), Path("m.onnx"), most_nodes=4000)
    assert caught.value.problem == (
        "m.onnx: its functions, written out, are 4,096 nodes, and 4,000 are allowed"
    )
    assert caught.value.hint == ("if the model is meant so, allow more: BURNISH_MAX_NODES=4096")


def test_what_would_never_be_written_out_is_counted_at_once() -> None:
    with pytest.raises(ModelError, match=r"are 10\^18 nodes"):
        expansion.check(_model(_doubling(60)), Path("m.onnx"), most_nodes=10**6)


def test_the_bound_can_be_lifted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(_doubling(17)).SerializeToString())
    with pytest.raises(ModelError, match="131,072 nodes, and 100,000 are allowed"):
        onnx_files.read(path)
    monkeypatch.setenv("BURNISH_MAX_NODES", "131072")
    assert len(onnx_files.read(path).functions) == 18


def test_a_model_without_functions_is_as_large_as_it_is() -> None:
    text = HEAD + "g (float[4] x) => (float[4] y) { a = Neg(x) y = Neg(a) }"
    expansion.check(_model(text), Path("m.onnx"), most_nodes=1)


@pytest.mark.parametrize(
    "functions",
    [
        f"{IMPORTS} f0 (a) => (b) {{ b = my.f0(a) }}",
        f"{IMPORTS} f0 (a) => (b) {{ b = my.g(a) }} {IMPORTS} g (a) => (b) {{ b = my.f0(a) }}",
        f"{IMPORTS} f0 (a) => (b) {{ c = Cast<to = 9>(a) b = If(c)<{BRANCHES}> }}",
        f"{IMPORTS} f0 (a) => (b) {{ b = Neg(a) }} {IMPORTS} g (a) => (b) {{ b = my.g(a) }}",
    ],
)
def test_a_function_that_calls_itself_is_refused(functions: str) -> None:
    model = _model(f"{HEAD} g (float[4] x) => (float[4] y) {{ y = my.f0(x) }} {functions}")
    with pytest.raises(ModelError, match="calls itself, directly or through others") as caught:
        expansion.check(model, Path("m.onnx"), most_nodes=10**6)
    assert caught.value.hint == "export it again: functions of ONNX cannot be recursive"


@given(st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=6))
def test_the_count_is_what_inlining_gives(calls: list[list[int]]) -> None:
    """Function n calls those of lower numbers that its list names; each has one node of its own."""
    functions = []
    for number, called in enumerate(calls):
        lower = [callee % number for callee in called] if number else []
        steps = [f"v{at + 1} = my.f{callee}(v{at})" for at, callee in enumerate(lower)]
        body = " ".join(["v0 = Abs(a)", *steps, f"b = Neg(v{len(lower)})"])
        functions.append(f"{IMPORTS} f{number} (a) => (b) {{ {body} }}")
    call = f"g (float[4] x) => (float[4] y) {{ y = my.f{len(calls) - 1}(x) }}"
    model = _model(HEAD + call + " ".join(functions))
    written = model.clone()
    inline(written)
    nodes = len(list(written.graph.all_nodes()))
    expansion.check(model, Path("m.onnx"), most_nodes=nodes)
    with pytest.raises(ModelError, match=f"are {nodes:,} nodes"):
        expansion.check(model, Path("m.onnx"), most_nodes=nodes - 1)


def test_a_deep_chain_of_calls_is_counted_without_recursion() -> None:
    functions = [f"{IMPORTS} f0 (a) => (b) {{ b = Neg(a) }}"]
    functions += [f"{IMPORTS} f{n} (a) => (b) {{ b = my.f{n - 1}(a) }}" for n in range(1, 3000)]
    call = "g (float[4] x) => (float[4] y) { y = my.f2999(x) }"
    expansion.check(_model(HEAD + call + " ".join(functions)), Path("m.onnx"), most_nodes=1)


def test_the_default_allows_what_anyone_exports() -> None:
    assert settings.read({}).max_nodes == 100_000
