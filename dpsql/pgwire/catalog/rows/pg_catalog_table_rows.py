"""Rows of pg_catalog about one table or view: its columns, comments, key and references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog.relations import Row, types_by_oid
from dpsql.pgwire.catalog.rows.dependent_rows import dependent_rows
from dpsql.pgwire.catalog.rows.system_rows import operator_classes

_ALIGNED: Final = {1: "c", 2: "s", 4: "i", 8: "d"}
"""The value of pg_type.typalign by a type's size in bytes."""

_UNKNOWN_ROWS: Final = -1.0
_ATTRIBUTE: Final = {
    "attndims": 0,
    "attcacheoff": -1,
    "attcompression": "",
    "atthasdef": False,
    "atthasmissing": False,
    "attidentity": "",
    "attgenerated": "",
    "attisdropped": False,
    "attislocal": True,
    "attinhcount": 0,
}
"""What pg_attribute says of each column alike."""

_OF_THE_SYSTEM: Final = (
    (-6, "tableoid", 26, 4),
    (-5, "cmax", 29, 4),
    (-4, "xmax", 28, 4),
    (-3, "cmin", 29, 4),
    (-2, "xmin", 28, 4),
    (-1, "ctid", 27, 6),
)
"""Position, name, type and size of the columns that each table of PostgreSQL has."""


def table_rows(
    table: o.Table, known: Mapping[str, o.Table], referenced: AbstractSet[int]
) -> Iterator[tuple[str, Row]]:
    """Each row of pg_catalog about `table`, after the name of its relation.

    `known` are all tables by their declared names, and `referenced` the OIDs of those that others
    refer to: PostgreSQL checks a reference by triggers of both tables.
    """
    has_key = table.key is not None
    has_triggers = bool(table.references) or table.oid in referenced
    own = {
        "reltype": table.type_oid,
        "relhasindex": has_key,
        "relhasrules": table.is_view,
        "relhastriggers": has_triggers,
    }
    kind = "v" if table.is_view else "r"
    yield (
        "pg_class",
        {**_class(table.oid, table.name, table.space, kind, len(table.columns)), **own},
    )
    yield from _listed(table, has_key=has_key, has_triggers=has_triggers)
    yield from dependent_rows(table, known)
    if not table.is_view:
        yield from (("pg_attribute", row) for row in _system_columns(table.oid))
    for column in table.columns:
        yield "pg_attribute", _attribute(table.oid, column)
        if column.comment:
            yield "pg_description", _comment(table.oid, column.position, column.comment)
    if table.comment:
        yield "pg_description", _comment(table.oid, 0, table.comment)
    if table.key is not None:
        yield from _key(table, table.key)
    for reference in table.references:
        yield "pg_constraint", _reference(table, reference, known[reference.to])


def _class(oid: int, name: str, space: o.Namespace, kind: str, columns: int) -> Row:
    return {
        "oid": oid,
        "relname": name,
        "relnamespace": space.oid,
        "reltype": 0,
        "reloftype": 0,
        "relowner": o.OWNER,
        "relam": 403 if kind == "i" else 2,
        "relfilenode": 0,
        "reltablespace": 0,
        "relpages": 0,
        "reltuples": _UNKNOWN_ROWS,
        "relallvisible": 0,
        "reltoastrelid": 0,
        "relhasindex": False,
        "relisshared": False,
        "relpersistence": "p",
        "relkind": kind,
        "relnatts": columns,
        "relchecks": 0,
        "relhasrules": False,
        "relhastriggers": False,
        "relhassubclass": False,
        "relrowsecurity": False,
        "relforcerowsecurity": False,
        "relispopulated": True,
        "relreplident": "n" if kind == "i" else "d",
        "relispartition": False,
        "relrewrite": 0,
        "relfrozenxid": 0,
        "relminmxid": 0,
    }


def _listed(table: o.Table, *, has_key: bool, has_triggers: bool) -> Iterator[tuple[str, Row]]:
    """The row of pg_tables, or of pg_views, where the view's definition stays NULL."""
    space = table.space.name
    if table.is_view:
        yield "pg_views", {"schemaname": space, "viewname": table.name, "viewowner": "dpsql"}
        return
    yield (
        "pg_tables",
        {
            "schemaname": space,
            "tablename": table.name,
            "tableowner": "dpsql",
            "hasindexes": has_key,
            "hasrules": False,
            "hastriggers": has_triggers,
            "rowsecurity": False,
        },
    )


