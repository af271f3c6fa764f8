"""Relations that are queries of others: privileges, and statistics, whose numbers are NULL.

PostgreSQL counts the rows of each table, and those that statements read: that would tell of
private rows.
"""

from __future__ import annotations

import re
from typing import Final

from dpsql.pgwire.catalog.relations import Relation

_STATISTICS: Final = re.compile(r"pg_stat(?:io|_xact)?_(all|sys|user)_(tables|indexes)")
_IS_SYSTEM: Final = "n.nspname IN ('pg_catalog', 'information_schema', 'pg_toast')"
_SCOPES: Final = {"all": "TRUE", "sys": _IS_SYSTEM, "user": f"NOT {_IS_SYSTEM}"}
_CLASSES: Final = "pg_catalog__pg_class c JOIN pg_catalog__pg_namespace n ON n.oid = c.relnamespace"
_SOURCES: Final = {
    "tables": f"{_CLASSES} WHERE c.relkind IN ('r', 'm', 't')",
    "indexes": f"""{_CLASSES} JOIN pg_catalog__pg_index x ON x.indrelid = c.oid
        JOIN pg_catalog__pg_class i ON i.oid = x.indexrelid WHERE TRUE""",
}
_OF_STATISTICS: Final = {
    "relid": "c.oid",
    "relname": "c.relname",
    "schemaname": "n.nspname",
    "indexrelid": "i.oid",
    "indexrelname": "i.relname",
}
_DATABASES: Final = (
    "pg_catalog__pg_database d",
    {"datid": "d.oid", "datname": "d.datname"},
)
_COLUMNS: Final = """information_schema__table_privileges p JOIN information_schema__columns c
    ON (c.table_schema, c.table_name) = (p.table_schema, p.table_name)"""
_TO_ROLES: Final = "WHERE p.grantee <> 'PUBLIC'"
_PRIVILEGE_COLUMNS: Final = (
    "grantor grantee table_catalog table_schema table_name privilege_type is_grantable "
    "with_hierarchy"
)
_PRIVILEGE: Final = {name: f"p.{name}" for name in _PRIVILEGE_COLUMNS.split()}
_OF_COLUMN: Final = {**_PRIVILEGE, "column_name": "c.column_name"}
_OF_ROUTINE: Final = {
    **{
        f"{of}_{part}": f"r.{of}_{part}"
        for of in ("specific", "routine")
        for part in ("catalog", "schema", "name")
    },
    "grantor": "'dpsql'",
    "grantee": "'PUBLIC'",
    "privilege_type": "'EXECUTE'",
    "is_grantable": "'NO'",
}
_OF_TYPE: Final = {
    "object_catalog": "c.table_catalog",
    "object_schema": "c.table_schema",
    "object_name": "c.table_name",
    "object_type": "'TABLE'",
    "dtd_identifier": "c.dtd_identifier",
}
_VIEWS: Final = {
    "role_table_grants": (f"information_schema__table_privileges p {_TO_ROLES}", _PRIVILEGE),
    "column_privileges": (_COLUMNS, _OF_COLUMN),
    "role_column_grants": (f"{_COLUMNS} {_TO_ROLES}", _OF_COLUMN),
    "routine_privileges": ("information_schema__routines r", _OF_ROUTINE),
    "data_type_privileges": ("information_schema__columns c", _OF_TYPE),
    "pg_stat_database": _DATABASES,
    "pg_stat_database_conflicts": _DATABASES,
}
"""What stands behind FROM, and the expressions of columns; all others are NULL."""


def query(relation: Relation) -> str | None:
    """The SELECT of DuckDB's whose rows the relation has; None if it has rows of its own."""
    if statistics := _STATISTICS.fullmatch(relation.name):
        scope, kind = statistics.groups()
        source, named = f"{_SOURCES[kind]} AND {_SCOPES[scope]}", _OF_STATISTICS
    elif relation.name in _VIEWS:
        source, named = _VIEWS[relation.name]
    else:
        return None
    columns = ", ".join(
        f'{named.get(a.name) or f"CAST(NULL AS {a.stored})"} AS "{a.name}"'
        for a in relation.attributes
    )
    return f"SELECT {columns} FROM {source}"  # noqa: S608 - names of ours
