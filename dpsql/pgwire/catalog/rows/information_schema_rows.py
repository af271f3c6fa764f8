"""Rows of information_schema, from the tables and views that analysts see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog.relations import Row, type_names
from dpsql.pgwire.codec import oid as v

_DIGITS: Final = {
    v.INT2: (16, 2, 0),
    v.INT4: (32, 2, 0),
    v.INT8: (64, 2, 0),
    v.FLOAT4: (24, 2, None),
    v.FLOAT8: (53, 2, None),
}
_GRANTED: Final = {
    "grantor": "dpsql",
    "grantee": o.ANALYST,
    "privilege_type": "SELECT",
    "is_grantable": "NO",
    "with_hierarchy": "YES",
}
_USAGE: Final = {
    "grantor": "dpsql",
    "grantee": "PUBLIC",
    "privilege_type": "TYPE USAGE",
    "is_grantable": "NO",
}
_VIEW: Final = {"check_option": "NONE", "is_updatable": "NO", "is_insertable_into": "NO"} | {
    f"is_trigger_{how}": "NO" for how in ("updatable", "deletable", "insertable_into")
}
_FRACTIONS: Final = {v.DATE: 0, v.TIMESTAMP: 6, v.INTERVAL: 6}


def rows(listed: o.Listed) -> Iterator[tuple[str, Row]]:
    """Each row of information_schema, after the name of its relation."""
    dataset = listed.dataset
    own = (space.name for space in listed.spaces)
    for name in ("pg_catalog", *own, "information_schema"):
        owner = {"catalog_name": dataset, "schema_name": name, "schema_owner": "dpsql"}
        yield "schemata", owner
    yield "information_schema_catalog_name", {"catalog_name": dataset}
    yield "enabled_roles", {"role_name": o.ANALYST}
    for table in listed.tables.values():
        at = _at(table, dataset)
        more = {"table_type": "VIEW" if table.is_view else "BASE TABLE", "is_typed": "NO"}
        more["is_insertable_into"] = "NO"
        yield "tables", {**at, **more}
        if table.is_view:
            yield "views", {**at, **_VIEW}
        yield "table_privileges", {**at, **_GRANTED}
        yield "udt_privileges", {**_named("udt", table.name, table.space.name, dataset), **_USAGE}
        for column in table.columns:
            yield "columns", {**at, **_column(column, dataset)}
        yield from _constraints(table, listed.tables, dataset)


def _column(column: o.Column, dataset: str) -> dict[str, object]:
    precision, radix, scale = _DIGITS.get(column.type_oid, (None, None, None))
    if column.precision is not None:
        precision, radix, scale = column.precision[0], 10, column.precision[1]
    is_text = column.type_oid == v.TEXT
    return {
        "column_name": column.name,
        "ordinal_position": column.position,
        "is_nullable": "NO" if column.not_null else "YES",
        "data_type": v.formatted(column.type_oid, -1),
        "character_octet_length": 1_073_741_824 if is_text else None,
        "numeric_precision": precision,
        "numeric_precision_radix": radix,
        "numeric_scale": scale,
        "datetime_precision": _FRACTIONS.get(column.type_oid),
        "udt_catalog": dataset,
        "udt_schema": "pg_catalog",
        "udt_name": type_names()[column.type_oid],
        "dtd_identifier": str(column.position),
        "is_self_referencing": "NO",
        "is_identity": "NO",
        "identity_cycle": "NO",
        "is_generated": "NEVER",
        "is_updatable": "NO",
    }


def _constraints(
    table: o.Table, known: Mapping[str, o.Table], dataset: str
) -> Iterator[tuple[str, Row]]:
    at, space = _at(table, dataset), table.space.name
    keys: list[tuple[str, str, tuple[int, ...]]] = []
    if table.key is not None:
        keys.append((table.key.name, "PRIMARY KEY", table.key.positions))
    keys += [(f.name, "FOREIGN KEY", (f.position,)) for f in table.references]
    for checked in table.columns:
        if checked.not_null:
            name = f"{table.space.oid}_{table.oid}_{checked.position}_not_null"
            keys.append((name, "CHECK", ()))
    for name, kind, positions in keys:
        named = _named("constraint", name, space, dataset)
        yield (
            "table_constraints",
            {
                **named,
                **at,
                "constraint_type": kind,
                "is_deferrable": "NO",
                "initially_deferred": "NO",
                "enforced": "YES",
            },
        )
        for n, position in enumerate(positions, 1):
            column = table.columns[position - 1].name
            inside = 1 if kind == "FOREIGN KEY" else None
            use = {"column_name": column, "ordinal_position": n}
            yield (
                "key_column_usage",
                {**named, **at, **use, "position_in_unique_constraint": inside},
            )
            if kind == "PRIMARY KEY":
                yield "constraint_column_usage", {**named, **at, "column_name": column}
    for reference in table.references:
        to = known[reference.to]
        named = _named("constraint", reference.name, space, dataset)
        key = to.key.name if to.key else None
        rules = {"match_option": "NONE", "update_rule": "NO ACTION", "delete_rule": "NO ACTION"}
        yield (
            "referential_constraints",
            {**named, **_named("unique_constraint", key, to.space.name, dataset), **rules},
        )
        yield (
            "constraint_column_usage",
            {
                **named,
                **_at(to, dataset),
                "column_name": to.columns[reference.to_position - 1].name,
            },
        )


def _at(table: o.Table, dataset: str) -> Row:
    return {
        "table_catalog": dataset,
        "table_schema": table.space.name,
        "table_name": table.name,
    }


def _named(kind: str, name: str | None, space: str, dataset: str) -> Row:
    return {f"{kind}_catalog": dataset, f"{kind}_schema": space, f"{kind}_name": name}
