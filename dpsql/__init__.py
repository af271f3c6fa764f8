"""dpsql: differentially private answers to ordinary SQL, as a PEP 249 module.

import dpsql

with dpsql.connect("schema.yaml", epsilon=0.1) as connection:
    connection.execute("SELECT count(*) FROM customer").fetchall()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from dpsql.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,  # noqa: A004 - PEP 249 names it so
)
from dpsql.report.result.type_objects import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

if TYPE_CHECKING:
    from dpsql.dbapi.connect import connect
    from dpsql.dbapi.connection import Connection
    from dpsql.dbapi.cursor import Cursor
    from dpsql.privacy.mechanisms.local_noise import add_local_noise
    from dpsql.privacy.online_decision import OnlineDecision, decide

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OnlineDecision",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "add_local_noise",
    "apilevel",
    "connect",
    "decide",
    "paramstyle",
    "threadsafety",
]

apilevel: Final = "2.0"
paramstyle: Final = "qmark"
threadsafety: Final = 2  # threads may share connections; statements of one run one after another

# What opens engines is imported when it is first asked for: `dpsql --help` is to answer at once.
_LATER: Final = {
    "add_local_noise": "dpsql.privacy.mechanisms.local_noise",
    "connect": "dpsql.dbapi.connect",
    "Connection": "dpsql.dbapi.connection",
    "Cursor": "dpsql.dbapi.cursor",
    "OnlineDecision": "dpsql.privacy.online_decision",
    "decide": "dpsql.privacy.online_decision",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
