"""Logins: who connects, with which settings, and the messages that a new client gets."""

from __future__ import annotations

import shlex
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from dpsql.pgwire.error_response import LoginFailed
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.login.users import Users, read_users
from dpsql.pgwire.protocol import backend_messages as b
from dpsql.pgwire.protocol.frontend_messages import Startup
from dpsql.pgwire.protocol.scram import MECHANISM, Exchange
from dpsql.pgwire.settings.session_settings import SessionSettings
from dpsql.pgwire.settings.usual_settings import REPORTED

_REMEMBERED: Final = 10_000
_MINUTE: Final = 60.0
_NO_SETTINGS: Final = frozenset({"user", "database", "replication", "options"})


class TooManyFailures(LoginFailed):
    """Too many wrong passwords came within a minute."""

    sqlstate = "28000"


class StartupIdentity(Struct, frozen=True):
    """Who a client says it is, before the login: `database` is "" if the client names none."""

    analyst: str
    address: str
    settings: Mapping[str, str]
    database: str = ""


class UnknownDatabase(LoginFailed):
    """The client names a database that isn't the server's dataset."""

    sqlstate = "3D000"


class Authenticator:
    """Logins of all connections: with a password, or by name alone where it `allows_anyone`.

    Where it does, `Server.listen` takes loopback addresses only. `refused` counts failed logins.
    """

    def __init__(self, users: Path, limits: Limits, *, trusts: bool) -> None:
        self._path = users
        self._max_failures = limits.failed_logins_a_minute
        self._failures: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._trusts = trusts
        self.refused = 0

    @property
    def allows_anyone(self) -> bool:
        """Whether clients log in by name alone as long as the file has no users."""
        return self._trusts

    def authenticate(self, identity: StartupIdentity) -> Exchange | None:
        """The SCRAM exchange of a login, None if none is needed; raises `TooManyFailures`."""
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
        """Count a wrong password; the returned error doesn't tell whether the user exists."""
        self.refused += 1
        for key in self._keys(identity):
            failures = self._failures.setdefault(key, deque(maxlen=self._max_failures * 10))
            failures.append(time.monotonic())
            self._failures.move_to_end(key)
        while len(self._failures) > _REMEMBERED:
            self._failures.popitem(last=False)
        return LoginFailed(f'password authentication failed for user "{identity.analyst[:63]}"')

    def _users(self) -> Users:
        # Read at each login, so that a removed user can't log in from then on.
        return read_users(self._path)

    def _is_barred(self, identity: StartupIdentity) -> bool:
        """Whether one address failed too often: for one user, or ten times as often for all."""
        since = time.monotonic() - _MINUTE
        for key, max_failures in zip(
            self._keys(identity), (self._max_failures, self._max_failures * 10), strict=True
        ):
            failures = self._failures.get(key, deque())
            while failures and failures[0] < since:
                failures.popleft()
            if len(failures) >= max_failures:
                return True
        return False

    @staticmethod
    def _keys(identity: StartupIdentity) -> tuple[tuple[str, str], tuple[str, str]]:
        return (identity.address, identity.analyst), (identity.address, "")


def identity_of(startup: Startup, address: str) -> StartupIdentity:
    """The user, database and settings of a start-up message.

    Its parameter `options` may have settings, too, as in "-c statement_timeout=0". `LoginFailed` if
    no user is named.
    """
    options = startup.options
    analyst = options.get("user", "")
    if not analyst:
        raise LoginFailed("no user is named", hint="connect with user=NAME")
    settings = {k: v for k, v in options.items() if k not in _NO_SETTINGS and k[:5] != "_pq_."}
    try:
        words = shlex.split(options.get("options", ""))
    except ValueError:
        words = []
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        name, _, value = word.removeprefix("--").removeprefix("-c").partition("=")
        settings[name.strip().replace("-", "_")] = value.strip()
    settings["session_authorization"] = analyst
    return StartupIdentity(analyst, address, settings, options.get("database", ""))


def check_database(identity: StartupIdentity, dataset: str) -> None:
    """Raise `UnknownDatabase` for a database that is neither "", the user's name nor `dataset`.

    Clients that are given no database send the user's name.
    """
    if identity.database.casefold() not in {"", identity.analyst.casefold(), dataset.casefold()}:
        raise UnknownDatabase(
            f'database "{identity.database[:63]}" does not exist',
            hint=f"connect with dbname={dataset}",
        )


def unknown_options(startup: Startup) -> list[str]:
    """Names of protocol options (_pq_.…) in a start-up message, of which none is known here."""
    return [name for name in startup.options if name.startswith("_pq_.")]


def mechanisms() -> bytes:
    """The AuthenticationSASL message, which offers SCRAM-SHA-256."""
    return b.sasl([MECHANISM])


def startup_messages(settings: SessionSettings, process: int, secret: bytes) -> bytes:
    """The messages after a login: AuthenticationOk, the settings, BackendKeyData, ReadyForQuery."""
    reported = b"".join(b.parameter(name, settings[name]) for name in REPORTED)
    return b.AUTHENTICATED + reported + b.key(process, secret) + b.ready("I")