def _comment(oid: int, position: int, text: str) -> Row:
    return {"objoid": oid, "classoid": 1259, "objsubid": position, "description": text}


def _attribute(oid: int, column: o.Column, position: int = 0) -> Row:
    kind = types_by_oid()[column.type_oid]
    return {
        **_ATTRIBUTE,
        "attrelid": oid,
        "attname": column.name,
        "atttypid": column.type_oid,
        "attstattarget": -1,
        "attlen": kind.size,
        "attnum": position or column.position,
        "atttypmod": column.modifier,
        "attbyval": kind.row[5],
        "attalign": _ALIGNED.get(kind.size, "i"),
        "attstorage": "p" if kind.size > 0 else "m" if kind.name == "numeric" else "x",
        "attnotnull": column.not_null and not position,
        "attcollation": column.collation,
    }


def _system_columns(oid: int) -> Iterator[Row]:
    for position, name, kind, size in _OF_THE_SYSTEM:
        yield {
            **_ATTRIBUTE,
            "attrelid": oid,
            "attname": name,
            "atttypid": kind,
            "attstattarget": 0,
            "attlen": size,
            "attnum": position,
            "atttypmod": -1,
            "attbyval": size == 4,
            "attalign": "i" if size == 4 else "s",
            "attstorage": "p",
            "attnotnull": True,
            "attcollation": 0,
        }


def _key(table: o.Table, key: o.Key) -> Iterator[tuple[str, Row]]:
    yield "pg_class", _class(key.index_oid, key.name, table.space, "i", len(key.positions))
    columns = [table.columns[position - 1] for position in key.positions]
    for n, column in enumerate(columns, 1):
        yield "pg_attribute", _attribute(key.index_oid, column, n)
    count = len(columns)
    yield (
        "pg_index",
        {
            "indexrelid": key.index_oid,
            "indrelid": table.oid,
            "indnatts": count,
            "indnkeyatts": count,
            "indisunique": True,
            "indnullsnotdistinct": False,
            "indisprimary": True,
            "indisexclusion": False,
            "indimmediate": True,
            "indisclustered": False,
            "indisvalid": True,
            "indcheckxmin": False,
            "indisready": True,
            "indislive": True,
            "indisreplident": False,
            "indkey": list(key.positions),
            "indcollation": [column.collation for column in columns],
            "indclass": [operator_classes().get(column.type_oid, 0) for column in columns],
            "indoption": [0] * count,
        },
    )
    definition = f"CREATE UNIQUE INDEX {key.name} ON {table.space.name}.{table.name} USING btree"
    listed = ", ".join(column.name for column in columns)
    index = {"schemaname": table.space.name, "tablename": table.name, "indexname": key.name}
    yield "pg_indexes", index | {"indexdef": f"{definition} ({listed})"}
    constraint = _constraint(key.oid, key.name, "p", table)
    yield "pg_constraint", {**constraint, "conindid": key.index_oid, "conkey": list(key.positions)}


def _reference(table: o.Table, reference: o.ForeignKey, to: o.Table) -> Row:
    return {
        **_constraint(reference.oid, reference.name, "f", table),
        "conindid": 0 if to.key is None else to.key.index_oid,
        "confrelid": to.oid,
        "confupdtype": "a",
        "confdeltype": "a",
        "confmatchtype": "s",
        "conkey": [reference.position],
        "confkey": [reference.to_position],
    }


def _constraint(oid: int, name: str, kind: str, table: o.Table) -> Row:
    return {
        "oid": oid,
        "conname": name,
        "connamespace": table.space.oid,
        "contype": kind,
        "condeferrable": False,
        "condeferred": False,
        "convalidated": True,
        "conrelid": table.oid,
        "contypid": 0,
        "conindid": 0,
        "conparentid": 0,
        "confrelid": 0,
        "confupdtype": " ",
        "confdeltype": " ",
        "confmatchtype": " ",
        "conislocal": True,
        "coninhcount": 0,
        "connoinherit": True,
    }
