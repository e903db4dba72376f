"""Write files and folders so that nothing good is ever replaced by half of a new one, or lost.

A file that the user names is replaced if it is a regular one. What is given a name by burnish, and
every folder, is replaced only if it is `Kind` of thing that burnish writes there.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shlex
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from burnish.core.drafts import OLD, draft_beside, put_back
from burnish.core.errors import BurnishError, MissingCapabilityError, UsageError

_HEAD_BYTES = 8192
_MOST_LINKS = 40
"""As many links as Linux follows."""
_ELSEWHERE = "choose another place with -o; nothing was replaced"
_HERE = -100
"""AT_FDCWD: relative paths begin at the current folder."""
_NO_REPLACE, _EXCHANGE = 1, 2
_UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.EXDEV, errno.ENOTSUP)
"""What systems and file systems answer that do not know these renames."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What burnish writes at some place, told by its content; only this may be replaced there."""

    name: str
    """How an error calls it: `a compiled model`."""
    refusal: Callable[[Path], str | None]
    """Why what stands at a path is not one ("it holds notes.txt"); None: it is one."""


def marked(name: str, mark: str) -> Kind:
    """Return the kind of files that have a mark of ours near their beginning."""

    def refusal(path: Path) -> str | None:
        with path.open("rb") as stream:
            return None if mark.encode() in stream.read(_HEAD_BYTES) else f"it has no {mark!r}"

    return Kind(name, refusal)


@contextmanager
def written_beside(target: Path, kind: Kind | None = None) -> Iterator[Path]:
    """Yield a new folder beside `target`; on success all files in it move next to `target`.

    `target` itself moves last, so that it never names companions that are not there yet. On
    any failure the folder is removed and what stood at `target` is as it was. A link stays, and
    the file behind it is replaced. `kind`: what may be replaced where the user has not named
    this very file.
    """
    with _explained(target):
        place = check_file(target, kind)
        with _parents_of(place), draft_beside(place) as folder:
            yield folder
            _move_in(folder, target, place, kind)


@contextmanager
def folder_written_beside(target: Path, kind: Kind) -> Iterator[Path]:
    """Yield a new folder; on success it takes the place of the folder `target` as a whole.

    On any failure what stood at `target` is as it was, and whoever is killed at any moment leaves
    the old folder or the new one there. Only an empty folder or one of this kind is replaced.
    """
    with _explained(target):
        place = check_folder(target, kind)
        with _parents_of(place), draft_beside(place) as draft:
            fresh = draft / "new"
            fresh.mkdir()
            yield fresh
            _replace(fresh, place, target, kind)


def write_text(target: Path, text: str, kind: Kind | None = None) -> None:
    """Write a text file: all of it, or nothing."""
    # Lone halves of pairs, which JSON may hold, are no UTF-8; as escapes they are JSON again.
    write_bytes(target, text.encode(errors="backslashreplace"), kind)


def write_bytes(target: Path, content: bytes, kind: Kind | None = None) -> None:
    """Write a file: all of it, or nothing."""
    with written_beside(target, kind) as folder:
        (folder / target.name).write_bytes(content)


def check_file(target: Path, kind: Kind | None = None) -> Path:
    """Return the file that writing to `target` writes, links followed; raise if it may not be."""
    with _explained(target):
        place = _followed(target)
        try:
            mode = place.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return place
        if not stat.S_ISREG(mode):
            raise _unwritable(target, f"it is a {_name_of(mode)}")
        if not os.access(place, os.W_OK):
            raise _unwritable(target, os.strerror(errno.EACCES))
        reason = kind.refusal(place) if kind is not None else None
        if kind is not None and reason is not None:
            raise _foreign(target, kind, reason)
        return place


def check_folder(target: Path, kind: Kind) -> Path:
    """Return the folder that writing to `target` writes, links followed; raise if it may not be."""
    with _explained(target):
        place = _followed(target)
        if os.path.lexists(place):
            _judge(place, target, kind)
        return place


def check_room(folder: Path) -> None:
    """Raise if no files can be written into a folder, because something else has its name."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise _unwritable(folder, "it is no folder")


def foreign_entry(folder: Path, is_known: Callable[[str], bool]) -> str | None:
    """Return "it holds NAME" for the first thing in a folder that is not known; None: all are.

    Names are relative to the folder; that of an empty folder inside it ends with a slash. Links
    and whatever else is no regular file are not known.
    """
    for place, folders, names in os.walk(folder):
        folders.sort()
        inside = Path(place).relative_to(folder)
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        odd = [name for name in names if not stat.S_ISREG((Path(place) / name).lstat().st_mode)]
        for name in (*links, *odd):
            return f"it holds {inside / name}, which is no regular file"
        empty = f"{inside}/" if not folders and not names and inside != Path() else None
        found = [(inside / name).as_posix() for name in sorted(names)]
        for name in [*found, *([empty] if empty else [])]:
            if not is_known(name):
                return f"it holds {name}"
    return None


@contextmanager
def _explained(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, target) from error


def explain(error: OSError, target: Path) -> BurnishError:
    """Return what the user should read when writing `target` failed."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return MissingCapabilityError(
            f"{target}: the disk is full ({reason})",
            hint="free some space, or choose another place with -o; nothing was replaced",
        )
    return _unwritable(target, reason)


