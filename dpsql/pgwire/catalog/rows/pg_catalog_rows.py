"""Rows of pg_catalog, from a schema: names and types, never counts, sizes or statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog.relations import Row
from dpsql.pgwire.catalog.rows.pg_catalog_table_rows import table_rows
from dpsql.pgwire.settings.session_settings import SessionSettings

_SPACES: Final = (
    (o.PG_CATALOG, "pg_catalog"),
    (o.STANDARD, "information_schema"),
    (o.TOAST, "pg_toast"),
)


def rows(listed: o.Listed) -> Iterator[tuple[str, Row]]:
    """Each row of pg_catalog, after the name of its relation."""
    spaces = [*_SPACES, *((space.oid, space.name) for space in listed.spaces)]
    yield from (("pg_namespace", {"oid": n, "nspname": s, "nspowner": o.OWNER}) for n, s in spaces)
    yield from _database_and_roles(listed.dataset)
    yield from _own_connection(listed.dataset)
    tables = listed.tables.values()
    referenced = {listed.tables[f.to].oid for table in tables for f in table.references}
    for table in tables:
        yield from table_rows(table, listed.tables, referenced)
    for name in (settings := SessionSettings({})):
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


def _database_and_roles(dataset: str) -> Iterator[tuple[str, Row]]:
    yield (
        "pg_database",
        {
            "oid": o.DATABASE,
            "datname": dataset,
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
    for oid, name in ((o.OWNER, "dpsql"), (o.READER, o.ANALYST)):
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
        user = {"usename": name, "usesysid": oid, "usecreatedb": False, "usesuper": False}
        yield "pg_user", user | {"userepl": False, "usebypassrls": False, "passwd": "********"}


def _own_connection(dataset: str) -> Iterator[tuple[str, Row]]:
    """The connection that asks, whose number and analyst are put in when it does."""
    own = {"datid": o.DATABASE, "datname": dataset, "usesysid": o.READER, "usename": o.ANALYST}
    state = {"application_name": "", "state": "active", "backend_type": "client backend"}
    yield "pg_stat_activity", {**own, **state}
    yield "pg_stat_ssl", {"ssl": False}
    yield "pg_stat_gssapi", {"gss_authenticated": False, "encrypted": False}
    for name in ("Etc/UTC", "GMT", "UTC", "Zulu"):
        yield "pg_timezone_names", {"name": name, "abbrev": "UTC", "is_dst": False}
