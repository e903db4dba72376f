"""What a compiled folder holds for a card: `device.json`, `device.bin`, `kernels/*.cubin`.

Nothing is given to the driver before it was looked at: files are those that were written, the plans
agree with themselves, and each cubin holds the kernel that is told.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from burnish.core import records
from burnish.core.errors import ModelError
from burnish.cuda.assemble import Assembled
from burnish.cuda.driver import Driver
from burnish.cuda.loaded import Bytes
from burnish.cuda.model import DeviceModel
from burnish.cuda.soundness import findings
from burnish.cuda.table import CONSTANTS, KERNELS, SCHEMA, TABLE, DeviceTable, code_findings

_SHOWN = 500
"""Characters of a finding: a name in a plan may be as long as the plan."""


def write(folder: Path, done: Assembled) -> None:
    """Write what a card needs into a folder, which is made if it is not there."""
    (folder / KERNELS).mkdir(parents=True, exist_ok=True)
    for name, found in done.table.kernels.items():
        (folder / found.file).write_bytes(done.code[name])
    done.constants.tofile(folder / CONSTANTS)
    text = records.text_of(records.document(done.table, schema=SCHEMA))
    (folder / TABLE).write_text(text)


def read(folder: Path) -> Assembled:
    """Return what a folder holds for a card; raise if it is not what was written."""
    table = records.read_document(DeviceTable, folder / TABLE, schema=SCHEMA)
    for finding in findings(table):
        raise _damaged(f"{folder / TABLE}: cannot be run: {finding[:_SHOWN]}")
    code = {name: _content(folder / found.file, found.key) for name, found in table.kernels.items()}
    for name, found in table.kernels.items():
        for finding in code_findings(found.kernel, code[name]):
            raise _damaged(f"{folder / found.file}: is not the kernel that is told: {finding}")
    return Assembled(table, code, _constants(folder / CONSTANTS, table))


def load(folder: Path, driver: Driver, *, command: str = "burnish compile") -> DeviceModel:
    """Return the model in a folder, on a card."""
    found = read(folder)
    code: Mapping[str, bytes] = found.code
    return DeviceModel(
        driver, found.table, code, found.constants, where=str(folder), command=command
    )


def _constants(path: Path, table: DeviceTable) -> Bytes:
    if not table.constants_bytes:
        return np.zeros(0, np.uint8)
    try:
        found: Bytes = np.memmap(path, np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise _damaged(f"{path}: is missing") from error
    if found.nbytes != table.constants_bytes or _key(found.data) != table.constants_key:
        raise _damaged(f"{path}: is damaged (its content is not what was compiled)")
    return found


def _content(path: Path, key: str) -> bytes:
    try:
        code = path.read_bytes()
    except OSError as error:
        raise _damaged(f"{path}: is missing") from error
    if _key(memoryview(code)) != key:
        raise _damaged(f"{path}: is damaged (its content is not what was compiled)")
    return code


def _key(content: memoryview) -> str:
    return hashlib.sha256(content).hexdigest()


def _damaged(problem: str) -> ModelError:
    hint = "copy the folder again, or compile it again with burnish compile"
    return ModelError(problem, hint=hint)
