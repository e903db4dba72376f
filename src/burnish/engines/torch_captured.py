"""A PyTorch call as a CUDA graph: captured once for tensors at their places, then replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burnish.core.errors import MissingCapabilityError

NOTE = "runs replay a captured CUDA graph"
_BEFORE = 3
"""Calls before one is captured: libraries set themselves up in the first."""


class CapturedCall:
    """A call that is captured when it comes with new tensors; its outputs keep their places."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call
        self._places: tuple[Any, ...] = ()
        self._arguments: dict[str, Any] = {}
        """What the graph reads, where it lies: it must live as long as the graph."""
        self._replay: Callable[[], Any] | None = None

    def __call__(self, **arguments: Any) -> Any:  # noqa: ANN401  (whatever the module takes)
        """Return the outputs, which the next call overwrites."""
        places = tuple((name, _place(each)) for name, each in arguments.items())
        if self._replay is None or places != self._places:
            self._replay = self._captured(arguments)
            self._places, self._arguments = places, arguments
        return self._replay()

    def _captured(self, arguments: dict[str, Any]) -> Callable[[], Any]:
        import torch

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(_BEFORE):
                self._call(**arguments)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                outputs = self._call(**arguments)
        except RuntimeError as error:
            raise MissingCapabilityError(
                f"PyTorch cannot capture the model as a CUDA graph: {_line(error)}",
                hint="measure it without: --engine torch-eager",
            ) from error

        def replay() -> Any:  # noqa: ANN401
            graph.replay()
            return outputs

        return replay


def _place(value: Any) -> object:  # noqa: ANN401
    return (value.data_ptr(), tuple(value.shape)) if hasattr(value, "data_ptr") else value


def _line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
