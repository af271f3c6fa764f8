"""Records the rows that PostgreSQL 15 has in every database, as a Parquet file for each relation.

`pg_get_keywords()` has a file, too, and what functions give that write down other functions, how
objects are written, and the types of words of text search.

    DPSQL_POSTGRES=$(.ci/postgres start) python -m pgwire.record_system_rows

Rows are those that a role without rights of its own sees in a new database, without texts of views,
privileges' lists, expressions' trees and statistics.
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any, Final

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
from psycopg import sql

from dpsql.pgwire.catalog.relations import Attribute, Relation, relations
from dpsql.pgwire.catalog.rows import system_rows

FILE: Final = Path(system_rows.__file__).parent / "system_rows_15.zip"
DATABASE, ROLE = "dpsql_recorded", "dpsql_recorder"
OWNER: Final = "dpsql"
RECORDED: Final = {
    "pg_catalog": """
pg_aggregate pg_am pg_amop pg_amproc pg_attribute pg_auth_members pg_available_extension_versions
pg_available_extensions pg_cast pg_class pg_collation pg_constraint pg_conversion pg_depend
pg_description pg_extension pg_group pg_index pg_indexes pg_init_privs pg_language pg_operator
pg_opclass pg_opfamily pg_proc pg_range pg_rewrite pg_roles pg_rules pg_shdescription pg_tables
pg_tablespace pg_timezone_abbrevs pg_ts_config pg_ts_config_map pg_ts_dict pg_ts_parser
pg_ts_template pg_type pg_views
""",
    "information_schema": """
character_sets collation_character_set_applicability collations columns
domain_constraints domains element_types parameters routines sql_features
sql_implementation_info sql_sizing table_privileges tables udt_privileges
usage_privileges views
""",
}
COLLATIONS: Final = "('default', 'C', 'POSIX')"
CONDITIONS: Final = {
    "pg_class": "relnamespace <> 99",
    "pg_attribute": "attrelid IN (SELECT oid FROM pg_class WHERE relnamespace <> 99)",
    "pg_index": "indexrelid IN (SELECT oid FROM pg_class WHERE relnamespace <> 99)",
    "pg_indexes": "schemaname <> 'pg_toast'",
    "pg_collation": f"collname IN {COLLATIONS}",
    "collations": f"collation_name IN {COLLATIONS}",
    "collation_character_set_applicability": f"collation_name IN {COLLATIONS}",
    "usage_privileges": f"object_type <> 'COLLATION' OR object_name IN {COLLATIONS}",
    "pg_description": "classoid <> 3456 OR objoid < 1000",
    "pg_available_extensions": "name = 'plpgsql'",
    "pg_available_extension_versions": "name = 'plpgsql'",
    "pg_group": "grosysid < 16384",
    "pg_auth_members": "member < 16384",
    "pg_roles": "rolname ~ '^pg_'",
}
"""Tables of large values, ICU's collations, and what an administrator adds, are left out."""
CALLS: Final = {
    system_rows.KEYWORDS: "SELECT * FROM pg_get_keywords() ORDER BY word",
    system_rows.SIGNATURES: """SELECT oid::bigint, pg_get_function_arguments(oid),
pg_get_function_identity_arguments(oid), pg_get_function_result(oid) FROM pg_proc ORDER BY oid""",
    system_rows.WRITTEN: """SELECT * FROM (
SELECT 'regprocedure' AS kind, oid::bigint, oid::regprocedure::text AS text FROM pg_proc
UNION ALL SELECT 'regoperator', oid::bigint, oid::regoperator::text FROM pg_operator
UNION ALL SELECT 'regdictionary', oid::bigint, oid::regdictionary::text FROM pg_ts_dict
UNION ALL SELECT 'regconfig', oid::bigint, oid::regconfig::text FROM pg_ts_config
) AS written ORDER BY kind, oid""",
    system_rows.WORD_TYPES: "SELECT * FROM ts_token_type('default') ORDER BY tokid",
}
"""Files of what functions give."""
LEFT_OUT: Final = {"pg_node_tree", "_aclitem"}
"""Types of columns that aren't recorded."""
TEXTS: Final = {"definition", "view_definition", "routine_definition", "attmissingval"}
OF_A_SERVER: Final = {"attoptions"}
"""Columns that aren't recorded, since a server numbers its own changes there."""
CONSTANTS: Final = {
    "relfilenode": "0",
    "relpages": "0",
    "reltuples": "-1",
    "relallvisible": "0",
    "reltoastrelid": "0",
    "relfrozenxid": "0",
    "relminmxid": "0",
}
"""What columns of pg_class have instead: they tell of a server's files."""


