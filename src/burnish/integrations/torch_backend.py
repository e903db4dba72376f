"""`torch.compile(model, backend="burnish")`: what Dynamo captures runs on our kernels.

That is on the CPU, or on the first NVIDIA card, wherever the graph's tensors lie.

A graph is compiled when it is first called, for the shapes that it is called with, and its outputs
are held against PyTorch's own before they are used. Where it cannot be compiled, or differs,
PyTorch runs it as it is, and `graphs()` says why.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.core.errors import BurnishError, UsageError
from burnish.core.existing import EarlierRunError
from burnish.integrations.torch_effects import Effects, effects_of
from burnish.integrations.torch_graph import CompiledShape, compile_for
from burnish.integrations.torch_numbers import asked_for, with_numbers
from burnish.integrations.torch_opened import NotCompiledError, OpenedGraph, is_tensor
from burnish.integrations.torch_weights import WatchedWeights

logger = logging.getLogger(__name__)

GraphModule = Any
"""`torch.fx.GraphModule`: torch is imported only where it is used."""

MOST_SHAPES = 16
"""A graph that is called with ever new shapes is left to PyTorch after so many."""
_KEPT_REPORTS = 1000


@dataclass(frozen=True, slots=True)
class GraphOutcome:
    """What became of a graph for one choice of shapes."""

    operations: int
    """Of the graph, as Dynamo captured it."""
    shapes: tuple[tuple[int, ...], ...]
    """Of its inputs, without weights."""
    kernels: int
    """Nodes of the exported graph that run as kernels of ours."""
    notes: tuple[str, ...]
    """What else runs, and why."""
    eager: str = ""
    """Why PyTorch runs it as it is; empty: it does not."""
    shared_bytes: int = 0
    """Of weights that kernels read where the module has them."""
    copied_bytes: int = 0
    """Of weights that they have of their own: folded, or laid out in another way."""


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """A place at which Dynamo ends a graph, and Python goes on by itself."""

    reason: str
    """As Dynamo tells it."""
    times: int


_REPORTS: deque[GraphOutcome] = deque(maxlen=_KEPT_REPORTS)


def graphs() -> tuple[GraphOutcome, ...]:
    """Return what became of the graphs that were called so far, the last ones of them."""
    return tuple(_REPORTS)


def graph_breaks() -> tuple[GraphBreak, ...]:
    """Return why Dynamo ended graphs in this process, whatever their back end; the most first."""
    from torch._dynamo.utils import counters

    found = [GraphBreak(_first_line(why), n) for why, n in counters["graph_break"].items()]
    return tuple(sorted(found, key=lambda each: -each.times))


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def backend(
    graph: GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Return what runs a graph of Dynamo's; `options`: `threads`, as PyTorch uses if not given."""
    import torch

    asked = dict(options or {})
    threads = asked.pop("threads", None) or torch.get_num_threads()
    if asked or mode not in (None, "default"):
        what = ", ".join(asked) or f"mode {mode!r}"
        raise UsageError(
            f"the back end burnish of torch.compile does not know {what}",
            hint="it takes options={'threads': N}, and no mode",
        )
    return CompiledGraph(graph, example_inputs, threads)


