"""Who made a compiled folder: an Ed25519 signature over its list of sums, which name all else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from burnish.core.errors import CheckFailedError, MissingCapabilityError, UsageError
from burnish.core.files import write_bytes
from burnish.store.compiled import SIGNATURE, SUMS

Key = Any
"""A key of `cryptography`, which is imported only when something is signed or checked."""

MAKE_KEYS = (
    "make a pair: openssl genpkey -algorithm ed25519 -out key.pem && "
    "openssl pkey -in key.pem -pubout -out public.pem"
)


def sign(folder: Path, key: Path) -> None:
    """Sign a folder's list of sums; the signature lies beside it."""
    write_bytes(folder / SIGNATURE, private_key(key).sign((folder / SUMS).read_bytes()))


def require_signature(folder: Path, key: Path) -> None:
    """Raise unless a folder's list of sums was signed by the owner of a public key."""
    public = public_key(key)
    from cryptography.exceptions import InvalidSignature

    hint = "run it without --require-signature only if you trust where it came from"
    if not (folder / SIGNATURE).is_file() or not (folder / SUMS).is_file():
        raise CheckFailedError(f"{folder}: is not signed (it has no {SIGNATURE})", hint=hint)
    try:
        public.verify((folder / SIGNATURE).read_bytes(), (folder / SUMS).read_bytes())
    except InvalidSignature:
        raise CheckFailedError(
            f"{folder}: was not signed by the owner of {key}, or was changed since", hint=hint
        ) from None


def private_key(path: Path) -> Key:
    """Return the key that signs."""
    keys, formats = _ort()
    found = _key(path, lambda content: formats.load_pem_private_key(content, password=None))
    if not isinstance(found, keys.Ed25519PrivateKey):
        raise UsageError(f"{path}: is no private Ed25519 key in PEM form", hint=MAKE_KEYS)
    return found


def public_key(path: Path) -> Key:
    """Return the key that tells who signed."""
    keys, formats = _ort()
    found = _key(path, formats.load_pem_public_key)
    if not isinstance(found, keys.Ed25519PublicKey):
        raise UsageError(f"{path}: is no public Ed25519 key in PEM form", hint=MAKE_KEYS)
    return found


def _ort() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingCapabilityError(
            "signatures need the package cryptography, which is not installed",
            hint="pip install 'burnish[sign]'",
        ) from error
    return ed25519, serialization


def _key(path: Path, read: Callable[[bytes], Key]) -> Key:
    """Return what a key file holds; None: no key that can be used without a pass phrase."""
    try:
        return read(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})", hint=MAKE_KEYS) from error
    except (TypeError, ValueError):
        return None
