"""The tables of a source on Spark: what may be one, its columns, and the view that statements read.

| Spark's type                    | is read as | |
| ------------------------------- | ---------- | ------------------------------------ |
| boolean, tinyint … bigint, date | the same   | |
| decimal(p,s)                    | the same   | |
| double                          | the same   | NaN and infinities as they are; no key |
| string                          | varchar    | of the collation UTF8_BINARY alone   |
| timestamp_ntz                   | timestamp  | of private tables: see `moments`     |
| timestamp                       | timestamp  | the same moment by UTC               |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from dpsql.engine.source import FAILING_ON_SPARK, Columns, ServerTable, SparkSource
from dpsql.engine.spark.address import read_address
from dpsql.engine.spark.moments import with_failing_moments
from dpsql.engine.spark.session import Relation, SparkServerSession
from dpsql.errors import SourceFault

_OFFERED: Final[Mapping[str, str]] = {
    "boolean": "BOOLEAN",
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP",
}
_DECIMAL: Final = re.compile(r"decimal\((\d+),(\d+)\)")

_TABLES: Final = frozenset({"MANAGED", "EXTERNAL"})
_PROVIDERS: Final = frozenset({"parquet", "orc", "delta", "iceberg"})
"""What has the same rows however often it is read: a table of JDBC may be a view elsewhere."""

TYPE: Final = "Type"
PROVIDER: Final = "Provider"
_PADDED: Final = re.compile(r"(var)?char\(\d+\)")

_SPARKS: Final[Mapping[str, str]] = {
    "INTEGER": "INT",
    "VARCHAR": "STRING",
    "TIMESTAMP": "TIMESTAMP_NTZ",
}
_COMPUTED: Final = frozenset(_OFFERED.values()) - {"FLOAT"}
_INTEGERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT")


def quoted(name: str) -> str:
    """A name as Spark's SQL has it."""
    return "`" + name.replace("`", "``") + "`"


def offered_type(kind: str) -> str:
    """DuckDB's name for Spark's type; for one that isn't read, what people call it."""
    if _DECIMAL.fullmatch(kind):
        return kind.upper()
    return _OFFERED.get(kind, f"Spark {kind}")


def relation(session: SparkServerSession, source: SparkSource, table: str) -> Relation:
    """A table of the source: that of the catalog, or the files of the folder.

    The catalog's is named in full, so that it is no view of the session.
    """
    folder = read_address(source.url).folder
    parts = table.split(".")
    if folder is None:
        own = [*session.location()[: max(0, 3 - len(parts))], *parts]
        return Relation(".".join(map(quoted, own)), is_path=False)
    return Relation("/".join([folder, *parts]) + ".parquet", is_path=True)


def columns_of(session: SparkServerSession, source: SparkSource, table: ServerTable) -> Columns:
    """Names and types of a table's columns, by DuckDB's names; SourceFault if it can't be one."""
    at = relation(session, source, table.name)
    facts = _check_kind(session, at, table.name)
    # In a schema these are strings: that they are padded is said here alone.
    padded = {name: kind for name, kind in facts if _PADDED.fullmatch(kind)}
    columns = tuple(
        (name, offered_type(padded.get(name, kind))) for name, kind in session.schema(at)
    )
    provider = fact(facts, PROVIDER).lower()
    return with_failing_moments(session, source, table, at, provider, columns)


def _check_kind(session: SparkServerSession, at: Relation, table: str) -> Sequence[tuple[str, str]]:
    """What the catalog says of a table, of files nothing; SourceFault if it can't be a source.

    A view may mix rows of several units, and its text would be read under the settings of whoever
    made it.
    """
    if at.is_path:
        return ()
    facts = session.described(at.name)
    if fact(facts, TYPE) not in _TABLES:
        raise SourceFault(f"{table} is no table", hint="views aren't read: name what they read")
    provider = fact(facts, PROVIDER).lower()
    if provider not in _PROVIDERS:
        raise SourceFault(
            f"{table} is a table of {provider or 'no known format'}",
            hint="keep it in one of parquet, orc, delta or iceberg",
        )
    return facts


def fact(facts: Sequence[tuple[str, str]], name: str) -> str:
    """The last that the catalog says by `name`: a column may have it, too, and stands before."""
    return next((fact for own, fact in reversed(facts) if own == name), "")


def is_storable(declared: str) -> bool:
    """Whether statements compute with columns that are declared as `declared`, so as they are."""
    return declared in _COMPUTED or _DECIMAL.fullmatch(declared.lower()) is not None


def check_view(session: SparkServerSession, source: SparkSource, table: ServerTable) -> None:
    """A SourceFault if another table has taken its place since its columns were checked."""
    expected = [(name, spark_type(declared)) for name, declared, _ in table.stored]
    is_other = session.schema(Relation(quoted(table.name), is_path=False)) != (
        expected or [("nothing", "int")]
    )
    at = relation(session, source, table.name)
    if is_other or (not at.is_path and fact(session.described(at.name), TYPE) not in _TABLES):
        raise SourceFault(f"{table.name} is another table now", hint="ask again")


def spark_type(declared: str) -> str:
    """What Spark's catalog calls the type of a column that is declared as `declared`."""
    return _SPARKS.get(declared, declared).lower()


def unread_by_files(column: str, declared: str) -> str:
    """`column` of a view, so that no condition on it is asked of what files say of their values.

    A file's least and greatest value leave NaN out: `x > 100` passed over all rows with NaN, until
    one of 150 was among them. A list of values has one zero, and `x = 0` may ask for the other.
    """
    return f"NANVL({column}, CAST('NaN' AS DOUBLE))" if declared == "DOUBLE" else column


def view_items(table: ServerTable, offered: Mapping[str, str]) -> list[str]:
    """A table's declared columns, in their declared types.

    SourceFault where a column isn't there, or Spark can't read it as what is declared.
    """
    items = [
        f"{_read(own, offered.get(own), declared, table, name)} AS {quoted(name)}"
        for name, declared, own in table.stored
    ]
    return items or ["1 AS `nothing`"]


def _read(own: str, offered: str | None, declared: str, table: ServerTable, name: str) -> str:
    if offered is None:
        raise SourceFault(f"{table.name} has no column {own}", hint="correct the schema")
    if name in table.identifying and offered in ("DOUBLE", "FLOAT"):
        raise SourceFault(
            f"{table.name}.{own} is a key of {offered}", hint="use an integer or a text"
        )
    if offered == FAILING_ON_SPARK:
        raise SourceFault(
            f"{table.name}.{own} is a {offered}, which is not read",
            hint="have Spark write the table again, as Parquet",
        )
    column = quoted(own)
    if offered == "TIMESTAMP":
        column = f"CAST({column} AS TIMESTAMP_NTZ)"
    if offered == "VARCHAR" == declared:
        # A file may say of a column that it was padded once: of a name it would be so still.
        return f"CAST({column} AS STRING)"
    if offered == declared:
        return unread_by_files(column, declared)
    spark = _SPARKS.get(declared, declared)
    widens = offered in _INTEGERS and (declared in _INTEGERS or declared.startswith("DECIMAL"))
    if widens or (offered.startswith("DECIMAL") and declared.startswith("DECIMAL")):
        return f"TRY_CAST({column} AS {spark})"
    if declared == "DOUBLE" and (offered in _INTEGERS or offered.startswith("DECIMAL")):
        return f"CAST({column} AS DOUBLE)"
    raise SourceFault(
        f"{table.name}.{own} is {offered} on Spark, and {declared} in the schema",
        hint=f"write {offered.lower()}",
    )
