"""Whether declared keys are unique in this version of the data; owners' commands check that.

These commands record the unique keys; of private tables, analysts' statements only read the record.
With a recorded key, some contribution limits aren't needed; if a key isn't recorded for the version
of the data that is read, its table's limits are enforced, and nothing fails. A lost record costs
accuracy only.

Uniqueness depends on the columns' types: '1' and '01' are two texts and one number. So a key is
recorded with the types as which its columns were read, and isn't verified under other types.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from sqlglot import exp

from dpsql.engine.engine import Engine, ServerChecks
from dpsql.engine.sidecar.named_record import NamedRecord
from dpsql.schema.load.paths import path_next_to_ledger
from dpsql.schema.model import Column, Schema, Table
from dpsql.schema.source_location import ServerSource


def duplicate_free(engine: Engine, table: str, key: Sequence[str]) -> bool:
    """Whether no two rows of `table` have one key, and no row has NULL in it.

    NULL counts as a duplicate: rows without a key would be one group, yet several rows.
    """
    if isinstance(engine, ServerChecks):
        return bool(engine.check_rows(_offending(table, key)).num_rows == 0)
    # To group by a key of six million values takes twenty times as long.
    selects = (_out_of_order(table, key), _offending(table, key).sql("duckdb"))
    return any(engine.execute(select).table.num_rows == 0 for select in selects)


def _offending(table: str, key: Sequence[str]) -> exp.Select:
    """A SELECT that has a row if a key comes twice, or is NULL."""
    columns = [exp.column(name, quoted=True) for name in key]
    lacking = exp.or_(*(column.is_(exp.null()) for column in columns))
    several = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    return (
        exp.select(exp.Literal.number(1))
        .from_(exp.Table(this=exp.to_identifier(table, quoted=True)))
        .group_by(*columns)
        .having(exp.or_(several, lacking))
        .limit(1)
    )


def _out_of_order(table: str, key: Sequence[str]) -> str:
    """A SELECT that has no row only if keys rise from each row to the next, whichever is next.

    Then none comes twice, and none is NULL. DuckDB decides in which order rows come. Were they
    numbered in several sequences, each of which rises, a key could be in two: (1), (2) and (2),
    (3). So there must be one first row.
    """
    columns = ", ".join(
        f"{exp.to_identifier(name, quoted=True).sql('duckdb')} AS k{n}"
        for n, name in enumerate(key)
    )
    earlier = ", ".join(f"lag(k{n}) OVER () AS e{n}" for n in range(len(key)))
    # Compared as texts are: by the first column in which they differ.
    rises = " OR ".join(
        f"({' AND '.join([*(f'k{m} = e{m}' for m in range(n)), f'k{n} > e{n}'])})"
        for n in range(len(key))
    )
    known = " AND ".join(f"k{n} IS NOT NULL" for n in range(len(key)))
    rows = exp.to_identifier(table, quoted=True).sql("duckdb")
    return (
        f"SELECT 1 FROM (SELECT *, row_number() OVER () AS n, {earlier}"  # noqa: S608
        f" FROM (SELECT {columns} FROM {rows})) HAVING count(*) FILTER (WHERE n = 1) > 1"
        f" OR count(*) FILTER (WHERE ({known} AND (n = 1 OR {rises})) IS DISTINCT FROM TRUE) > 0"
    )


def enforced_keys(schema: Schema) -> frozenset[str]:
    """Name the tables whose key a server's constraint keeps, in each version of the data.

    All of a server that declare one: its engine refuses to read a table whose key nothing keeps,
    in each snapshot anew. A key that was looked for among rows would hold of those that were
    looked at, and a server's change without notice: so that Spark, which keeps none, has none.
    """
    if not isinstance(schema.source, ServerSource) or not schema.source.keeps_keys:
        return frozenset()
    return frozenset(name for name, table in schema.tables.items() if table.key is not None)


def verify_keys(schema: Schema, engine: Engine) -> Mapping[str, bool]:
    """Check each declared key on the rows and record the unique ones; by table, whether it is.

    The keys of a server are kept by its constraints: no row is read. Where it keeps none, its
    owner is told of them. In neither case is anything recorded.
    """
    if isinstance(schema.source, ServerSource) and schema.source.keeps_keys:
        return dict.fromkeys(enforced_keys(schema), True)
    fingerprint = engine.fingerprint()
    holds = {
        name: duplicate_free(engine, name, table.key)
        for name, table in schema.tables.items()
        if table.key is not None
    }
    if not isinstance(schema.source, ServerSource):
        KeyRecord.of(schema, fingerprint, holds).save(record_path(schema))
    return holds


def verified(schema: Schema, fingerprint: str) -> frozenset[str]:
    """The tables whose key, as declared now, is recorded as unique in this version of the data."""
    record = KeyRecord.load(record_path(schema))
    if record is None or record.fingerprint != fingerprint:
        return frozenset()
    return frozenset(
        name
        for name, table in schema.tables.items()
        if table.key is not None and _claim(table, table.key) in record.keys
    )


def record_path(schema: Schema) -> Path:
    """The record's path, beside the ledger: it belongs to the dataset, not to a folder of files."""
    return path_next_to_ledger(schema.ledger, schema.anchor, "keys.json")


class KeyRecord(Struct, frozen=True):
    """The keys that are unique in the data version `fingerprint`, as table(column TYPE, …)."""

    fingerprint: str
    keys: frozenset[str]

    @classmethod
    def of(cls, schema: Schema, fingerprint: str, holds: Mapping[str, bool]) -> KeyRecord:
        """The record of the declared keys of those tables for which `holds` is true."""
        keys = {
            _claim(table, table.key)
            for name, table in schema.tables.items()
            if table.key is not None and holds.get(name)
        }
        return cls(fingerprint, frozenset(keys))

    @classmethod
    def load(cls, path: Path) -> KeyRecord | None:
        """Read the record at `path`; None if there is none that can be read."""
        record = NamedRecord.load(path)
        return None if record is None else cls(record.stamp, record.names)

    def save(self, path: Path) -> None:
        """Write the record whole or not at all, readable by its owner only.

        Raises SourceFault rather than replace a file that is no record.
        """
        NamedRecord(self.fingerprint, self.keys).save(path, "record of keys")


def _claim(table: Table, key: Sequence[str]) -> str:
    """The key in words that no other key has: of other columns, or of other types of them."""
    columns = [f"{_stored_as(table.columns[name])} {table.columns[name].type}" for name in key]
    return f"{table.name}({', '.join(columns)})"


def _stored_as(column: Column) -> str:
    """The column's name in the source: as JSON, in quotes, if it isn't the declared name."""
    return column.name if column.source_name is None else json.dumps(column.source_name)
