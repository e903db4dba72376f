"""A signed folder is known by its maker's key; every other one is refused where one is demanded."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from burnish.cli.main import run
from burnish.codegen.write import write_sums
from burnish.core.errors import CheckFailedError, MissingCapabilityError, UsageError
from burnish.runtime.load import load
from burnish.runtime.signing import MAKE_KEYS, private_key, public_key, require_signature, sign
from burnish.store.compiled import FOLDER, PLAN, SIGNATURE, SUMS
from codegen.hand_written import built
from codegen.models import mlp, save
from runtime.test_load import written

PEM, PUBLIC = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
PRIVATE = serialization.PrivateFormat.PKCS8
OPEN = serialization.NoEncryption()


def keys(folder: Path, name: str = "mine") -> tuple[Path, Path]:
    """Return the files of a new private key and its public one."""
    key = ed25519.Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}.public.pem"
    private.write_bytes(key.private_bytes(PEM, PRIVATE, OPEN))
    public.write_bytes(key.public_key().public_bytes(PEM, PUBLIC))
    return private, public


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "c", built(4))


def test_a_signed_folder_is_accepted_and_still_loads(folder: Path, tmp_path: Path) -> None:
    private, public = keys(tmp_path)
    sign(folder, private)
    require_signature(folder, public)
    with load(folder, threads=1) as model:
        model.run({"x": np.ones(4, np.float32)})
    assert FOLDER.refusal(folder) is None, "it may be compiled again"


def test_a_folder_without_a_signature_is_refused(folder: Path, tmp_path: Path) -> None:
    _, public = keys(tmp_path)
    with pytest.raises(
        CheckFailedError, match=r"c: is not signed \(it has no SHA256SUMS\.sig\)"
    ) as e:
        require_signature(folder, public)
    assert e.value.hint.startswith("run it without --require-signature only if you trust")


def test_another_signer_is_refused(folder: Path, tmp_path: Path) -> None:
    sign(folder, keys(tmp_path)[0])
    with pytest.raises(CheckFailedError, match="c: was not signed by the owner of"):
        require_signature(folder, keys(tmp_path, "other")[1])


@pytest.mark.parametrize("name", [SUMS, SIGNATURE])
def test_a_changed_folder_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    private, public = keys(tmp_path)
    sign(folder, private)
    (folder / name).write_bytes((folder / name).read_bytes() + b"x")
    with pytest.raises(CheckFailedError, match="or was changed since"):
        require_signature(folder, public)


def test_a_plan_with_sums_made_again_is_refused(folder: Path, tmp_path: Path) -> None:
    private, public = keys(tmp_path)
    sign(folder, private)
    (folder / PLAN).write_text((folder / PLAN).read_text().replace("a CPU", "my CPU"))
    write_sums(folder)
    with pytest.raises(CheckFailedError, match="or was changed since"):
        require_signature(folder, public)


def test_what_is_no_key_is_refused_with_how_to_make_one(tmp_path: Path) -> None:
    private, public = keys(tmp_path)
    (tmp_path / "text.pem").write_text("no key")
    curve = ec.generate_private_key(ec.SECP256R1()).private_bytes(PEM, PRIVATE, OPEN)
    (tmp_path / "curve.pem").write_bytes(curve)
    locked = ed25519.Ed25519PrivateKey.generate().private_bytes(
        PEM, PRIVATE, serialization.BestAvailableEncryption(b"secret")
    )
    (tmp_path / "locked.pem").write_bytes(locked)
    for path in (public, *(tmp_path / f"{name}.pem" for name in ("text", "curve", "locked"))):
        with pytest.raises(UsageError, match="is no private Ed25519 key in PEM form") as caught:
            private_key(path)
        assert caught.value.hint == MAKE_KEYS
    with pytest.raises(UsageError, match="is no public Ed25519 key in PEM form"):
        public_key(private)
    with pytest.raises(UsageError, match=r"gone: cannot be read \(No such file"):
        public_key(tmp_path / "gone")


def test_without_the_library_the_remedy_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(MissingCapabilityError, match="signatures need the package crypt") as caught:
        private_key(tmp_path / "k.pem")
    assert caught.value.hint == "pip install 'burnish[sign]'"


def test_the_command_line_signs_and_demands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private, public = keys(tmp_path)
    model = str(save(mlp(), tmp_path / "mlp.onnx"))
    target = str(tmp_path / "c")
    words = ["--shape", "batch=3", "--threads", "1", "--no-tune", "--samples", "1"]
    assert run(["compile", model, "-o", target, *words, "--sign", str(public)]) == 2
    assert not (tmp_path / "c").exists(), "a wrong key is refused before anything is compiled"
    assert run(["compile", model, "-o", target, *words, "--sign", str(private)]) == 0
    np.savez(tmp_path / "x.npz", x=np.ones((3, 8), np.float32))
    given = ["exec", target, "--input", str(tmp_path / "x.npz"), "--require-signature"]
    assert run([*given, str(public)]) == 0
    assert run(["compile", model, "-o", target, *words]) == 0
    capsys.readouterr()
    assert run([*given, str(public)]) == 1
    assert "c: is not signed" in capsys.readouterr().err
