"""Rows of pg_catalog about what PostgreSQL makes of itself with a table: types, triggers, rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog.relations import Row
from dpsql.pgwire.catalog.rows.system_rows import procedure_oids

_ROLE: Final = 1260
_TYPES: Final = 1247
_CLASS: Final = 1259
_CONSTRAINT: Final = 2606
_NAMESPACE: Final = 2615
_TRIGGER: Final = 2620
"""OIDs of the relations of pg_catalog whose rows depend on each other."""

_TYPE: Final = {
    "typowner": o.OWNER,
    "typlen": -1,
    "typbyval": False,
    "typispreferred": False,
    "typisdefined": True,
    "typdelim": ",",
    **dict.fromkeys(("typmodin", "typmodout"), 0),
    "typalign": "d",
    "typstorage": "x",
    "typnotnull": False,
    "typbasetype": 0,
    "typtypmod": -1,
    "typndims": 0,
    "typcollation": 0,
}


def dependent_rows(table: o.Table, known: Mapping[str, o.Table]) -> Iterator[tuple[str, Row]]:
    """Each row, after the name of its relation; `known` are all tables by their declared names."""
    yield from _types(table)
    if table.is_view:
        rule = {"oid": table.oid, "rulename": "_RETURN", "ev_class": table.oid, "ev_type": "1"}
        yield "pg_rewrite", {**rule, "ev_enabled": "O", "is_instead": True}
    of = {"dbid": o.DATABASE, "classid": _CLASS, "objid": table.oid, "objsubid": 0}
    yield "pg_shdepend", {**of, "refclassid": _ROLE, "refobjid": o.READER, "deptype": "a"}
    own = (_CLASS, table.oid)
    yield "pg_depend", _dependency(own, (_NAMESPACE, table.space.oid), "n")
    yield "pg_depend", _dependency((_TYPES, table.type_oid), own, "i")
    yield "pg_depend", _dependency((_TYPES, table.array_oid), (_TYPES, table.type_oid), "i")
    if table.key is not None:
        constraint = (_CONSTRAINT, table.key.oid)
        yield "pg_depend", _dependency((_CLASS, table.key.index_oid), constraint, "i")
        for position in table.key.positions:
            yield "pg_depend", _dependency(constraint, own, "a", position)
    for reference in table.references:
        to, constraint = known[reference.to], (_CONSTRAINT, reference.oid)
        yield "pg_depend", _dependency(constraint, own, "a", reference.position)
        yield "pg_depend", _dependency(constraint, (_CLASS, to.oid), "n", reference.to_position)
        if to.key is not None:
            yield "pg_depend", _dependency(constraint, (_CLASS, to.key.index_oid), "n")
        for name, row in _triggers(table, reference, to):
            yield name, row
            yield "pg_depend", _dependency((_TRIGGER, row["oid"]), constraint, "i")


def _types(table: o.Table) -> Iterator[tuple[str, Row]]:
    """The type of the table's rows, and the type of their arrays."""
    own = {"oid": table.type_oid, "typname": table.name, "typtype": "c", "typcategory": "C"}
    own |= {"typrelid": table.oid, "typelem": 0, "typarray": table.array_oid}
    many = {"oid": table.array_oid, "typname": f"_{table.name}", "typtype": "b"}
    many |= {"typcategory": "A", "typrelid": 0, "typelem": table.type_oid, "typarray": 0}
    for row, prefix in ((own, "record"), (many, "array")):
        names = {f"typ{of}put": f"{prefix}_{of}" for of in ("in", "out")}
        names |= {"typreceive": f"{prefix}_recv", "typsend": f"{prefix}_send"}
        names["typsubscript"] = "array_subscript_handler" if prefix == "array" else "-"
        names["typanalyze"] = "array_typanalyze" if prefix == "array" else "-"
        functions = {column: procedure_oids()[name][0] for column, name in names.items()}
        at = {"typnamespace": table.space.oid}
        yield "pg_type", {**_TYPE, **row, **functions, **at}


def _triggers(table: o.Table, reference: o.ForeignKey, to: o.Table) -> Iterator[tuple[str, Row]]:
    """PostgreSQL's own triggers of both tables, by which it checks a reference.

    `forms` are a letter of their names, the trigger's table, the other one, the function's OID and
    the bits of tgtype.
    """
    forms = (
        ("a", to, table, 1654, 9),
        ("a", to, table, 1655, 17),
        ("c", table, to, 1644, 5),
        ("c", table, to, 1645, 17),
    )
    for n, (letter, of, other, function, bits) in enumerate(forms):
        oid = 4 * reference.oid + n
        yield (
            "pg_trigger",
            {
                "oid": oid,
                "tgrelid": of.oid,
                "tgparentid": 0,
                "tgname": f"RI_ConstraintTrigger_{letter}_{oid}",
                "tgfoid": function,
                "tgtype": bits,
                "tgenabled": "O",
                "tgisinternal": True,
                "tgconstrrelid": other.oid,
                "tgconstrindid": 0 if to.key is None else to.key.index_oid,
                "tgconstraint": reference.oid,
                "tgdeferrable": False,
                "tginitdeferred": False,
                "tgnargs": 0,
                "tgattr": [],
                "tgargs": "",
            },
        )


def _dependency(of: tuple[int, object], on: tuple[int, int], kind: str, position: int = 0) -> Row:
    """A row of pg_depend; both objects are OIDs of a relation of pg_catalog and of one of its rows.

    `position` is that of the column on which the first object depends, 0 if it is the whole.

    A foreign key depends on the index of the key that it refers to, which depends on its key.
    """
    first = {"classid": of[0], "objid": of[1], "objsubid": 0}
    second = {"refclassid": on[0], "refobjid": on[1], "refobjsubid": position}
    return {**first, **second, "deptype": kind}
