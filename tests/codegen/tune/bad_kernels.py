"""Kernels for y[i] = a[i] + b[i], one element per tile: a right one, and many ways to be wrong."""

from __future__ import annotations

from collections.abc import Mapping

from burnish.codegen.backend import UNNAMED, EmittedKernel
from burnish.codegen.cpu.backend import CpuBackend
from burnish.tile.graph import TileGraph
from burnish.tile.group import Group
from burnish.tile.schedule import Schedule
from tile_samples import Sketch

SIZE = 100
LAUNCH = {"tiles": SIZE, "scratch_bytes": 64}

_TEXT = """
define void @kernel(ptr %args, i64 %begin, i64 %end, ptr %scratch) {{
entry:
  %a = load ptr, ptr %args
  %b_at = getelementptr ptr, ptr %args, i64 1
  %b = load ptr, ptr %b_at
  %c_at = getelementptr ptr, ptr %args, i64 2
  %c = load ptr, ptr %c_at
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %tail ]
  %more = icmp slt i64 %i, %end
  br i1 %more, label %body, label %done
body:
  %p = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %p
  %q = getelementptr float, ptr %b, i64 %i
  %y = load float, ptr %q
  %z = fadd float %x, %y
  %r = getelementptr float, ptr %c, i64 %i
{middle}
tail:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""


def _kernel(*lines: str) -> str:
    return _TEXT.format(middle="\n".join(f"  {line}" for line in lines))


_STORE = "store float %z, ptr %r"
_ON = "br label %tail"


def _also(at: int, offset: int, condition: str) -> str:
    """Return a kernel that writes a second element, `offset` further, where i compares so."""
    return _kernel(
        _STORE,
        f"%s = getelementptr float, ptr %r, i64 {offset}",
        f"%chosen = icmp {condition} i64 %i, {at}",
        "br i1 %chosen, label %write, label %tail",
        "write:",
        "store float %z, ptr %s",
        _ON,
    )


TEXTS: Mapping[str, str] = {
    "right": _kernel(_STORE, _ON),
    "crashing": _kernel("store volatile float %z, ptr null", _ON),
    "hanging": _kernel(_STORE, "store volatile float %z, ptr %scratch", "br label %body"),
    "wrong": _kernel("%w = fadd float %z, 1.0", "store float %w, ptr %r", _ON),
    "forgetful": _kernel(
        "%last = icmp eq i64 %i, 99",
        "br i1 %last, label %tail, label %write",
        "write:",
        _STORE,
        _ON,
    ),
    "generous": _also(99, 1, "ne"),
    "beyond": _also(99, 3, "eq"),
    "before": _also(0, -9, "eq"),
    "far": _kernel(
        "%s = getelementptr float, ptr %p, i64 500",
        "%w = load volatile float, ptr %s",
        _STORE,
        _ON,
    ),
    "meddling": _kernel(_STORE, "store float %z, ptr %p", _ON),
    "ordered": _kernel(
        "%seen = load float, ptr %scratch",
        "%number = sitofp i64 %i to float",
        "store float %number, ptr %scratch",
        "%w = fadd float %z, %seen",
        "store float %w, ptr %r",
        _ON,
    ),
    "unwritable": "",
    "not LLVM": "define void @kernel( {",
    "unresolved": _kernel(_STORE, "call void @nowhere_at_all()", _ON)
    + "\ndeclare void @nowhere_at_all()",
}
"""By what is special about them; "far" reads what is not there, which only a guard can notice."""

NAMES = tuple(TEXTS)


def graph() -> TileGraph:
    sketch = Sketch(a=(SIZE,), b=(SIZE,))
    return sketch.graph(sketch.pointwise("add", "a", "b"))


def schedule(name: str) -> Schedule:
    return Schedule((NAMES.index(name) + 1,))


class BadBackend(CpuBackend):
    """Emits the kernel that a schedule of `schedule` stands for."""

    def emit(
        self, group: Group, schedule: Schedule, graph: TileGraph, **_: object
    ) -> tuple[EmittedKernel]:
        name = NAMES[schedule.tile[0] - 1]
        if name == "unwritable":
            raise ValueError("no way to write it")
        (output,) = group.outputs
        code = TEXTS[name].replace("@kernel", f"@{UNNAMED}")
        return (EmittedKernel(code, ("a", "b", output), (output,), LAUNCH, ("node",)),)