def column(attribute: Attribute) -> str:
    """The expression that is recorded of a column, in the type in which it is stored."""
    name = f'"{attribute.name}"'
    if attribute.name in CONSTANTS:
        return f"{CONSTANTS[attribute.name]} AS {name}"
    match attribute.type:
        case "xid":
            value = f"{name}::text::bigint"
        case "int2vector":
            value = f"string_to_array({name}::text, ' ')::int2[]"
        case "oidvector":
            value = f"string_to_array({name}::text, ' ')::bigint[]"
        case "regproc":
            value = f"{name}::oid::bigint"
        case "oid":
            value = f"{name}::bigint"
        case "_oid":
            value = f"{name}::bigint[]"
        case _ if attribute.stored in {"VARCHAR", "INTERVAL"}:
            value = f"{name}::text"
        case _ if attribute.stored == "VARCHAR[]":
            value = f"{name}::text[]"
        case _:
            value = name
    return f"{value} AS {name}"


def recorded(connection: Any, relation: Relation) -> pa.Table:
    """The rows of one relation, without columns that are NULL in all of them."""
    attributes = [
        a
        for a in relation.attributes
        if a.type not in LEFT_OUT and a.name not in TEXTS | OF_A_SERVER
    ]
    selected = sql.SQL(", ".join(map(column, attributes)))
    query = sql.SQL("SELECT {} FROM {}.{} WHERE {}").format(
        selected,
        sql.Identifier(relation.space),
        sql.Identifier(relation.name),
        sql.SQL(CONDITIONS.get(relation.name, "true")),
    )
    rows = sorted(connection.execute(query).fetchall(), key=lambda row: [*map(_key, row)])
    columns = {
        a.name: pa.array([_plain(row[n], connection) for row in rows], a.arrow_type)
        for n, a in enumerate(attributes)
    }
    return pa.table({n: c for n, c in columns.items() if c.null_count < len(c)})


def _key(value: object) -> tuple[bool, str]:
    is_number = isinstance(value, int)
    return is_number, f"{value:>20}" if is_number else str(value)


def _plain(value: object, connection: Any) -> object:
    """The value, with the name of any dataset and of its owner for those of this database."""
    if value == DATABASE:
        return system_rows.DATABASE
    return OWNER if value == connection.info.user else value


def main() -> None:
    url = os.environ["DPSQL_POSTGRES"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE template0")
        connection.execute(f"CREATE ROLE {ROLE}")
        try:
            with psycopg.connect(url, dbname=DATABASE) as filled:
                filled.execute(f"SET SESSION AUTHORIZATION {ROLE}")
                _write(filled)
        finally:
            connection.execute(f"DROP DATABASE {DATABASE} WITH (FORCE)")
            connection.execute(f"DROP ROLE {ROLE}")


def _write(connection: Any) -> None:
    known = relations()
    with zipfile.ZipFile(FILE, "w") as archive:
        for space, names in RECORDED.items():
            for name in names.split():
                relation = known[space, name]
                _add(archive, relation.stored, recorded(connection, relation))
        for name, query in CALLS.items():
            called = connection.execute(query)
            columns = zip(*called.fetchall(), strict=True)
            named = zip((column.name for column in called.description), columns, strict=True)
            _add(archive, name, pa.table(dict(named)))


def _add(archive: zipfile.ZipFile, name: str, table: pa.Table) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", compression_level=19)
    archive.writestr(zipfile.ZipInfo(f"{name}.parquet"), bytes(sink.getvalue()))


if __name__ == "__main__":
    main()
