"""Malformed models by name: each is a defect that was found once, or a kind that others ship."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx
from onnx import TensorProto, helper, parser

from torture import broken_files
from torture.broken_files import Content
from torture.protobuf_mutations import NOT_UTF8, bytes_of
from torture.seed_models import small

_HEAD = '<ir_version: 9, opset_import: ["" : 17, "my" : 1]>'
Edit = Callable[[onnx.ModelProto], object]


def named() -> dict[str, Content]:
    """Return the catalogue: a file's bytes, or what writes `m.onnx` and more into a folder."""
    models = small()
    edited = {
        f"{seed}: {name}": bytes_of(_edited(models[seed], edit))
        for seed, edits in _EDITS.items()
        for name, edit in edits.items()
    }
    written = {name: _parsed(text) for name, text in _TEXTS.items()}
    return {**edited, **written, **_functions(), **_nested(), **broken_files.named()}


def doubling(levels: int) -> bytes:
    """Return a model whose one call stands for `2 ** levels` nodes."""
    functions = ['<domain: "my", opset_import: ["" : 17]> f0 (a) => (b) { b = Neg(a) }']
    functions += [
        f'<domain: "my", opset_import: ["" : 17, "my" : 1]> f{n} (a) => (b)'
        f" {{ c = my.f{n - 1}(a) b = my.f{n - 1}(c) }}"
        for n in range(1, levels + 1)
    ]
    call = f"g (float[4] x) => (float[4] y) {{ y = my.f{levels}(x) }}"
    return parser.parse_model(_HEAD + call + " ".join(functions)).SerializeToString()


def _calls(depth: int) -> bytes:
    functions = ['<domain: "my", opset_import: ["" : 17]> f0 (a) => (b) { b = Neg(a) }']
    functions += [
        f'<domain: "my", opset_import: ["my" : 1]> f{n} (a) => (b) {{ b = my.f{n - 1}(a) }}'
        for n in range(1, depth + 1)
    ]
    call = f"g (int64[4] x) => (int64[4] y) {{ y = my.f{depth}(x) }}"
    return _parsed(call + " ".join(functions))


