"""Who may log in, and with which password's verifier: a file that only its owner may read."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from dpsql.engine.atomic_file import remove_left_behind, unfinished
from dpsql.errors import BadParameter, OperationalError
from dpsql.pgwire.protocol.scram import Verifier, pretended, read_verifier, verifier
from dpsql.schema.model import Schema

MIN_PASSWORD: Final = 8
_OTHERS: Final = 0o077


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """The file; of a known form, so that nothing can nest deeper than the stack."""

    secret: str
    users: dict[str, str]


class UsersFault(OperationalError):
    """The file of users can't be used."""

    sqlstate = "F0000"
    instead = "nobody can log in now"
    instead_hint = "try later; the cause is in the server's log, for its operator"


@dataclass(frozen=True, slots=True)
class Users:
    """Analysts' names with their verifiers; `secret` makes salts for names that aren't there."""

    secret: bytes = field(repr=False)
    verifiers: Mapping[str, Verifier] = field(repr=False)

    def verifier(self, name: str) -> Verifier:
        """What to compare a login with; of nobody, one that no password fits."""
        found = self.verifiers.get(name)
        return pretended(name, self.secret) if found is None else found

    def with_password(self, name: str, password: str) -> Users:
        """With `name` added, or its password changed."""
        if not re.fullmatch(r"[^\x00-\x1f\x7f]{1,63}", name):
            raise BadParameter("a user's name has 1 to 63 characters, none of control")
        if len(password) < MIN_PASSWORD:
            raise BadParameter(f"a password has at least {MIN_PASSWORD} characters")
        return replace(self, verifiers={**self.verifiers, name: verifier(password)})

    def without(self, name: str) -> Users:
        """With `name` removed."""
        if name not in self.verifiers:
            raise BadParameter(f"there is no user {name}")
        return replace(self, verifiers={k: v for k, v in self.verifiers.items() if k != name})


def users_path(schema: Schema) -> Path:
    """Where a dataset's users are kept unless another file is named."""
    return users_next_to(schema.ledger, schema.path)


def users_next_to(ledger: Path | str, schema: Path) -> Path:
    """The file of users beside a ledger; of one on a server, beside the schema.

    It has the other's whole name, so that no two share it; version 0.1 left its ending out, and
    where only such a file is there, it is the one: else its users would be let in unasked.
    """
    beside = ledger if isinstance(ledger, Path) else schema
    own, old = beside.with_name(f"{beside.name}.users"), beside.with_suffix(".users")
    return old if old != beside and old.exists() and not own.exists() else own


def renaming(ledger: Path | str, schema: Path) -> str | None:
    """What to do with a file of users that has the name of version 0.1; None if there is none."""
    found = users_next_to(ledger, schema)
    beside = ledger if isinstance(ledger, Path) else schema
    if found.name == f"{beside.name}.users":
        return None
    return f"another ledger could share {found}: stop the server, rename it {beside.name}.users"


def read_users(path: Path) -> Users:
    """The users of a file; none if it isn't there."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise UsersFault(f"{path} may be read by others", hint=f"run chmod 600 {path}")
            found = msgspec.json.decode(file.read(), type=_Written)
        secret = bytes.fromhex(found.secret)
        verifiers = {name: read_verifier(text) for name, text in found.users.items()}
    except FileNotFoundError:
        return Users(secrets.token_bytes(32), {})
    except ValueError:
        raise UsersFault(f"{path} isn't a file of users") from None
    known = {name: found for name, found in verifiers.items() if found is not None}
    if len(known) != len(verifiers):
        raise UsersFault(f"{path} has a user whose verifier can't be read")
    return Users(secret, known)


def write_users(path: Path, users: Users) -> None:
    """Replace the file at once, readable by its owner alone."""
    written = {
        "secret": users.secret.hex(),
        "users": {name: str(found) for name, found in sorted(users.verifiers.items())},
    }
    remove_left_behind(path)
    with unfinished(path) as folder:
        other = folder / "users"
        descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(written, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        other.replace(path)
