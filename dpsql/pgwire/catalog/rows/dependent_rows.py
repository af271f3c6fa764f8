"""Rows of pg_catalog about what PostgreSQL makes of itself with a table: types, triggers, rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog.relations import Row

_ROLE: Final = 1260
_CLASS: Final = 1259
_CONSTRAINT: Final = 2606
"""OIDs of the relations of pg_catalog whose rows depend on each other."""

_TYPE: Final = {
    "typowner": o.OWNER,
    "typlen": -1,
    "typbyval": False,
    "typispreferred": False,
    "typisdefined": True,
    "typdelim": ",",
    **dict.fromkeys(("typmodin", "typmodout", "typanalyze"), "-"),
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
    if table.key is not None:
        key = table.key
        yield "pg_depend", _dependency((_CLASS, key.index_oid), (_CONSTRAINT, key.oid), "i")
    for reference in table.references:
        to = known[reference.to]
        yield from _triggers(table, reference, to)
        if to.key is not None:
            index = (_CLASS, to.key.index_oid)
            yield "pg_depend", _dependency((_CONSTRAINT, reference.oid), index, "n")


def _types(table: o.Table) -> Iterator[tuple[str, Row]]:
    """The type of the table's rows, and the type of their arrays."""
    own = {"oid": table.type_oid, "typname": table.name, "typtype": "c", "typcategory": "C"}
    own |= {"typrelid": table.oid, "typelem": 0, "typarray": table.array_oid}
    many = {"oid": table.array_oid, "typname": f"_{table.name}", "typtype": "b"}
    many |= {"typcategory": "A", "typrelid": 0, "typelem": table.type_oid, "typarray": 0}
    for row, prefix in ((own, "record"), (many, "array")):
        functions = {f"typ{of}put": f"{prefix}_{of}" for of in ("in", "out")}
        functions |= {"typreceive": f"{prefix}_recv", "typsend": f"{prefix}_send"}
        subscript = "array_subscript_handler" if prefix == "array" else "-"
        at = {"typnamespace": table.space.oid, "typsubscript": subscript}
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


def _dependency(of: tuple[int, int], on: tuple[int, int], kind: str) -> Row:
    """A row of pg_depend; both objects are OIDs of a relation of pg_catalog and of one of its rows.

    A foreign key depends on the index of the key that it refers to, which depends on its key.
    """
    first = {"classid": of[0], "objid": of[1], "objsubid": 0}
    return {**first, "refclassid": on[0], "refobjid": on[1], "refobjsubid": 0, "deptype": kind}
