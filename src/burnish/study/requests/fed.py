"""What may be asked of every command that feeds a model, and of those that run it on an engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from burnish.study.requests import vocabulary as v


@dataclass(frozen=True, slots=True, kw_only=True)
class FedCommand:
    """Inputs: recorded ones, or made ones."""

    shape: v.Shape = field(default_factory=dict)
    data: v.Data = None
    seed: v.Seed = 0
    padding: v.Padding = "right"
    store: v.Store = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineCommand(FedCommand):
    """Inputs, and how an engine runs with them."""

    threads: v.Threads = None
    trust_factory: v.TrustFactory = ()
