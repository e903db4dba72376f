"""Which device's limits to judge by: the one asked for, a probe of this machine, the catalog."""

from __future__ import annotations

from pathlib import Path

from burnish.core.command import command
from burnish.core.errors import ModelError
from burnish.hw import detect
from burnish.hw.spec import HardwareSpec, load, parse

PROBED_CPU = "this-cpu.toml"
PROBED_GPU = "this-gpu.toml"


def asked(name: str) -> HardwareSpec:
    """Return the device that a user names: a catalog entry, or a TOML file like those."""
    path = Path(name)
    if path.suffix != ".toml":
        return load(name)
    try:
        return parse(path.read_bytes(), where=name)
    except OSError as error:
        raise ModelError(
            f"{name}: cannot be read ({error.strerror})",
            hint=f"measure this machine: {command('doctor', '--probe', '-o', name)}",
        ) from error


def this_cpu(cache: Path) -> HardwareSpec | None:
    """Return this machine's processor: as it was probed, else as the catalog knows its kind."""
    return _probed(cache / "hw" / PROBED_CPU) or detect.this_cpu(detect.cpu())


def this_gpu(cache: Path, name: str | None = None) -> HardwareSpec | None:
    """Return a GPU: as this machine's was probed, else as the catalog knows its name."""
    probed = _probed(cache / "hw" / PROBED_GPU)
    found = [gpu.name for gpu in detect.gpus()]
    names = [name] if name is not None else found
    if probed is not None and (name is None or name in found):
        return probed
    entries = (detect.gpu_entry(each) for each in names)
    return next((load(entry) for entry in entries if entry is not None), None)


def _probed(path: Path) -> HardwareSpec | None:
    return parse(path.read_bytes(), where=str(path)) if path.is_file() else None
