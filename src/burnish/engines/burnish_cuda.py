"""Burnish's own kernels on an NVIDIA card, started together as a CUDA graph.

What kernels do not cover runs in ONNX Runtime on the CPU, and the placement says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from burnish.core.command import command
from burnish.core.errors import MissingCapabilityError
from burnish.core.precisions import MODES
from burnish.engines.base import ENGINES, Availability, EngineOptions
from burnish.engines.burnish_engine import Burnish
from burnish.engines.fallback import accepted, level_notes, precision_notes
from burnish.engines.installed import has_nvidia_gpu

if TYPE_CHECKING:
    from burnish.runtime.folder import CompiledModel


class BurnishCuda(Burnish):
    """Generated kernels on the first card of this machine."""

    name = "burnish-cuda"
    target = "cuda"
    modes = MODES
    packages: Mapping[str, str] = MappingProxyType(
        {"triton": "triton", "cuda": "cuda-bindings", "onnxruntime": "onnxruntime"}
    )

    def availability(self) -> Availability:
        """Say whether a card, what compiles for it and what reaches it are here."""
        found = super().availability()
        if found.ok and not has_nvidia_gpu():
            return Availability(
                ok=False,
                reason="no NVIDIA GPU on this machine",
                remedy="compile here and run there: burnish compile MODEL --target sm_90",
                version=found.version,
            )
        return found

    def _check_folder(self, told: CompiledModel, folder: Path) -> None:
        target = told.plans[0].target
        if not target.startswith(self.target):
            raise MissingCapabilityError(
                f"{folder}: was compiled for {target}, and engine {self.name} runs on NVIDIA cards",
                hint=command("compile", told.about.source, "--target", "cuda", "-o", folder),
            )

    def _notes(self, options: EngineOptions, precision: str) -> tuple[str, ...]:
        other = f"card {options.device_index} was asked for, {self.name} runs on the first"
        return (
            *precision_notes(options, precision),
            *(accepted(other, options) if options.device_index else ()),
            *level_notes(options, self.name),
            "runs replay a captured CUDA graph",
        )


ENGINES.register("burnish-cuda")(BurnishCuda())
