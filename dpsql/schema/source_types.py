"""How columns of each of DuckDB's types are read: under which type, or why they aren't.

A value is read by a function of the value alone, which never fails and keeps different values
different: reading '7' and '07' alike would make one unit of two. Types whose equal values differ in
form (a month and thirty days) or that hold other values (lists) are not read; the owner can store
what analysts need of them in a column of its own, in a table of the source.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from dpsql.engine.source import (
    FAILING_DECIMALS,
    FAILING_MOMENTS,
    FAILING_ON_SPARK,
    FAILING_TIMES,
)
from dpsql.schema.sql_type import SqlType, Timestamp, Varchar, parse_type


class Reading(Struct, frozen=True):
    """How columns of the types whose names `pattern` matches are read: as `type`; None: not at all.

    `shown` names these types in documentation, `why` says what reading does, or what to store
    instead. If it isn't `exact`, some different values are read alike, and it can't be a key.
    """

    shown: str
    pattern: str
    type: SqlType | None
    why: str
    exact: bool = True


_EPOCH: Final = "keep `epoch(…)`, a number of seconds, in a column of its own"

READINGS: Final = (
    Reading(
        "ENUM",
        r"ENUM\(.*\)",
        Varchar(),
        "its labels as text; they follow from rows and are no domain: `values` are declared",
    ),
    Reading(
        "JSON", "JSON", Varchar(), "its text as it stands; `form ->> '$.a[0]'` is what stands there"
    ),
    Reading("TIME", "TIME|TIME_NS", Varchar(), "as text, 09:30:00"),
    Reading("BIT", "BIT", Varchar(), "as text, 0101"),
    Reading("BLOB", "BLOB", Varchar(), r"as text, each byte that isn't printable as \xE9"),
    Reading(
        "TIMESTAMP WITH TIME ZONE",
        "TIMESTAMP WITH TIME ZONE|TIMESTAMPTZ",
        Timestamp(),
        "the same moment by UTC, whatever zone a session has",
    ),
    Reading("TIMESTAMP_S, _MS", "TIMESTAMP_S|TIMESTAMP_MS", Timestamp(), "the same moment"),
    Reading(
        "TIMESTAMP_NS",
        "TIMESTAMP_NS",
        Timestamp(),
        "rounded to microseconds, so that it is no key",
        exact=False,
    ),
    Reading(
        f"{FAILING_MOMENTS} of a private Parquet file",
        re.escape(FAILING_MOMENTS.upper()),
        None,
        "one moment some 292,000 years away would fail all statements of the column; write the file"
        " again, as `COPY (FROM 'old.parquet') TO 'new.parquet'` does, with microseconds",
    ),
    Reading(
        f"{FAILING_TIMES}, of a private table",
        re.escape(FAILING_TIMES.upper()),
        None,
        "one time beyond 24:00:00, which a file may have, would fail all statements of the column;"
        " write the file again with its text, `CAST(t AS VARCHAR)`, or into a DuckDB file",
    ),
    Reading(
        f"{FAILING_DECIMALS}, of a private table",
        re.escape(FAILING_DECIMALS.upper()),
        None,
        "one number beyond its digits would fail all statements of the column; write the file"
        " again, as `COPY (FROM 'old.parquet') TO 'new.parquet'` does",
    ),
    Reading(
        f"{FAILING_ON_SPARK}, of a private table",
        re.escape(FAILING_ON_SPARK.upper()),
        None,
        "one moment some 292,000 years away would fail all statements of the column; have Spark"
        " write the table again, as Parquet",
    ),
    Reading(
        "INTERVAL",
        "INTERVAL",
        None,
        f"a month equals 30 days, and they read differently: {_EPOCH}",
    ),
    Reading(
        "TIME WITH TIME ZONE",
        "TIME WITH TIME ZONE|TIMETZ",
        None,
        "one moment has many forms: keep it as TIME, by one zone",
    ),
    Reading(
        "LIST, ARRAY",
        r".*\[\d*\]",
        None,
        "keep `len(…)`, or a table with a row for each element and the unit beside it",
    ),
    Reading("STRUCT", r"STRUCT\(.*\)", None, "keep its fields as columns"),
    Reading("MAP", r"MAP\(.*\)", None, "keep a table with a row for each entry"),
    Reading("UNION", r"UNION\(.*\)", None, "keep a column for each of its types"),
    Reading(
        "others: BIGNUM, GEOMETRY, VARIANT, …",
        ".*",
        None,
        "keep what is asked of it as a number or text",
    ),
)
"""For types that aren't dpsql's own, in order: the first whose pattern matches applies."""


@lru_cache(maxsize=1024)
def reading(source_type: str) -> Reading:
    """How a column of the DuckDB type `source_type` is read; dpsql's own types as they are."""
    own = parse_type(source_type)
    if own is not None:
        return Reading(source_type, re.escape(source_type), own, "as it is")
    upper = source_type.upper()
    # A list of enums ends in [] and begins like an enum.
    lists = [r for r in READINGS if r.shown.startswith("LIST") and _matches(r, upper)]
    return next(r for r in (*lists, *READINGS) if _matches(r, upper))


def _matches(source_type: Reading, name: str) -> bool:
    return re.fullmatch(source_type.pattern, name, re.DOTALL) is not None
