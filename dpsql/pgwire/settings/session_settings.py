"""One connection's settings, which ROLLBACK reverts: nothing else here is transactional."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from dpsql.errors import (
    BadParameter,
    NotSupportedError,
    OperationalError,
    Span,
    UnknownColumn,
)
from dpsql.pgwire.settings.time_zone import is_utc, is_zone
from dpsql.pgwire.settings.usual_settings import FIXED, MODES, OTHERS, REPORTED
from dpsql.plan.time_zone.zone_names import zone_named

_ONE_STYLE: Final = frozenset({"DateStyle", "IntervalStyle"})
"""Settings of how values are written: they are taken, and stay what the values are written by."""

_UTF8: Final = frozenset({"utf8", "unicode", "default", "sqlascii"})


class UnknownSetting(UnknownColumn):
    """There is no such setting."""

    sqlstate = "42704"


class FixedSetting(BadParameter):
    """The setting can't be changed."""

    sqlstate = "55P02"


class OtherZone(NotSupportedError):
    """A time zone that isn't UTC, in which timestamps would have to be shown differently."""


class NoTransaction(OperationalError):
    """A statement that belongs into a transaction came outside of one."""

    sqlstate = "25P01"


class UnknownSavepoint(OperationalError):
    """No savepoint of the transaction has that name."""

    sqlstate = "3B001"


class TooManySettings(OperationalError):
    """A connection would remember more settings, or savepoints of them, than one may."""

    sqlstate = "53400"


MAX_SETTINGS: Final = 1_000
"""Settings of one connection, those that a client makes up (`my.name`) among them."""

MAX_NAME: Final = 63
"""Characters of a name that a client makes up; a savepoint's is cut off there."""

MAX_SAVEPOINTS: Final = 10_000
"""Savepoints of one transaction: JDBC's autosave leaves one for each statement."""


class _Savepoint(Struct, frozen=True):
    """The settings that SAVEPOINT saw, those that end with the transaction, and open portals."""

    name: str
    settings: Mapping[str, str]
    local: frozenset[str]
    portals: frozenset[str]


NO_MODES: Final[Mapping[str, str]] = {}
"""Of a transaction that has those of its session."""


def _named(zone: str) -> str:
    """The zone as AT TIME ZONE takes it, or an example of one."""
    return zone_named(zone) or "Europe/Berlin"


