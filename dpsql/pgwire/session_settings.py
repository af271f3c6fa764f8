"""One connection's settings, which ROLLBACK reverts: nothing else here is transactional."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.errors import BadParameter, NotSupportedError, Span, UnknownColumn
from dpsql.pgwire.time_zone import is_utc, is_zone
from dpsql.plan.time_zone.zone_names import zone_named

REPORTED: Final = {
    "server_version": "15.0 (dpsql)",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "application_name": "",
    "is_superuser": "off",
    "session_authorization": "",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "default_transaction_read_only": "on",
    "in_hot_standby": "off",
}
"""Settings that a ParameterStatus reports when a client connects, and when they change."""

_PLANNER: Final = """
array_nulls check_function_bodies enable_bitmapscan enable_hashagg enable_hashjoin
enable_indexonlyscan enable_indexscan enable_material enable_memoize enable_mergejoin
enable_nestloop enable_parallel_append enable_parallel_hash
enable_partition_pruning enable_seqscan enable_sort
escape_string_warning geqo parallel_leader_participation synchronize_seqscans track_activities
track_counts
"""
_WITHOUT_EFFECT: Final = {
    "client_connection_check_interval": "0",
    "cursor_tuple_fraction": "0.1",
    "default_statistics_target": "100",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "effective_cache_size": "4GB",
    "effective_io_concurrency": "1",
    "from_collapse_limit": "8",
    "idle_session_timeout": "0",
    "jit_above_cost": "100000",
    "join_collapse_limit": "8",
    "lc_monetary": "C",
    "lc_numeric": "C",
    "lc_time": "C",
    "log_min_duration_statement": "-1",
    "log_statement": "none",
    "maintenance_work_mem": "64MB",
    "max_parallel_workers_per_gather": "2",
    "plan_cache_mode": "auto",
    "quote_all_identifiers": "off",
    "random_page_cost": "4",
    "seq_page_cost": "1",
    "session_replication_role": "origin",
    "tcp_keepalives_count": "0",
    "tcp_keepalives_idle": "0",
    "tcp_keepalives_interval": "0",
    "temp_buffers": "8MB",
    "temp_tablespaces": "",
    "transaction_deferrable": "off",
    "work_mem": "4MB",
    "xmlbinary": "base64",
    "xmloption": "content",
}
"""Settings of how PostgreSQL plans and logs: they are kept, and change no answer."""

_OTHERS: Final = {
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "transaction_read_only": "on",
    "search_path": '"$user", public',
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "server_version_num": "150000",
    "lc_collate": "C",
    "lc_ctype": "C",
    "lc_messages": "C",
    "client_min_messages": "notice",
    "backslash_quote": "safe_encoding",
    "row_security": "on",
    "jit": "off",
    "ssl": "off",
    "wal_level": "replica",
    **dict.fromkeys(_PLANNER.split(), "on"),
    **_WITHOUT_EFFECT,
}
_FIXED: Final = """
server_version server_encoding is_superuser session_authorization integer_datetimes
standard_conforming_strings in_hot_standby server_version_num max_identifier_length
max_index_keys lc_collate lc_ctype wal_level ssl transaction_read_only
default_transaction_read_only
"""
_UTF8: Final = frozenset({"utf8", "unicode", "default", "sqlascii"})


class UnknownSetting(UnknownColumn):
    """There is no such setting."""

    sqlstate = "42704"


class FixedSetting(BadParameter):
    """The setting can't be changed."""

    sqlstate = "55P02"


class OtherZone(NotSupportedError):
    """A time zone that isn't UTC, in which timestamps would have to be shown differently."""


def _named(zone: str) -> str:
    """The zone as AT TIME ZONE takes it, or an example of one."""
    return zone_named(zone) or "Europe/Berlin"


class SessionSettings:
    """A connection's settings, and the transaction that may revert them.

    `status` is that of ReadyForQuery: "I" outside of a transaction, "T" in one, "E" in a failed
    one. `startup` are the settings that came with the login, which RESET goes back to.
    """

    def __init__(self, startup: Mapping[str, str]) -> None:
        self._usual = {**REPORTED, **_OTHERS}
        self._names = {name.casefold(): name for name in self._usual}
        self._now = dict(self._usual)
        self._before: dict[str, str] | None = None
        self._local: set[str] = set()
        self.status = "I"
        for name, value in startup.items():
            key = self._names.get(name.casefold(), name)
            if key not in _FIXED.split() or key == "session_authorization":
                self._usual[key] = self._now[key] = self._canonical(key, value)

    def __getitem__(self, name: str) -> str:
        """The value of a setting; `UnknownSetting` if there is none of that name."""
        key = self._names.get(name.casefold(), name)
        if key not in self._now:
            raise UnknownSetting(f"there is no setting {name[:60]}", hint="write SHOW ALL")
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

        Returns the reported settings that changed. `local` ends with the transaction; `at` is the
        part of the statement that errors point to.
        """
        before = dict(self._now)
        if name == "all" and value is None:
            self._now = dict(self._usual)
            return self._reported(before)
        key = self._names.get(name.casefold(), name.casefold())
        if key not in self._now and "." not in key:
            raise UnknownSetting(f"there is no setting {name[:60]}", at=at)
        if (
            value is not None
            and key in _FIXED.split()
            and value.casefold() != self._now[key].casefold()
        ):
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
        new = self._usual.get(key, "") if value is None else self._canonical(key, value)
        if value is None and key not in self._usual:
            self._now.pop(key, None)
        elif key not in _FIXED.split():
            self._now[key] = new
        if local and self._before is not None:
            self._local.add(key)
        return self._reported(before)

    def begin(self) -> None:
        """Begin a transaction; settings that are changed from here on may be reverted."""
        if self.status == "I":
            self._before = dict(self._now)
            self._local = set()
            self.status = "T"

    def fail(self) -> None:
        """Note that a statement failed: in a transaction, only its end is taken from here on."""
        if self.status == "T":
            self.status = "E"

    def recover(self) -> None:
        """ROLLBACK TO a savepoint: the transaction goes on as if nothing had failed."""
        if self.status == "E":
            self.status = "T"

    def end(self, *, keeps: bool) -> dict[str, str]:
        """End the transaction, where COMMIT `keeps` its settings.

        Returns the reported settings that changed by this.
        """
        now = dict(self._now)
        if self._before is not None:
            if keeps and self.status == "T":
                # One that wasn't set before, such as dpsql.epsilon, isn't set afterwards.
                others = {k: v for k, v in self._now.items() if k not in self._local}
                self._now = others | {k: self._before[k] for k in self._local & self._before.keys()}
            else:
                self._now = self._before
        self._before = None
        self._local = set()
        self.status = "I"
        return self._reported(now)

    def _reported(self, before: Mapping[str, str]) -> dict[str, str]:
        return {name: self._now[name] for name in REPORTED if self._now[name] != before[name]}

    @staticmethod
    def _canonical(key: str, value: str) -> str:
        if key == "client_encoding":
            if re.sub(r"[^a-z0-9]", "", value.casefold()) not in _UTF8:
                raise BadParameter("only UTF8 is spoken", hint="SET client_encoding = 'UTF8'")
            return "UTF8"
        if key == "DateStyle":
            return REPORTED[key]
        if key == "TimeZone":
            if not is_zone(value):
                raise BadParameter(
                    f"there is no time zone {value[:60]}", hint="SET timezone = 'UTC'"
                )
            return REPORTED[key]
        return value[:1000]
