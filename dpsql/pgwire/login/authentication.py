"""Who connects: login, settings, and what a new client is told."""

from __future__ import annotations

import shlex
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dpsql.pgwire.error_response import LoginFailed
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.users import Users, read_users
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol.frontend_messages import Startup
from dpsql.pgwire.protocol.scram import MECHANISM, Exchange
from dpsql.pgwire.session_settings import REPORTED, SessionSettings

_REMEMBERED: Final = 10_000
_MINUTE: Final = 60.0
_NO_SETTINGS: Final = frozenset({"user", "database", "replication", "options"})


class TooManyFailures(LoginFailed):
    """Wrong passwords came too often."""

    sqlstate = "28000"


@dataclass(frozen=True, slots=True)
class StartupIdentity:
    """Who asks to come in, from which address, with which settings."""

    analyst: str
    address: str
    settings: Mapping[str, str]
    database: str = ""


class UnknownDatabase(LoginFailed):
    """The server has another dataset."""

    sqlstate = "3D000"


class Authenticator:
    """Logins of all connections: with a password, or by name alone where it `allows_anyone`.

    Then the server listens on the loopback address only, which `server` sees to.
    """

    def __init__(self, users: Path, limits: Limits, *, trusts: bool) -> None:
        self._path = users
        self._max_failures = limits.failed_logins_a_minute
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._trusts = trusts
        self.refused = 0

    @property
    def allows_anyone(self) -> bool:
        """Until a user is added, whoever connects is who it says."""
        return self._trusts

    def authenticate(self, identity: StartupIdentity) -> Exchange | None:
        """The exchange by which a guest proves who it is, None if that isn't asked."""
        users = self._users()
        if self._trusts and not users.verifiers:
            return None
        if self._is_barred(identity):
            self.refused += 1
            raise TooManyFailures(
                "too many failed logins", hint="wait a minute before you try again"
            )
        return Exchange(users.verifier(identity.analyst))

    def note_failure(self, identity: StartupIdentity) -> LoginFailed:
        """Count a wrong password; the error is the same whether the user exists or not."""
        self.refused += 1
        for key in self._keys(identity):
            found = self._failures.setdefault(key, deque(maxlen=self._max_failures * 10))
            found.append(time.monotonic())
            self._failures.move_to_end(key)
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)
        return LoginFailed(f'password authentication failed for user "{identity.analyst[:63]}"')

    def _users(self) -> Users:
        # Read at each login: who was removed a moment ago doesn't come in.
        return read_users(self._path)

    def _is_barred(self, identity: StartupIdentity) -> bool:
        """One address may fail so often for one user, and ten times as often for all."""
        since = time.monotonic() - _MINUTE
        for key, most in zip(
            self._keys(identity), (self._max_failures, self._max_failures * 10), strict=True
        ):
            found = self._failures.get(key, deque())
            while found and found[0] < since:
                found.popleft()
            if len(found) >= most:
                return True
        return False

    @staticmethod
    def _keys(identity: StartupIdentity) -> tuple[tuple[str, str], tuple[str, str]]:
        return (identity.address, identity.analyst), (identity.address, "")


def identity_of(startup: Startup, address: str) -> StartupIdentity:
    """Who a start-up message names; settings may come in its `options`, too."""
    options = startup.options
    analyst = options.get("user", "")
    if not analyst:
        raise LoginFailed("no user is named", hint="connect with user=NAME")
    given = {k: v for k, v in options.items() if k not in _NO_SETTINGS and k[:5] != "_pq_."}
    try:
        words = shlex.split(options.get("options", ""))
    except ValueError:
        words = []
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        name, _, value = word.removeprefix("--").removeprefix("-c").partition("=")
        given[name.strip().replace("-", "_")] = value.strip()
    settings = {**given, "session_authorization": analyst}
    return StartupIdentity(analyst, address, settings, options.get("database", ""))


def check_database(identity: StartupIdentity, dataset: str) -> None:
    """Refuse a database that isn't the dataset. Clients that name none send the user's name."""
    if identity.database.casefold() not in {"", identity.analyst.casefold(), dataset.casefold()}:
        raise UnknownDatabase(
            f'database "{identity.database[:63]}" does not exist',
            hint=f"connect with dbname={dataset}",
        )


def unknown_options(startup: Startup) -> list[str]:
    """Options of the protocol that aren't known here."""
    return [name for name in startup.options if name.startswith("_pq_.")]


def mechanisms() -> bytes:
    """How to log in."""
    return b.sasl([MECHANISM])


def startup_messages(settings: SessionSettings, process: int, secret: bytes) -> bytes:
    """What a client is told once it is in."""
    told = b"".join(b.parameter(name, settings[name]) for name in REPORTED)
    return b.AUTHENTICATED + told + b.key(process, secret) + b.ready("I")