class SessionSettings:
    """A connection's settings, and the transaction that may revert them.

    `status` is that of ReadyForQuery: "I" outside of a transaction, "T" in one, "E" in a failed
    one. `modes` are settings of the transaction alone, such as its isolation. `startup` are the
    settings that came with the login, which RESET goes back to.
    """

    def __init__(self, startup: Mapping[str, str]) -> None:
        self._usual = {**REPORTED, **OTHERS}
        self._names = {name.casefold(): name for name in self._usual}
        self._before: Mapping[str, str] | None = None
        self._local: set[str] = set()
        self._savepoints: list[_Savepoint] = []
        self.modes: Mapping[str, str] = {}
        self.status = "I"
        for name, value in startup.items():
            key = self._names.get(name.casefold(), name)
            if key not in FIXED or key == "session_authorization":
                self._usual[key] = self._canonical(key, value)
        self._now: Mapping[str, str] = dict(self._usual)  # never changed: savepoints have it, too

    def __getitem__(self, name: str) -> str:
        """The value of a setting; `UnknownSetting` if there is none of that name."""
        key = self._names.get(name.casefold(), name)
        if key not in self._now:
            raise UnknownSetting(f"there is no setting {name[:60]}", hint="write SHOW ALL")
        if key in MODES:
            return self.modes.get(key, self._now[f"default_{key}"])
        return self._now[key]

    def name(self, name: str) -> str:
        """A setting's name as PostgreSQL writes it."""
        return self._names.get(name.casefold(), name)

    def own(self) -> dict[str, str]:
        """The dpsql.* settings that were changed, by their names."""
        return {name: value for name, value in self._now.items() if name.startswith("dpsql.")}

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._now, key=str.casefold))

    def set(self, name: str, value: str | None, at: Span, *, local: bool = False) -> dict[str, str]:
        """Change a setting, None for what it was at first; "all" is the name of all settings.

        Returns the reported settings that changed. `local` ends with the transaction, and changes
        nothing outside of one; `at` is the part of the statement that errors point to.
        """
        before = self._now
        if name == "all" and value is None:
            self._now = dict(self._usual)
            return self._reported(before)
        key = self._names.get(name.casefold(), name.casefold())
        if key not in self._now and ("." not in key or len(key) > MAX_NAME):
            raise UnknownSetting(f"there is no setting {name[:60]}", at=at)
        is_own = key not in self._now and not key.startswith("dpsql.")
        if is_own and len(self._now) >= MAX_SETTINGS:
            raise TooManySettings("too many settings of one's own", at=at, hint="RESET ALL")
        if value is not None and key in FIXED and value.casefold() != self._now[key].casefold():
            raise FixedSetting(f"{key} can't be changed", at=at)
        if key == "TimeZone" and value is not None and not is_utc(value):
            self._canonical(key, value)
            raise OtherZone(
                f"sessions are in UTC, and {value[:60]} isn't: timestamps are shown by UTC",
                at=at,
                hint="SET timezone = 'UTC', and write local time where it is wanted:"
                f" x AT TIME ZONE '{_named(value)}' of a timestamptz,"
                f" x AT TIME ZONE 'UTC' AT TIME ZONE '{_named(value)}' of a timestamp in UTC",
            )
        if key in MODES:
            new = self._now[f"default_{key}"] if value is None else self._canonical(key, value)
            self.set_modes({key: new}, follows=False)
            return {}
        if local and self._before is None:
            return {}
        new = self._usual.get(key, "") if value is None else self._canonical(key, value)
        if value is None and key not in self._usual:
            self._now = {k: v for k, v in before.items() if k != key}
        elif key not in FIXED:
            self._now = {**before, key: new}
        if local:
            self._local.add(key)
        else:
            self._local.discard(key)
        return self._reported(before)

    def begin(self, modes: Mapping[str, str] = NO_MODES) -> None:
        """Begin a transaction with `modes`; settings changed from here on may be reverted."""
        if self.status == "I":
            if self._before is None:
                self._before, self._local = dict(self._now), set()
            self.modes = {mode: self[mode] for mode in MODES}
            self.status = "T"
        self.set_modes(modes, follows=False)

    def set_modes(self, modes: Mapping[str, str], *, follows: bool) -> None:
        """Change modes of the transaction, or, where that `follows`, of those behind it."""
        if follows:
            self._now = {**self._now, **{f"default_{mode}": v for mode, v in modes.items()}}
        elif self.takes_local:
            self.modes = {**self.modes, **modes}

    def begin_message(self) -> None:
        """Begin the several statements of one message, which are a transaction if none is open."""
        if self.status == "I":
            self._before, self._local = dict(self._now), set()

    def end_message(self, *, keeps: bool) -> dict[str, str]:
        """End what `begin_message` began, if no transaction is open; as `end`."""
        return self.end(keeps=keeps) if self.status == "I" else {}

    def fail(self) -> None:
        """Note that a statement failed: in a transaction, only its end is taken from here on."""
        if self.status == "T":
            self.status = "E"

    def save(self, name: str, portals: frozenset[str]) -> None:
        """SAVEPOINT: remember the settings and the names of `portals` as they are now."""
        self.require_transaction("SAVEPOINT")
        if len(self._savepoints) >= MAX_SAVEPOINTS:
            raise TooManySettings("the transaction has too many savepoints", hint="RELEASE some")
        point = _Savepoint(name[:MAX_NAME], self._now, frozenset(self._local), portals)
        self._savepoints.append(point)

    def release(self, name: str) -> None:
        """RELEASE: forget a savepoint, and those behind it; what was set since is kept."""
        self.require_transaction("RELEASE SAVEPOINT")
        del self._savepoints[self._index_of(name) :]

    def go_back(self, name: str) -> tuple[dict[str, str], frozenset[str]]:
        """ROLLBACK TO a savepoint: the transaction goes on as it was there.

        Returns the reported settings that changed by this, and the names of portals of then.
        """
        self.require_transaction("ROLLBACK TO SAVEPOINT")
        now, at = self._now, self._index_of(name)
        del self._savepoints[at + 1 :]
        point = self._savepoints[at]
        self._now, self._local = point.settings, set(point.local)
        self.status = "T"
        return self._reported(now), point.portals

    def end(self, *, keeps: bool) -> dict[str, str]:
        """End the transaction, where COMMIT `keeps` its settings.

        Returns the reported settings that changed by this.
        """
        now = dict(self._now)
        if self._before is not None:
            if keeps and self.status != "E":
                # One that wasn't set before, such as dpsql.epsilon, isn't set afterwards.
                others = {k: v for k, v in self._now.items() if k not in self._local}
                self._now = others | {k: self._before[k] for k in self._local & self._before.keys()}
            else:
                self._now = self._before
        self._before = None
        self.modes = {}
        self._local = set()
        self._savepoints.clear()
        self.status = "I"
        return self._reported(now)

    @property
    def takes_local(self) -> bool:
        """Whether SET LOCAL has a transaction with which it ends."""
        return self._before is not None

    def require_transaction(self, command: str) -> None:
        """Raise `NoTransaction` outside of one, where `command` would have nothing to end."""
        if self.status == "I":
            raise NoTransaction(f"{command} means nothing outside of a transaction", hint="BEGIN")

    def _index_of(self, name: str) -> int:
        """The index of the last savepoint of that name; `UnknownSavepoint` if there is none."""
        for index in reversed(range(len(self._savepoints))):
            if self._savepoints[index].name == name[:MAX_NAME]:
                return index
        raise UnknownSavepoint(f"there is no savepoint {name[:60]}", hint="ROLLBACK")

    def _reported(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: self._now[name] for name in REPORTED if self._now[name] != before[name]}

    @staticmethod
    def _canonical(key: str, value: str) -> str:
        mode = key.removeprefix("default_")
        if mode in MODES:
            known = MODES[mode].get(value.strip().casefold())
            if known is None:
                options = ", ".join(dict.fromkeys(MODES[mode].values()))
                raise BadParameter(f"{key} can't be that", hint=f"one of: {options}")
            return known
        if key == "client_encoding":
            if re.sub(r"[^a-z0-9]", "", value.casefold()) not in _UTF8:
                raise BadParameter("only UTF8 is spoken", hint="SET client_encoding = 'UTF8'")
            return "UTF8"
        if key in _ONE_STYLE:
            return REPORTED[key]
        if key == "TimeZone":
            if not is_zone(value):
                raise BadParameter(
                    f"there is no time zone {value[:60]}", hint="SET timezone = 'UTC'"
                )
            return REPORTED[key]
        return value[:1000]
