"""Rows of pg_catalog, from a schema: names and types, never counts, sizes or statistics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from dpsql.pgwire.catalogue import object as o
from dpsql.pgwire.catalogue.relation import Type, types
from dpsql.pgwire.transaction import Settings
from dpsql.schema.model import Schema

Row = Mapping[str, object]
"""Values by column; what isn't named is NULL."""

_SPACES: Final = (
    (o.CATALOGUE, "pg_catalog"),
    (o.PUBLIC, "public"),
    (o.STANDARD, "information_schema"),
    (o.TOAST, "pg_toast"),
)
_ALIGNED: Final = {1: "c", 2: "s", 4: "i", 8: "d"}
_TEXT_ONLY: Final = frozenset({"aclitem", "gtsvector"})
_UNKNOWN_ROWS: Final = -1.0


def rows(schema: Schema) -> Iterator[tuple[str, Row]]:
    """Relation and row, for each row of pg_catalog."""
    listed = o.tables(schema)
    yield from (("pg_namespace", {"oid": n, "nspname": s, "nspowner": o.OWNER}) for n, s in _SPACES)
    yield from _database(schema)
    for kind in types().values():
        yield "pg_type", _type(kind)
    for table in listed:
        yield from _table(table, {t.name: t for t in listed})
    for name in (settings := Settings({})):
        yield (
            "pg_settings",
            {
                "name": name,
                "setting": settings[name],
                "category": "",
                "short_desc": "",
                "context": "user",
                "vartype": "string",
                "source": "default",
                "boot_val": settings[name],
                "reset_val": settings[name],
                "pending_restart": False,
            },
        )


def _database(schema: Schema) -> Iterator[tuple[str, Row]]:
    yield (
        "pg_database",
        {
            "oid": o.DATABASE,
            "datname": schema.dataset,
            "datdba": o.OWNER,
            "encoding": 6,
            "datlocprovider": "c",
            "datistemplate": False,
            "datallowconn": True,
            "datconnlimit": -1,
            "datfrozenxid": 0,
            "datminmxid": 0,
            "dattablespace": 1663,
            "datcollate": "C",
            "datctype": "C",
        },
    )
    for oid, name in ((o.OWNER, "dpsql"), (o.READER, "analyst")):
        role = {
            "oid": oid,
            "rolname": name,
            "rolsuper": False,
            "rolinherit": True,
            "rolcreaterole": False,
            "rolcreatedb": False,
            "rolcanlogin": True,
            "rolreplication": False,
            "rolconnlimit": -1,
            "rolbypassrls": False,
        }
        yield "pg_roles", role | {"rolpassword": "********"}
        yield "pg_authid", role
    user = {"usename": "dpsql", "usesysid": o.OWNER, "usecreatedb": False, "usesuper": False}
    yield "pg_user", user | {"userepl": False, "usebypassrls": False, "passwd": "********"}
    for oid, name in ((2, "heap"), (403, "btree")):
        yield "pg_am", {"oid": oid, "amname": name, "amtype": "t" if oid == 2 else "i"}
    collations = ((100, "default", "d", -1), (950, "C", "c", -1), (951, "POSIX", "c", -1))
    for oid, name, provider, encoding in collations:
        yield (
            "pg_collation",
            {
                "oid": oid,
                "collname": name,
                "collnamespace": o.CATALOGUE,
                "collowner": o.OWNER,
                "collprovider": provider,
                "collisdeterministic": True,
                "collencoding": encoding,
            },
        )
    for oid, name in ((1663, "pg_default"), (1664, "pg_global")):
        yield "pg_tablespace", {"oid": oid, "spcname": name, "spcowner": o.OWNER}
    yield "pg_language", {"oid": 14, "lanname": "sql", "lanowner": o.OWNER, "lanpltrusted": True}


def _type(kind: Type) -> Row:
    r = kind.row
    head = ("oid", "typname", "typnamespace", "typowner", "typlen", "typbyval", "typtype")
    tail = ("typcategory", "typispreferred", "typisdefined", "typdelim", "typrelid", "typelem")
    rest = ("typarray", "typinput", "typoutput", "typnotnull", "typbasetype", "typtypmod")
    last = ("typndims", "typcollation")
    found = dict(zip((*head, *tail, *rest, *last), r, strict=True))
    is_array = kind.name.startswith("_")
    # Functions of one type are called alike: date_in and date_recv, but int8in and int8recv.
    stem, is_binary = str(found["typinput"]).removesuffix("in"), kind.name not in _TEXT_ONLY
    return found | {
        "typsubscript": "array_subscript_handler" if is_array else "-",
        "typreceive": stem + "recv" if is_binary else "-",
        "typsend": stem + "send" if is_binary else "-",
        **dict.fromkeys(("typmodin", "typmodout", "typanalyze"), "-"),
        "typalign": _ALIGNED.get(kind.size, "i"),
        "typstorage": "p" if kind.size > 0 else "x",
    }