def chain(nodes: int) -> bytes:
    """Return a valid model of many nodes in a row: what walks it must not recurse."""
    made = [helper.make_node("Neg", [f"v{n}"], [f"v{n + 1}"]) for n in range(nodes)]
    graph = helper.make_graph(
        made, "g",
        [helper.make_tensor_value_info("v0", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info(f"v{nodes}", TensorProto.FLOAT, [4])],
    )  # fmt: skip
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()


def _edited(model: onnx.ModelProto, edit: Edit) -> onnx.ModelProto:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    edit(copy)
    return copy


def _parsed(text: str) -> bytes:
    return parser.parse_model(_HEAD + text).SerializeToString()


def _named(name: str) -> Edit:
    def edit(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            node.name = name
        for old, new in (("y", f"{name}y"), ("x", f"{name}x")):
            for node in model.graph.node:
                node.input[:] = [new if one == old else one for one in node.input]
                node.output[:] = [new if one == old else one for one in node.output]
            for info in (*model.graph.input, *model.graph.output):
                info.name = new if info.name == old else info.name

    return edit


def _dims(*sizes: int) -> Edit:
    def edit(model: onnx.ModelProto) -> None:
        for info in (*model.graph.input, *model.graph.output):
            info.type.tensor_type.shape.CopyFrom(
                helper.make_tensor_value_info("", TensorProto.FLOAT, sizes).type.tensor_type.shape
            )

    return edit


def _opset(version: int) -> Edit:
    return lambda model: setattr(model.opset_import[0], "version", version)


def _then(model: onnx.ModelProto) -> onnx.GraphProto:
    return model.graph.node[0].attribute[0].g


def _cyclic(model: onnx.ModelProto) -> None:
    model.graph.node[0].input[0] = "z"


_EDITS: Mapping[str, Mapping[str, Edit]] = {
    "chain": {
        "valid": lambda m: None,
        "dangling input": lambda m: m.graph.node[0].input.__setitem__(0, "nobody"),
        "missing initializer": lambda m: m.graph.initializer.pop(),
        "initializer twice": lambda m: m.graph.initializer.append(m.graph.initializer[0]),
        "initializer without data": lambda m: m.graph.initializer[0].ClearField("float_data"),
        "initializer without name": lambda m: m.graph.initializer[0].ClearField("name"),
        "initializer without type": lambda m: m.graph.initializer[0].ClearField("data_type"),
        "initializer of rank 72": lambda m: m.graph.initializer[0].dims.extend([1] * 71),
        "initializer of 2**40": lambda m: m.graph.initializer[0].dims.__setitem__(0, 2**40),
        "initializer of 2**62": lambda m: m.graph.initializer[0].dims.extend([2**40, 2**40]),
        "initializer of -4": lambda m: m.graph.initializer[0].dims.__setitem__(0, -4),
        "initializer of type 99": lambda m: setattr(m.graph.initializer[0], "data_type", 99),
        "output twice": lambda m: m.graph.output.append(m.graph.output[0]),
        "output of nobody": lambda m: setattr(m.graph.output[0], "name", "nobody"),
        "output is input": lambda m: setattr(m.graph.output[0], "name", "x"),
        "output is initializer": lambda m: setattr(m.graph.output[0], "name", "w"),
        "output without type": lambda m: m.graph.output[0].ClearField("type"),
        "no outputs": lambda m: m.graph.ClearField("output"),
        "no inputs": lambda m: m.graph.ClearField("input"),
        "input twice": lambda m: m.graph.input.append(m.graph.input[0]),
        "input without name": lambda m: m.graph.input[0].ClearField("name"),
        "no nodes": lambda m: m.graph.ClearField("node"),
        "empty graph": lambda m: m.graph.Clear(),
        "no graph": lambda m: m.ClearField("graph"),
        "two makers": lambda m: m.graph.node.append(m.graph.node[1]),
        "name of input made": lambda m: m.graph.node[0].output.__setitem__(0, "x"),
        "node without operator": lambda m: m.graph.node[0].ClearField("op_type"),
        "node without outputs": lambda m: m.graph.node[1].ClearField("output"),
        "node without inputs": lambda m: m.graph.node[0].ClearField("input"),
        "too many inputs": lambda m: m.graph.node[0].input.extend(["w"] * 5),
        "cycle": _cyclic,
        "unsorted": lambda m: m.graph.node.reverse(),
        "rank 72": _dims(*[1] * 72),
        "size 2**40": _dims(2**40),
        "size 2**62": _dims(2**40, 2**40),
        "size -4": _dims(-4, 4),
        "size 0": _dims(0, 4),
        "opset 0": _opset(0),
        "opset -1": _opset(-1),
        "opset 10**9": _opset(10**9),
        "opset 2**62": _opset(2**62),
        "no opset": lambda m: m.ClearField("opset_import"),
        "opset twice": lambda m: m.opset_import.append(helper.make_opsetid("", 11)),
        "ir version 0": lambda m: setattr(m, "ir_version", 0),
        "ir version 10**9": lambda m: setattr(m, "ir_version", 10**9),
        "name not UTF-8": _named(NOT_UTF8),
        "name with escapes": _named("\x1b[2J\x1b[31mred\x07"),
        "name with newline": _named("a\nburnish: all is well\n"),
        "name with override": _named("\u202egnp.exe\u2066"),
        "name with markup": _named("[bold red]x[/bold red]"),
        "name with NUL": _named("a\x00b"),
        "name of 10**5": _named("n" * 10**5),
        "metadata not UTF-8": lambda m: m.metadata_props.add(key="a", value=NOT_UTF8),
        "history is nonsense": lambda m: m.metadata_props.add(key="burnish.steps", value="[[[["),
        "history is deep": lambda m: m.metadata_props.add(
            key="burnish.steps", value="[" * 100_000
        ),
        "shape names overflow": lambda m: setattr(
            m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "9**9**9**9"
        ),
        "shape names are nested": lambda m: setattr(
            m.graph.input[0].type.tensor_type.shape.dim[0], "dim_param", "(" * 5000 + "n"
        ),
    },
    "attention": {
        "perm too short": lambda m: m.graph.node[6].attribute[0].ints.pop(),
        "perm is text": lambda m: m.graph.node[6].attribute[0].CopyFrom(
            helper.make_attribute("perm", "0213")
        ),
        "perm is no permutation": lambda m: m.graph.node[6].attribute[0].ints.__setitem__(0, 9),
        "axis is a float": lambda m: m.graph.node[16].attribute[0].CopyFrom(
            helper.make_attribute("axis", 1.5)
        ),
        "attribute twice": lambda m: m.graph.node[16].attribute.append(
            m.graph.node[16].attribute[0]
        ),
        "attribute without type": lambda m: m.graph.node[16].attribute[0].ClearField("type"),
        "reshape to text": lambda m: setattr(m.graph.initializer[0], "data_type", 8),
        "weight is short": lambda m: setattr(m.graph.initializer[-1], "raw_data", b"1234"),
        "weight is text": lambda m: setattr(m.graph.initializer[-1], "data_type", 8),
    },
    "branches": {
        "branch without outputs": lambda m: _then(m).ClearField("output"),
        "branch of nobody": lambda m: _then(m).node[0].input.__setitem__(0, "nobody"),
        "no branch": lambda m: m.graph.node[0].ClearField("attribute"),
        "empty branch": lambda m: _then(m).Clear(),
        "branch is a number": lambda m: m.graph.node[0].attribute[0].CopyFrom(
            helper.make_attribute("then_branch", 3)
        ),
        "branch shadows": lambda m: _then(m).node[0].output.__setitem__(0, "x"),
        "branch in itself": lambda m: _then(m).node.append(m.graph.node[0]),
        "branch of another": lambda m: _then(m).node[0].input.__setitem__(0, "i"),
    },
    "loop": {
        "body takes nothing": lambda m: m.graph.node[0].attribute[0].g.ClearField("input"),
        "trips missing": lambda m: m.graph.node[0].input.__setitem__(0, ""),
    },
    "functions": {
        "function without nodes": lambda m: m.functions[0].ClearField("node"),
        "function twice": lambda m: m.functions.append(m.functions[0]),
        "function without name": lambda m: m.functions[0].ClearField("name"),
        "function takes more": lambda m: m.functions[0].input.extend(["q", "r"]),
        "function gives more": lambda m: m.functions[0].output.append("c"),
        "function gives nothing": lambda m: m.functions[0].ClearField("output"),
        "function gives nobody": lambda m: m.functions[0].output.__setitem__(0, "nobody"),
        "function reads nobody": lambda m: m.functions[0].node[0].input.__setitem__(0, "nobody"),
        "function without opset": lambda m: m.functions[0].ClearField("opset_import"),
        "call gives more": lambda m: m.graph.node[0].output.append("more"),
        "call takes nothing": lambda m: m.graph.node[0].ClearField("input"),
        "call of nobody": lambda m: setattr(m.graph.node[0], "op_type", "nobody"),
        "attribute refers to nobody": lambda m: setattr(
            m.functions[0].node[0].attribute[0], "ref_attr_name", "nobody"
        ),
        "attribute refers in the graph": lambda m: setattr(
            m.graph.node[0].attribute[0], "ref_attr_name", "alpha"
        ),
    },
    "constants": {
        "constant of nothing": lambda m: m.graph.node[0].ClearField("attribute"),
        "constant of two": lambda m: m.graph.node[0].attribute.append(m.graph.node[2].attribute[0]),
        "sparse without values": lambda m: m.graph.node[1].attribute[0].sparse_tensor.ClearField(
            "values"
        ),
        "sparse of 2**40": lambda m: m.graph.node[1].attribute[0].sparse_tensor.dims.__setitem__(
            0, 2**40
        ),
        "cast to nothing": lambda m: setattr(m.graph.node[3].attribute[0], "i", 99),
    },
    "text": {
        "text not UTF-8": lambda m: m.graph.initializer[0].string_data.__setitem__(0, b"\xff\xfe"),
        "text too few": lambda m: m.graph.initializer[0].dims.__setitem__(0, 5),
        "text for nothing": lambda m: m.graph.ClearField("output"),
    },
    "sequence": {"sequence of tensors": lambda m: None},
}  # fmt: skip

_TEXTS = {
    "huge fill": """g (float[4] x) => (float[k] y)
        <int64[1] s = {1099511627776}>
        { c = ConstantOfShape(s) y = Add(x, c) }""",
    "huge expand": """g (float[4] x) => (float[a, b, 4] y)
        <int64[3] s = {1048576, 1048576, 4}> { y = Expand(x, s) }""",
    "huge expand of a constant": """g (float[4] x) => (float[a, b, 4] y)
        <int64[3] s = {1048576, 1048576, 4}, float[4] w = {1, 2, 3, 4}>
        { c = Expand(w, s) y = Add(x, c) }""",
    "huge range": """g (float[4] x) => (int64[k] y)
        <int64 a = {0}, int64 b = {4611686018427387904}, int64 c = {1}> { y = Range(a, b, c) }""",
    "huge tile": """g (float[4] x) => (float[k] y)
        <int64[1] s = {1099511627776}> { y = Tile(x, s) }""",
    "huge pad": """g (float[4] x) => (float[k] y)
        <int64[2] s = {1099511627776, 1}> { y = Pad(x, s) }""",
    "negative fill": """g (float[4] x) => (float[k] y)
        <int64[1] s = {-4}> { c = ConstantOfShape(s) y = Add(x, c) }""",
    "one hot": """g (int64[4] x) => (float[k, l] y)
        <int64 d = {1099511627776}, float[2] v = {0, 1}> { y = OneHot(x, d, v) }""",
    "split to nothing": """g (float[4] x) => (float[k] y)
        <int64[2] s = {9, -5}> { y, z = Split<axis = 7>(x, s) }""",
    "reshape of nothing": """g (float[4] x) => (float[k] y)
        <int64[3] s = {-1, -1, 0}> { y = Reshape(x, s) }""",
    "slice without end": """g (float[4] x) => (float[k] y)
        <int64[1] s = {0}> { y = Slice(x, s) }""",
    "slice by zero": """g (float[4] x) => (float[k] y)
        <int64[1] s = {0}, int64[1] e = {4}, int64[1] z = {0}> { y = Slice(x, s, e, s, z) }""",
    "einsum of nonsense": """g (float[4] x) => (float[k] y)
        { y = Einsum<equation = "i,j->ijk...->">(x) }""",
    "gather out of range": """g (float[4] x) => (float[k] y)
        <int64[2] s = {9, -9}> { y = Gather<axis = 5>(x, s) }""",
    "divide by zero": """g (int64[4] x) => (int64[4] y)
        <int64[4] z = {0, 0, 0, 0}, int64[4] w = {1, 2, 3, 4}>
        { a = Div(w, z) b = Mod(w, z) c = Add(a, b) y = Add(x, c) }""",
    "conv of rank 1": """g (float[4] x) => (float[k] y)
        <float[4] w = {1, 2, 3, 4}> { y = Conv<pads = [1], group = 0>(x, w) }""",
    "axes out of range": """g (float[4] x) => (float[k] y)
        { a = ReduceMean<axes = [9]>(x) b = Softmax<axis = -9>(a) y = Squeeze(b) }""",
    "resize without end": """g (float[1, 1, 4, 4] x) => (float[a, b, c, d] y)
        <float[4] s = {1, 1, 1000000, 1000000}> { y = Resize(x, , s) }""",
}
"""Valid to a parser, not to run: sizes, axes and indices that no tensor has."""


def _functions() -> dict[str, Content]:
    imports = '<domain: "my", opset_import: ["" : 17, "my" : 1]>'
    once = f"g (float[4] x) => (float[4] y) {{ y = my.f(x) }} {imports}"
    return {
        "doubles 12 times": doubling(12),
        "doubles 40 times": doubling(40),
        "doubles 60 times": doubling(60),
        "calls itself": _parsed(once + " f (a) => (b) { b = my.f(a) }"),
        "call each other": _parsed(
            f"{once} f (a) => (b) {{ b = my.h(a) }} {imports} h (a) => (b) {{ b = my.f(a) }}"
        ),
        "calls itself in a branch": _parsed(
            once + " f (a) => (b) { c = Cast<to = 9>(a) d = ReduceMax<keepdims = 0>(a)"
            " e = Cast<to = 9>(d) b = If(e)<then_branch = t () => (p) { p = my.f(a) },"
            " else_branch = u () => (q) { q = Neg(a) }> }"
        ),
        "a function named as an operator": _parsed(
            'g (float[4] x) => (float[4] y) { y = Relu(x) }'
            ' <domain: "", opset_import: ["" : 17]> Relu (a) => (b) { b = Relu(a) }'
        ),
        "calls 500 deep": _calls(500),
        "chain of 1,500": chain(1500),
    }  # fmt: skip


def _nested() -> dict[str, Content]:
    """Return graphs in graphs."""

    def branches(depth: int) -> bytes:
        graph = "{ t = Neg(x) }"
        other = "else_branch = e () => (float[4] t) { t = Abs(x) }"
        for _ in range(depth):
            graph = f"{{ t = If(c)<then_branch = b () => (float[4] t) {graph}, {other}> }}"
        return _parsed(f"g (float[4] x, bool c) => (float[4] t) {graph}")

    return {f"branches {depth} deep": branches(depth) for depth in (8, 24)}
