"""What ONNX Runtime says when a model cannot be loaded or run, in words a user can act on."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from burnish.core.command import command
from burnish.core.errors import BurnishError, MissingCapabilityError, ModelError
from burnish.store.stored import StoredModel

_HEAD = re.compile(
    r"^\[ONNXRuntimeError\] : \d+ : \w+ : (?:Load model from .*? failed:)?", re.DOTALL
)
_SOURCE_LINE = re.compile(r"/\S+\.(?:cc|h|cu|cuh):\d+ .*?\)(?:::<lambda\(.*?\)>)? ")
_UNREGISTERED = re.compile(r"Fatal error: (?P<op>\S+?)\(-?\d+\) is not a registered function/op")
_NO_SUCH_OPERATOR = re.compile(
    r'In Node, \("(?P<node>.*?)", (?P<op>.*?), "(?P<domain>.*?)".*'
    r"No Op registered for \S+ with domain_version of (?P<opset>\d+)"
)
_NO_KERNEL = re.compile(
    r"Could not find an implementation for (?P<op>\S+?) node with name '(?P<node>.*?)'"
)
_VERSION = re.compile(r"\((\d+)\)$")
_OLDEST_OPSET = 7
_IR_VERSION = re.compile(
    r"Unsupported model IR version: (?P<found>\d+), max supported IR version: (?P<known>\d+)"
)
_OPSET = re.compile(
    r"Opset (?P<found>\d+) is under development.*"
    r"support for domain (?P<domain>\S+) is till opset (?P<known>\d+)",
    re.DOTALL,
)
_OUT_OF_MEMORY = re.compile(
    r"failed to allocate|bad_alloc|bad allocation|out of memory|CUDA_ERROR_OUT_OF_MEMORY",
    re.IGNORECASE,
)
_LOCALE = re.compile(r"construct locale with name:\s*(?P<name>[^\s:]+)")
_NOT_WRITTEN = re.compile(r"Failed to write")
_NOT_BINARY = "Protobuf parsing failed"
"""Of a file that we have read: we read models as text, too."""
_SHARED_NAME = "two nodes with same node name"
_EXTERNAL_DATA = re.compile(r"external (?:data|initializer)", re.IGNORECASE)
_NODE_FAILED = re.compile(
    r"while running (?P<op>\S+) node\. Name:'(?P<node>.*?)' Status Message: (?P<reason>.*)",
    re.DOTALL,
)


@contextmanager
def explained(model: StoredModel) -> Iterator[None]:
    """Turn what ONNX Runtime raises inside the block into an error that the user can act on."""
    try:
        yield
    except Exception as error:
        if not is_its_own(error):
            raise
        raise explain(error, model) from error


def is_its_own(error: Exception) -> bool:
    """Return whether ONNX Runtime raised an error, not our own code around it."""
    return type(error).__module__.startswith("onnxruntime") or isinstance(
        error, (RuntimeError, MemoryError)
    )


def explain(error: Exception, model: StoredModel) -> BurnishError:
    """Return what the user should read when ONNX Runtime refused `model`."""
    text = _HEAD.sub("", str(error)).strip()
    path = model.onnx
    if match := _UNREGISTERED.search(text):
        return _unknown_operator(path.name, match["op"], node="", opset="")
    if match := _NO_SUCH_OPERATOR.search(text):
        domain = f"{match['domain']}:" if match["domain"] else ""
        return _unknown_operator(
            path.name, f"{domain}{match['op']}", node=match["node"], opset=match["opset"]
        )
    if match := _NO_KERNEL.search(text):
        version = _VERSION.search(match["op"])
        is_old = version is not None and int(version[1]) < _OLDEST_OPSET
        if is_old and _is_of_onnx(_VERSION.sub("", match["op"])):
            return _too_old(path, match["op"], match["node"])
        return ModelError(
            f"{path}: {match['op']}{_at(match['node'])} has no implementation for these "
            "element types",
            hint=f"see the types with `{_show(path)}`, "
            "or run it on another engine that `burnish doctor` lists",
        )
    return _explain_file(text, model)


def _is_of_onnx(operator: str) -> bool:
    import onnx  # memory that processes which only measure do not have

    return bool(onnx.defs.has(operator, onnx.defs.onnx_opset_version(), ""))


def _too_old(path: Path, op: str, node: str) -> ModelError:
    newer = path.with_stem(f"{path.stem}_newer")
    return ModelError(
        f"{path}: {op}{_at(node)} is of an opset before {_OLDEST_OPSET}, which is the first"
        " that ONNX Runtime has all operators of",
        hint='raise its opset: python -c "import onnx, onnx.version_converter as v;'
        f" onnx.save(v.convert_version(onnx.load('{path}'), 13), '{newer}')\"",
    )


def _unknown_operator(file: str, op: str, *, node: str, opset: str) -> ModelError:
    since = f" in opset {opset}" if opset else ""
    return ModelError(
        f"{file}: operator {op}{_at(node)} is not known to ONNX Runtime{since}",
        hint="export the model without custom operators, "
        "or run it on another engine that `burnish doctor` lists",
    )


def _explain_file(text: str, model: StoredModel) -> BurnishError:
    path = model.onnx
    lack = _lack(text, path)
    if lack is not None:
        return lack
    hint = _remedy(text, path)
    if match := _IR_VERSION.search(text):
        problem = f"has IR version {match['found']}, ONNX Runtime knows {match['known']} at most"
    elif match := _OPSET.search(text):
        problem = (
            f"uses opset {match['found']} of {match['domain']}, ONNX Runtime knows "
            f"{match['known']} at most"
        )
    elif _NOT_BINARY in text:
        problem = "is a model as text, which ONNX Runtime does not read"
    elif _EXTERNAL_DATA.search(text):
        problem = f"its external weights cannot be read ({shortened(text)})"
    elif match := _NODE_FAILED.search(text):
        problem = f"{match['op']}{_at(match['node'])} failed: {shortened(match['reason'])}"
    else:
        problem = f"ONNX Runtime cannot use it ({shortened(text)})"
    return ModelError(f"{path}: {problem}", hint=hint)


def _remedy(text: str, path: Path) -> str:
    """Return what helps against a fault of a file."""
    loadable = command("optimize", path, "-o", f"{path.stem}_loadable.onnx")
    if _IR_VERSION.search(text) or _OPSET.search(text):
        return f"write a loadable one: {loadable}"
    if _NOT_BINARY in text:
        binary = f"import onnx; onnx.save(onnx.load({str(path)!r}), {path.stem + '.onnx'!r})"
        return f"make it binary: python -c {shlex.quote(binary)}"
    if _SHARED_NAME in text:
        return f"give each node a name of its own: {loadable} --no-verify"
    if _EXTERNAL_DATA.search(text):
        return "put the weight files beside the model, under the names it was saved with"
    if _NODE_FAILED.search(text):
        return f"check that the inputs' sizes fit each other; `{_show(path)}` lists them"
    return f"see what it is with `{_show(path)}`"


def _lack(text: str, path: Path) -> MissingCapabilityError | None:
    """Return what this machine lacks; None: it is the file that is at fault."""
    if is_about_memory(text):
        return MissingCapabilityError(
            f"{path}: not enough memory to load or run it ({shortened(text)})",
            hint="bind smaller sizes with --shape, or use a machine with more memory",
        )
    if match := _LOCALE.search(text):
        name = match["name"]
        return MissingCapabilityError(
            f"{path}: its operators on text need the locale {name}, which is not installed here",
            hint=f"install it: localedef -i {name.partition('.')[0]} -f UTF-8 {name}",
        )
    if _NOT_WRITTEN.search(text):
        return MissingCapabilityError(
            f"{path}: ONNX Runtime cannot write what it made of it ({shortened(text)})",
            hint="free some space, or choose another place with TMPDIR",
        )
    return None


def _at(node: str) -> str:
    """Return where an operator stands, if its node has a name."""
    return f" (node {node!r})" if node else ""


def _show(path: Path) -> str:
    return command("model", "show", path)


def is_about_memory(text: str) -> bool:
    """Return whether an engine says that it could not get the memory it wanted."""
    return _OUT_OF_MEMORY.search(text) is not None


def shortened(text: str) -> str:
    """Return the first sentence of an engine's message, without places in its source code."""
    lines = _SOURCE_LINE.sub("", text).strip().splitlines()
    first = lines[0].strip() if lines else "no reason given"
    return first if len(first) <= 200 else first[:199] + "…"