class CompiledGraph:
    """A graph that is called as Dynamo calls it: with weights, inputs and sizes in one row."""

    def __init__(self, graph: GraphModule, example_inputs: Sequence[Any], threads: int) -> None:
        self._graph = graph
        self._threads = threads
        self._weights = [n for n, each in enumerate(example_inputs) if _is_weight(each)]
        self._inputs = [n for n in range(len(example_inputs)) if n not in set(self._weights)]
        self._numbers = asked_for(graph, example_inputs)
        self._effects = effects_of(graph)
        self._known: dict[object, CompiledShape | None] = {}
        self._watched = WatchedWeights()
        self._weights_then: object = None
        self._told: set[str] = set()

    def __call__(self, *values: Any) -> Any:  # noqa: ANN401  (tensors and sizes)
        """Run the graph; weights that were changed since it was compiled are compiled anew."""
        reason = _refusal(values, self._effects)
        if reason:
            self._tell(reason, values)
            return self._graph(*values)
        weights = self._watched.state([values[n] for n in self._weights])
        if weights != self._weights_then:
            self._weights_then = weights
            self._known = {}  # another thread may still read those of before
        key = tuple(
            _described(values[n].item() if n in self._numbers else values[n]) for n in self._inputs
        )
        found = self._for(key, values)
        if found is None:
            return self._graph(*values)
        try:
            return found(values)
        except EarlierRunError:  # what it gave is in use already
            raise
        except BurnishError as error:  # an index that is none: PyTorch has an error of its own
            self._tell(error.problem, values)
            return self._graph(*values)

    def _for(self, key: object, values: Sequence[Any]) -> CompiledShape | None:
        """Return the graph for these shapes, compiled by the first thread that asks for it.

        Exporting changes modules for all threads, so Dynamo must not look at them meanwhile.
        """
        from torch._dynamo.convert_frame import compile_lock

        known = self._known
        if key not in known:
            with compile_lock:
                if key not in known:
                    known[key] = self._compiled(values)
        return known[key]

    def _compiled(self, values: Sequence[Any]) -> CompiledShape | None:
        """Return the graph for these shapes; None: PyTorch is to run it."""
        if len(self._known) >= MOST_SHAPES:
            self._tell(f"it was called with more than {MOST_SHAPES} choices of shapes", values)
            return None
        numbers = {n: values[n].item() for n in self._numbers}
        bound = [numbers.get(n, each) for n, each in enumerate(values)]
        graph = with_numbers(self._graph, numbers)
        try:
            found = compile_for(graph, bound, frozenset(self._weights), self._threads)
        except (NotCompiledError, BurnishError) as error:
            self._tell(error.problem if isinstance(error, BurnishError) else str(error), values)
            return None
        self._report(values, opened=found.opened)
        return found

    def _tell(self, reason: str, values: Sequence[Any]) -> None:
        """Say why PyTorch runs the graph, once for each reason."""
        if reason not in self._told:
            self._told.add(reason)
            logger.warning("torch.compile: PyTorch runs a graph as it is, for %s", reason)
            self._report(values, eager=reason)

    def _report(
        self,
        values: Sequence[Any],
        *,
        opened: OpenedGraph | None = None,
        eager: str = "",
    ) -> None:
        nodes = sum(node.op.startswith("call") for node in self._graph.graph.nodes)
        inputs = (values[n] for n in self._inputs)
        shapes = tuple(tuple(int(s) for s in each.shape) for each in inputs if is_tensor(each))
        if opened is None:
            _REPORTS.append(GraphOutcome(nodes, shapes, 0, (), eager))
        else:
            bytes_of_weights = opened.shared_bytes, opened.copied_bytes
            own = opened.kernels, opened.notes
            _REPORTS.append(GraphOutcome(nodes, shapes, *own, eager, *bytes_of_weights))


def _refusal(values: Sequence[Any], effects: Effects) -> str:
    """Return why a call is left to PyTorch whatever its shapes are."""
    import torch

    if effects.checks:
        return f"it checks what it is given, and may raise an error of its own ({effects.checks})"
    if effects.marks:
        return "it makes a tensor want gradients (requires_grad_)"
    recorded = torch.is_grad_enabled() or effects.enables_gradients
    if recorded and any(is_tensor(n) and n.requires_grad for n in values):
        return (
            "gradients are wanted inside of it (torch.enable_grad)"
            if effects.enables_gradients
            else "gradients are wanted (call it under torch.inference_mode() if they are not)"
        )
    return ""


def _is_weight(value: Any) -> bool:  # noqa: ANN401
    """Say whether an input is a parameter or a buffer of the module, which stays the same."""
    import torch

    static = getattr(value, "_dynamo_static_input_type", None) is not None
    return isinstance(value, torch.nn.Parameter) or (is_tensor(value) and static)


def _described(value: Any) -> object:  # noqa: ANN401
    if is_tensor(value):
        return tuple(value.shape), tuple(value.stride()), value.dtype, value.device
    # 0.0 equals -0.0, True equals 1, and what is no number equals nothing
    return type(value).__name__, value.hex() if isinstance(value, float) else value
