"""PEP 249's type objects, which a description's type codes equal, and its constructors."""

from __future__ import annotations

import datetime as dt
from typing import Final

from msgspec import Struct


class TypeObject(Struct, frozen=True, eq=False):
    """Equal to the type code of each SQL type in `names`: NUMBER == "DECIMAL(15,2)"."""

    name: str
    names: frozenset[str]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self.name == other.name
        return isinstance(other, str) and other.partition("(")[0] in self.names

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"dpsql.{self.name}"


_INTEGERS = {
    sign + name
    for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
    for sign in ("", "U")
}

STRING: Final = TypeObject("STRING", frozenset({"VARCHAR", "UUID"}))
BINARY: Final = TypeObject("BINARY", frozenset({"BLOB"}))
NUMBER: Final = TypeObject(
    "NUMBER", frozenset(_INTEGERS | {"DECIMAL", "DOUBLE", "FLOAT", "BOOLEAN"})
)
DATETIME: Final = TypeObject("DATETIME", frozenset({"DATE", "TIMESTAMP"}))
ROWID: Final = TypeObject("ROWID", frozenset())

Date = dt.date
Time = dt.time
Timestamp = dt.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> dt.date:  # noqa: N802 - PEP 249 names it so
    """The local day of a moment in seconds since 1970."""
    return dt.date.fromtimestamp(ticks)  # noqa: DTZ012 - PEP 249: local time


def TimeFromTicks(ticks: float) -> dt.time:  # noqa: N802 - PEP 249 names it so
    """The local time of day of a moment in seconds since 1970."""
    return TimestampFromTicks(ticks).time()


def TimestampFromTicks(ticks: float) -> dt.datetime:  # noqa: N802 - PEP 249 names it so
    """The local date and time of a moment in seconds since 1970."""
    return dt.datetime.fromtimestamp(ticks)  # noqa: DTZ006 - PEP 249: local time
