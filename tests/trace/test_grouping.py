from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.trace.grouping import GroupNode, library, read

MINE = """
[[group]]
name = "swiglu"
torch = ["mine::swiglu"]
kernel = "swiglu_kernel"
nodes = ["Sigmoid", "Mul|Div:constant?"]

[operators]
"mine::sort" = "TopK"
"""

XML = """<nodetypes>
<miscNode name="Cast"/>
<singleOperation name="matmul" nodeName="MatMul" kernelNameRegex=".*gemm.*"/>
<OperationGroup><name>pair</name><kernelNameRegex>.*pair.*</kernelNameRegex><nodes><sequential>
<node>add</node><miscellaneousNodes/><branching><node>mul</node><emptyBranch/></branching>
</sequential></nodes></OperationGroup>
</nodetypes>"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text)
    return path


def test_a_users_groups_come_before_those_of_burnish(tmp_path: Path) -> None:
    known = library([written(tmp_path, MINE)])
    first = known.groups[0]
    assert (first.name, first.kernel) == ("swiglu", "swiglu_kernel")
    assert first.parts == (
        GroupNode(frozenset({"sigmoid"})),
        GroupNode(frozenset({"mul", "div"}), constant=True, optional=True),
    )
    assert {"mine::sort", "mine::swiglu", "aten::linear"} <= known.torch
    assert "aten::contiguous" in known.follows
    assert "reshape" in known.views


def test_the_predecessors_library_is_accepted(tmp_path: Path) -> None:
    pair, matmul = read(written(tmp_path, XML)).groups
    assert [part.op_types for part in pair.parts] == [{"add"}, {"mul"}]
    assert (pair.kernel, pair.anywhere, pair.fillers) == ("^(?:.*pair.*)", True, {"cast"})
    assert (matmul.name, matmul.kernel) == ("matmul", "^(?:.*gemm.*)")


def test_the_predecessors_own_file_is_read(shared: Path) -> None:
    found = read(shared / "data/traces/operationsAndGroups.xml")
    names = {group.name for group in found.groups}
    assert {"matmul", "softmax", "gelu", "add-normalization", "flash_attention_forward"} <= names


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[[group]]\nnodes = ['A']", "'name' is missing"),
        ("[groop]", "unknown table 'groop'"),
        ("[[group]]\nname = 'x'\nnodes = ['A']\nkernel = '('", "missing \\)"),
        ("<nodetypes><OperationGroup/></nodetypes>", "an OperationGroup has no name or no nodes"),
        ("<nodetypes>", "no element found"),
    ],
)
def test_what_is_wrong_with_a_library_is_said(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=f"is no library of groups \\(.*{reason}") as caught:
        read(written(tmp_path, text))
    assert caught.value.hint.endswith("for how such a file is written")


def test_a_missing_library_is_an_error_to_act_on(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read(tmp_path / "absent.toml")


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("a = " + "[" * 100_000, "it is nested too deeply"),
        ('[[group]]\nname = 3\nnodes = ["Add"]', "a group is named 3"),
        ("group = [1]", "'int' object is not subscriptable"),
    ],
)
def test_a_library_that_makes_no_sense(tmp_path: Path, text: str, finding: str) -> None:
    path = tmp_path / "g.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert caught.value.problem == f"{path}: is no library of groups ({finding})"