def _class(oid: int, name: str, kind: str, columns: int) -> Row:
    return {
        "oid": oid,
        "relname": name,
        "relnamespace": o.PUBLIC,
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


def _table(table: o.Table, known: Mapping[str, o.Table]) -> Iterator[tuple[str, Row]]:
    has_key = table.key is not None
    own = {
        "reltype": table.type_oid,
        "relhasindex": has_key,
        "relhastriggers": bool(table.references),
    }
    yield "pg_class", {**_class(table.oid, table.name, "r", len(table.columns)), **own}
    yield (
        "pg_tables",
        {
            "schemaname": "public",
            "tablename": table.name,
            "tableowner": "dpsql",
            "hasindexes": has_key,
            "hasrules": False,
            "hastriggers": False,
            "rowsecurity": False,
        },
    )
    for column in table.columns:
        yield "pg_attribute", _attribute(table.oid, column)
        if column.comment:
            yield "pg_description", _comment(table.oid, column.place, column.comment)
    if table.comment:
        yield "pg_description", _comment(table.oid, 0, table.comment)
    if table.key is not None:
        yield from _key(table, table.key)
    for reference in table.references:
        yield "pg_constraint", _reference(table, reference, known[reference.to])


def _comment(oid: int, place: int, text: str) -> Row:
    return {"objoid": oid, "classoid": 1259, "objsubid": place, "description": text}


def _attribute(oid: int, column: o.Column, place: int = 0) -> Row:
    kind = next(found for found in types().values() if found.oid == column.type_oid)
    return {
        "attrelid": oid,
        "attname": column.name,
        "atttypid": column.type_oid,
        "attstattarget": -1,
        "attlen": kind.size,
        "attnum": place or column.place,
        "attndims": 0,
        "attcacheoff": -1,
        "atttypmod": column.modifier,
        "attbyval": kind.row[5],
        "attalign": _ALIGNED.get(kind.size, "i"),
        "attstorage": "p" if kind.size > 0 else "m" if kind.name == "numeric" else "x",
        "attcompression": "",
        "attnotnull": column.not_null and not place,
        "atthasdef": False,
        "atthasmissing": False,
        "attidentity": "",
        "attgenerated": "",
        "attisdropped": False,
        "attislocal": True,
        "attinhcount": 0,
        "attcollation": column.collation,
    }


def _key(table: o.Table, key: o.Key) -> Iterator[tuple[str, Row]]:
    yield "pg_class", _class(key.index_oid, key.name, "i", len(key.places))
    for n, place in enumerate(key.places, 1):
        yield "pg_attribute", _attribute(key.index_oid, table.columns[place - 1], n)
    count = len(key.places)
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
            "indkey": list(key.places),
            "indcollation": [0] * count,
            "indclass": [0] * count,
            "indoption": [0] * count,
        },
    )
    definition = f"CREATE UNIQUE INDEX {key.name} ON public.{table.name} USING btree"
    listed = ", ".join(table.columns[place - 1].name for place in key.places)
    told = {"schemaname": "public", "tablename": table.name, "indexname": key.name}
    yield "pg_indexes", told | {"indexdef": f"{definition} ({listed})"}
    constraint = _constraint(key.oid, key.name, "p", table.oid)
    yield "pg_constraint", {**constraint, "conindid": key.index_oid, "conkey": list(key.places)}


def _reference(table: o.Table, reference: o.ForeignKey, to: o.Table) -> Row:
    return {
        **_constraint(reference.oid, reference.name, "f", table.oid),
        "conindid": 0 if to.key is None else to.key.index_oid,
        "confrelid": to.oid,
        "confupdtype": "a",
        "confdeltype": "a",
        "confmatchtype": "s",
        "conkey": [reference.place],
        "confkey": [reference.to_place],
    }


def _constraint(oid: int, name: str, kind: str, table: int) -> Row:
    return {
        "oid": oid,
        "conname": name,
        "connamespace": o.PUBLIC,
        "contype": kind,
        "condeferrable": False,
        "condeferred": False,
        "convalidated": True,
        "conrelid": table,
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
