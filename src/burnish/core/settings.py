"""Every environment variable that burnish reads or sets, in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.core.errors import UsageError
from burnish.core.whole import whole

MAX_NODES = 100_000
"""Several times what the largest models have that anyone exports with functions."""

LEDGER = "measurements.sqlite"

FORCED: Mapping[str, str] = {
    # ONNX Runtime's wheels upload usage data unless this is set before they are imported.
    "ORT_DISABLE_TELEMETRY": "1",
    # No model hub is ever asked at run time: models come from disk or from a configuration.
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}
"""Set for this process and all its children when burnish is imported."""


def force() -> None:
    """Set the variables that must hold in every process that runs burnish."""
    os.environ.update(FORCED)


def calm() -> None:
    """Let NumPy's own products use one thread, unless the user says otherwise.

    The judge makes thousands of small ones; OpenBLAS' threads spin between them and made it ten
    times slower on a busy machine. Nothing that is measured runs in NumPy.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user's environment asks for."""

    store: Path
    """Where models named by name and variant live (BURNISH_STORE, else ./models)."""
    cache: Path
    """Where results that can be made again are kept (BURNISH_CACHE, else the user's cache)."""
    ledger: Path
    """The file of all measurements (BURNISH_LEDGER, else in the user's data)."""
    color: bool
    """False when NO_COLOR is set."""
    max_nodes: int
    """How many nodes the functions of a model may expand to (BURNISH_MAX_NODES)."""


def read(environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of this environment."""
    import platformdirs  # here: costs 10 ms that `--help` need not pay

    env = os.environ if environment is None else environment
    return Settings(
        store=Path(env.get("BURNISH_STORE") or "models"),
        cache=Path(env.get("BURNISH_CACHE") or platformdirs.user_cache_dir("burnish")),
        ledger=Path(
            env.get("BURNISH_LEDGER") or Path(platformdirs.user_data_dir("burnish"), LEDGER)
        ),
        color=not env.get("NO_COLOR"),
        max_nodes=_positive(env, "BURNISH_MAX_NODES", MAX_NODES),
    )


def _positive(env: Mapping[str, str], name: str, otherwise: int) -> int:
    text = env.get(name) or str(otherwise)
    found = whole(text)
    if not found:
        raise UsageError(
            f"{name} is {text!r}, not a positive number",
            hint=f"leave it unset for {otherwise}, or write for instance {name}={10 * otherwise}",
        )
    return found