def _unwritable(target: Path, reason: str) -> UsageError:
    return UsageError(f"{target}: cannot be written ({reason})", hint=_ELSEWHERE)


def _foreign(target: Path, kind: Kind, reason: str) -> UsageError:
    old = shlex.quote(str(target).rstrip("/"))
    return UsageError(
        f"{target}: is not {kind.name} that burnish wrote ({reason}), and would be lost",
        hint=f"choose another place with -o, or move it away: mv {old} {old}.old; "
        "nothing was replaced",
    )


def _followed(target: Path) -> Path:
    """Return what a link leads to; anything else is returned as it is."""
    if target.name in ("", ".."):
        return target.resolve()
    place = target
    for _ in range(_MOST_LINKS):
        if not place.is_symlink():
            break
        place = place.parent / place.readlink()
        if place.as_posix().startswith("/proc/"):
            raise _unwritable(target, "it is an open stream of a process, not a file")
    if place is target:
        return target
    if not os.path.exists(place):  # noqa: PTH110  (False, not an error, for links in a circle)
        raise _unwritable(target, f"it is a link to {place}, which is not there")
    return place.resolve()


def _name_of(mode: int) -> str:
    kinds = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    return kinds.get(stat.S_IFMT(mode), "device")


@contextmanager
def _parents_of(place: Path) -> Iterator[None]:
    """Make the folders above; if nothing comes of it, those that were made are removed again."""
    missing = [folder for folder in place.parents if not folder.exists()]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def _move_in(folder: Path, target: Path, place: Path, kind: Kind | None) -> None:
    """Move a draft's files to their places, `target` last."""
    paths = sorted(folder.iterdir(), key=lambda path: path.name == target.name)
    if len(paths) > 1 and target.is_symlink():
        raise UsageError(
            f"{target}: is a link, and files that belong to the new one lie beside it, where"
            " they are not found through the link",
            hint=f"name the file itself: -o {shlex.quote(str(place))}; nothing was replaced",
        )
    for path in paths:
        is_target = path.name == target.name
        final = place if is_target else place.parent / path.name
        # again: it may have changed while the draft was written
        check_file(final, kind if is_target else None)
        _sync(path)
        _keep_mode(path, final)
        path.replace(final)


def _sync(path: Path) -> None:
    """Wait until a file is on disk: some file systems report a full disk only then."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_mode(path: Path, replaced: Path) -> None:
    """Give a path the permissions, and where that is allowed the owner, of what it replaces."""
    try:
        before = replaced.stat()
    except FileNotFoundError:
        return
    with suppress(OSError):
        os.chown(path, before.st_uid, before.st_gid)
    path.chmod(stat.S_IMODE(before.st_mode))


def _judge(place: Path, target: Path, kind: Kind) -> None:
    """Raise unless what stands at `place` is a folder that may be replaced."""
    if place.is_symlink() or not place.is_dir():
        raise _unwritable(target, "it is no folder")
    if Path.cwd().resolve().is_relative_to(place.resolve()):
        raise UsageError(
            f"{target}: cannot be replaced (it is, or holds, the current folder)",
            hint=f"name a new folder: -o {shlex.quote(str(target / 'new'))}; nothing was replaced",
        )
    reason = kind.refusal(place) if any(place.iterdir()) else None
    if reason is not None:
        raise _foreign(target, kind, reason)


def _replace(fresh: Path, place: Path, target: Path, kind: Kind) -> None:
    """Put a new folder where an old one, or nothing, is; `target` is what the user calls it."""
    if not os.path.lexists(place):
        with suppress(FileExistsError):  # it came meanwhile: it is judged like any other
            fill_gap(fresh, place)
            return
    _judge(place, target, kind)
    _keep_mode(fresh, place)
    if not exchange(fresh, place):
        _replace_in_two_steps(fresh, place, target, kind)
        return
    try:
        # what stood there at the moment of the exchange, whoever changed it since it was judged
        _judge(fresh, target, kind)
    except BaseException:
        exchange(fresh, place)
        raise


def _replace_in_two_steps(fresh: Path, place: Path, target: Path, kind: Kind) -> None:
    """Do the same where the system cannot exchange; `drafts.recover` undoes half of it."""
    old = fresh.parent / OLD / place.name
    old.parent.mkdir()
    place.rename(old)
    try:
        _judge(old, target, kind)
        fill_gap(fresh, place)
    except BaseException:
        put_back(fresh.parent)
        raise


def fill_gap(source: Path, target: Path) -> None:
    """Rename to a name that is free; raise FileExistsError where it is not."""
    if _renamed(source, target, _NO_REPLACE):
        return
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    source.rename(target)


def exchange(one: Path, other: Path) -> bool:
    """Let two paths change places at one moment; return False where the system cannot."""
    return _renamed(one, other, _EXCHANGE)


def _renamed(source: Path, target: Path, how: int) -> bool:
    rename = _system_rename()
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(source), _HERE, os.fsencode(target), how) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@lru_cache(maxsize=1)
def _system_rename() -> Any:  # noqa: ANN401  (a function of the C library, or None)
    if not sys.platform.startswith("linux"):
        return None
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None:
        rename.argtypes = (
            ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint,
        )  # fmt: skip
    return rename
