"""The file of users: a verifier of each user's password. Only the file's owner may read it."""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from dpsql.engine.atomic_file import alone, remove_left_behind, unfinished
from dpsql.errors import BadParameter, OperationalError
from dpsql.pgwire.protocol.scram import Verifier, pretended, read_verifier, verifier
from dpsql.schema.model import Schema
from dpsql.structs import replace

MIN_PASSWORD: Final = 8
_OTHERS: Final = 0o077

_WAIT_SECONDS: Final = 0.02
"""How often a process that waits for another looks whether the file is free."""


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """The form of the file: decoding to it, JSON can't nest deeper than Python's stack."""

    secret: str
    users: dict[str, str]


class UsersFault(OperationalError):
    """The file of users can't be used: it isn't one, or others may read it."""

    sqlstate = "F0000"
    instead = "nobody can log in now"
    instead_hint = "try later; the cause is in the server's log, for its operator"


@dataclass(frozen=True, slots=True)
class Users:
    """Verifiers by analysts' names; salts for unknown names are derived from `secret`."""

    secret: bytes = field(repr=False)
    verifiers: Mapping[str, Verifier] = field(repr=False)

    def verifier(self, name: str) -> Verifier:
        """The verifier for a login as `name`; for an unknown name one that no password fits."""
        known = self.verifiers.get(name)
        return pretended(name, self.secret) if known is None else known

    def with_password(self, name: str, password: str) -> Users:
        """These users with `name` added, or with its password changed."""
        if not re.fullmatch(r"[^\x00-\x1f\x7f]{1,63}", name):
            raise BadParameter("a user's name has 1 to 63 characters, none of control")
        if len(password) < MIN_PASSWORD:
            raise BadParameter(f"a password has at least {MIN_PASSWORD} characters")
        return replace(self, verifiers={**self.verifiers, name: verifier(password)})

    def without(self, name: str) -> Users:
        """These users without `name`."""
        if name not in self.verifiers:
            raise BadParameter(f"there is no user {name}")
        return replace(self, verifiers={k: v for k, v in self.verifiers.items() if k != name})


def users_path(schema: Schema) -> Path:
    """The path of a dataset's file of users, unless --users names another."""
    return users_next_to(schema.ledger, schema.path)


def users_next_to(ledger: Path | str, schema: Path) -> Path:
    """The file of users next to the ledger, or next to the schema if the ledger is on a server.

    Its name is the other file's whole name and .users, so that no two ledgers share it. Version 0.1
    left the other file's ending out: where only a file with such a name exists, that file is used,
    since without one, anybody would be let in without a password.
    """
    neighbor = ledger if isinstance(ledger, Path) else schema
    own, old = neighbor.with_name(f"{neighbor.name}.users"), neighbor.with_suffix(".users")
    return old if old != neighbor and old.exists() and not own.exists() else own


def renaming(ledger: Path | str, schema: Path) -> str | None:
    """Advice to rename a file of users that has the name of version 0.1; None if there is none."""
    path = users_next_to(ledger, schema)
    neighbor = ledger if isinstance(ledger, Path) else schema
    if path.name == f"{neighbor.name}.users":
        return None
    return f"another ledger could share {path}: stop the server, rename it {neighbor.name}.users"


def read_users(path: Path) -> Users:
    """The users of a file, none if it doesn't exist; `UsersFault` if it can't be used."""
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise UsersFault(f"{path} may be read by others", hint=f"run chmod 600 {path}")
            document = msgspec.json.decode(file.read(), type=_Written)
        secret = bytes.fromhex(document.secret)
        verifiers = {name: read_verifier(text) for name, text in document.users.items()}
    except FileNotFoundError:
        return Users(secrets.token_bytes(32), {})
    except ValueError:
        raise UsersFault(f"{path} isn't a file of users") from None
    known = {name: own for name, own in verifiers.items() if own is not None}
    if len(known) != len(verifiers):
        raise UsersFault(f"{path} has a user whose verifier can't be read")
    return Users(secret, known)


def change_users(path: Path, change: Callable[[Users], Users]) -> None:
    """Replace the users of a file by what `change` makes of them.

    One process after the other: of two at once, the later would write what it had read before, and
    a user whom the other removed could log in again.
    """
    with alone(path.with_name(f".{path.name}.lock"), lambda: time.sleep(_WAIT_SECONDS)):
        write_users(path, change(read_users(path)))


def write_users(path: Path, users: Users) -> None:
    """Replace the file atomically; the new one is readable by its owner alone."""
    written = {
        "secret": users.secret.hex(),
        "users": {name: str(own) for name, own in sorted(users.verifiers.items())},
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
