"""PostgreSQL's functions as DuckDB's macros, with the names, OIDs and comments of a schema as maps.

A macro looks its argument up in a map and not in a subquery, which would take the argument for a
column of its own with the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from sqlglot import exp

from dpsql.pgwire.catalog import objects as o
from dpsql.pgwire.catalog import procedures
from dpsql.pgwire.catalog.calls import json_text
from dpsql.pgwire.catalog.duckdb_maps import list_of, map_of
from dpsql.pgwire.catalog.relations import types
from dpsql.pgwire.catalog.rows.system_rows import (
    keywords,
    system_indexes,
    system_oids,
    system_types,
    token_types,
)
from dpsql.pgwire.codec.oid import formatted
from dpsql.pgwire.settings.session_settings import SessionSettings

VERSION: Final = "PostgreSQL 15.0 (dpsql), differentially private answers"

_TRUE: Final = """
pg_function_is_visible(_a)
pg_collation_is_visible(_a) pg_opclass_is_visible(_a) pg_operator_is_visible(_a)
pg_opfamily_is_visible(_a) pg_conversion_is_visible(_a) pg_statistics_obj_is_visible(_a)
pg_ts_config_is_visible(_a) pg_ts_dict_is_visible(_a) pg_ts_parser_is_visible(_a)
pg_ts_template_is_visible(_a)
pg_relation_is_publishable(_a) has_function_privilege(_a,_b)
has_function_privilege(_a,_b,_c) has_sequence_privilege(_a,_b) has_language_privilege(_a,_b)
pg_has_role(_a,_b) pg_has_role(_a,_b,_c) pg_try_advisory_lock(_a)
"""
_FALSE: Final = """
pg_is_other_temp_schema(_a) pg_is_in_recovery() pg_is_wal_replay_paused()
pg_cancel_backend(_a) pg_terminate_backend(_a)
"""
_NULL_TEXT: Final = """
pg_get_expr(_a,_b) pg_get_expr(_a,_b,_c) pg_get_serial_sequence(_a,_b)
pg_get_function_arg_default(_a,_b) pg_get_functiondef(_a) pg_get_triggerdef(_a)
pg_get_function_sqlbody(_a) pg_column_compression(_a)
pg_get_triggerdef(_a,_b) pg_get_viewdef(_a) pg_get_viewdef(_a,_b) pg_get_statisticsobjdef(_a)
pg_get_statisticsobjdef_columns(_a) pg_get_statisticsobjdef_expressions(_a)
pg_get_partkeydef(_a) pg_get_partition_constraintdef(_a) pg_get_ruledef(_a) pg_get_ruledef(_a,_b)
pg_tablespace_location(_a) shobj_description(_a,_b)
inet_server_addr() inet_client_addr() pg_stat_get_last_analyze_time(_a) acldefault(_a,_b)
"""
_ZERO: Final = """
pg_my_temp_schema() pg_table_size(_a) pg_relation_size(_a) pg_relation_size(_a,_b)
pg_total_relation_size(_a) pg_indexes_size(_a) pg_database_size(_a) pg_tablespace_size(_a)
inet_server_port() txid_current() pg_stat_get_numscans(_a) pg_stat_get_live_tuples(_a)
"""
_WRITTEN: Final = """
pg_encoding_to_char(_a) := 'UTF8'
pg_char_to_encoding(_a) := 6
pg_client_encoding() := 'UTF8'
getdatabaseencoding() := 'UTF8'
array_remove(_a, _b) := list_filter(_a, lambda _i_: _i_ IS DISTINCT FROM _b)
pg_get_userbyid(_a) := CASE _a WHEN 10 THEN 'dpsql' ELSE 'unknown (OID=' || _a || ')' END
current_schemas(_a) := CASE WHEN _a THEN ['pg_catalog', 'public'] ELSE ['public'] END
array_lower(_a, _b) := CASE WHEN len(_a) > 0 THEN 1 ELSE NULL END
array_upper(_a, _b) := CASE WHEN len(_a) > 0 THEN CAST(len(_a) AS INTEGER) ELSE NULL END
array_ndims(_a) := CASE WHEN len(_a) > 0 THEN 1 ELSE NULL END
set_config(_a, _b, _c) := _b
dpsql_set_of_row(_a) := error('rows set nothing: ' || _a)
pg_index_column_has_property(_a, _b, _c) := _c IN ('asc', 'nulls_last', 'orderable', 'returnable')
pg_sleep(_a) := ''
pg_advisory_unlock_all() := ''
pg_advisory_unlock(_a) := TRUE
quote_literal(_a) := '''' || replace(_a, '''', '''''') || ''''
pg_postmaster_start_time() := CAST(NULL AS TIMESTAMP)
"""
_OF_OBJECT: Final = ("_a, _p", "_a, _b, _p")
_RIGHTS: Final = {
    "has_database_privilege": ("connect|temp", _OF_OBJECT),
    "has_schema_privilege": ("usage", _OF_OBJECT),
    "has_table_privilege": ("select", _OF_OBJECT),
    "has_any_column_privilege": ("select", _OF_OBJECT),
    "has_column_privilege": ("select", ("_a, _b, _p", "_a, _b, _c, _p")),
}
"""Words of rights that an analyst has, and parameters, by the function that tells of them."""

_QUOTED: Final = {
    "quote_nullable(_a)": """CASE WHEN _a IS NULL THEN 'NULL'
        ELSE '''' || replace(_a, '''', '''''') || '''' END""",
    "pg_size_pretty(_a)": """CASE WHEN _a < 10240 THEN _a || ' bytes'
        WHEN _a >> 9 < 20479 THEN ((_a >> 9) + 1) // 2 || ' kB'
        WHEN _a >> 19 < 20479 THEN ((_a >> 19) + 1) // 2 || ' MB'
        WHEN _a >> 29 < 20479 THEN ((_a >> 29) + 1) // 2 || ' GB'
        ELSE ((_a >> 39) + 1) // 2 || ' TB' END""",
    "pg_typeof(_a)": """CASE typeof(_a) WHEN 'DOUBLE' THEN 'double precision'
        WHEN 'FLOAT' THEN 'real' WHEN 'HUGEINT' THEN 'numeric'
        WHEN 'TIME' THEN 'time without time zone'
        WHEN 'TIMESTAMP' THEN 'timestamp without time zone'
        WHEN 'TIMESTAMP WITH TIME ZONE' THEN 'timestamp with time zone'
        WHEN 'BIGINT' THEN 'bigint' WHEN 'INTEGER' THEN 'integer' WHEN 'SMALLINT' THEN 'smallint'
        WHEN 'BOOLEAN' THEN 'boolean' WHEN 'DATE' THEN 'date' WHEN 'INTERVAL' THEN 'interval'
        ELSE 'text' END""",
    "parse_ident(_a)": """list_transform(regexp_extract_all(_a, '"[^"]*"|[^.]+'), lambda _i_:
        CASE WHEN _i_[1] = '"' THEN _i_[2:-2] ELSE lower(_i_) END)""",
}


def macros(seen: o.Listed) -> Mapping[str, str]:
    """The CREATE MACRO of each function by its name; one statement has all overloads."""
    forms: dict[str, list[str]] = {}
    for heads, body in (
        (_TRUE, "TRUE"),
        (_FALSE, "FALSE"),
        (_NULL_TEXT, "CAST(NULL AS VARCHAR)"),
        (_ZERO, "CAST(0 AS BIGINT)"),
    ):
        for head in heads.split():
            _add(forms, head, body)
    for line in _WRITTEN.strip().split("\n"):
        head, _, body = line.partition(" := ")
        _add(forms, head, body)
    of_system = (*_QUOTED.items(), *json_text.MACROS, _quoting(), *procedures.macros())
    for head, body in (*of_system, *_of_dataset(seen)):
        _add(forms, head, body)
    statements = {name: f"CREATE MACRO {name}" + ", ".join(forms[name]) for name in forms}
    typed = f"* REPLACE (CAST(barelabel AS BOOLEAN) AS barelabel) FROM (SELECT {_of(keywords())})"
    statements["pg_get_keywords"] = f"CREATE MACRO pg_get_keywords() AS TABLE SELECT {typed}"
    words = _of(token_types())
    statements["ts_token_type"] = f"CREATE MACRO ts_token_type(a) AS TABLE SELECT {words}"
    for name, (right, parameters) in _RIGHTS.items():
        overloads = (f"({p}) AS regexp_matches(lower(_p), '{right}')" for p in parameters)
        statements[name] = f"CREATE MACRO {name}" + ", ".join(overloads)
    ancestors = "SELECT CAST(a AS BIGINT) AS relid, 1 AS depth WHERE false"
    statements["pg_partition_ancestors"] = (
        f"CREATE MACRO pg_partition_ancestors(a) AS TABLE {ancestors}"
    )
    statements["pg_partition_tree"] = (
        "CREATE MACRO pg_partition_tree(a) AS TABLE "
        "SELECT CAST(a AS BIGINT) AS relid, CAST(a AS BIGINT) AS parentrelid, "
        "TRUE AS isleaf, 0 AS level WHERE false"
    )
    statements["pg_options_to_table"] = (
        "CREATE MACRO pg_options_to_table(a) AS TABLE "
        "SELECT CAST(a AS VARCHAR) AS option_name, '' AS option_value WHERE false"
    )
    return statements


def _of(columns: Mapping[str, Sequence[object]]) -> str:
    return ", ".join(f"unnest({list_of(values)}) AS {name}" for name, values in columns.items())


def _add(forms: dict[str, list[str]], head: str, body: str) -> None:
    name, _, rest = head.partition("(")
    forms.setdefault(name, []).append(f"({rest} AS {body}")


def _quoting() -> tuple[str, str]:
    """quote_ident(), which knows the words that are no names, or not everywhere."""
    kinds = zip(keywords()["word"], keywords()["catcode"], strict=True)
    reserved = [word for word, kind in kinds if kind != "U"]
    body = f"""CASE WHEN regexp_full_match(_a, '[a-z_][a-z0-9_$]*')
        AND NOT list_contains({list_of(reserved)}, _a) THEN _a
        ELSE '"' || replace(_a, '"', '""') || '"' END"""
    return "quote_ident(_a)", body


def _of_dataset(seen: o.Listed) -> Iterator[tuple[str, str]]:
    """Heads and bodies of the macros that depend on the schema; no column is named _a or _b."""
    listed = tuple(seen.tables.values())
    spaces = {"pg_catalog": o.PG_CATALOG, **{space.name: space.oid for space in seen.spaces}}
    yield "to_regnamespace(_a)", f"{map_of(spaces)}[replace(_a, '\"', '')]"
    space_names = map_of({oid: name for name, oid in spaces.items()})
    yield "dpsql_space(_a)", f"coalesce({space_names}[CAST(_a AS BIGINT)], CAST(_a AS VARCHAR))"
    # Relations and types of information_schema have the last OIDs before those of a dataset.
    standard = f"CAST(_a AS BIGINT) BETWEEN {o.STANDARD} AND {o.FIRST_OID - 1}"
    hidden = [t.oid for t in listed if not t.has_source]
    unseen = " ".join(f"WHEN CAST(_a AS BIGINT) = {oid} THEN FALSE" for oid in hidden)
    shown = f"CASE WHEN {standard} THEN FALSE {unseen} ELSE TRUE END"
    yield "pg_table_is_visible(_a)", shown
    yield "pg_type_is_visible(_a)", f"NOT {standard}"
    settings = SessionSettings({})
    known = {name.lower(): settings[name] for name in settings}
    yield "current_setting(_a)", f"{map_of(known)}[lower(_a)]"
    yield "current_setting(_a, _b)", f"{map_of(known)}[lower(_a)]"
    yield "version()", exp.Literal.string(VERSION).sql("duckdb")
    comments = {(t.oid, 0): t.comment for t in listed if t.comment}
    comments |= {(t.oid, c.position): c.comment for t in listed for c in t.columns if c.comment}
    keyed = {f"{oid}.{position}": text for (oid, position), text in comments.items()}
    yield "obj_description(_a)", f"{map_of(keyed)}[_a || '.0']"
    yield "obj_description(_a, _b)", f"{map_of(keyed)}[_a || '.0']"
    yield "col_description(_a, _b)", f"{map_of(keyed)}[_a || '.' || _b]"
    yield from _of_definitions(seen)
    names = {table.oid: table.description for table in listed}
    names |= {table.key.index_oid: table.key.name for table in listed if table.key is not None}
    oids = _inverse(names) | {
        f"{t.space.name}.{t.name}": t.oid for t in listed if t.space.oid != o.PUBLIC
    }
    catalogue = system_oids()
    plain = "regexp_replace(replace(_a, '\"', ''), '^([^.]+[.])?(public|pg_catalog)[.]', '')"
    yield "to_regclass(_a)", f"{map_of({**catalogue, **oids})}[{plain}]"
    all_names = {**{oid: name for name, oid in catalogue.items()}, **names}
    named = f"{map_of(all_names)}[CAST(_a AS BIGINT)]"
    yield "dpsql_class(_a)", f"coalesce({named}, CAST(_a AS VARCHAR))"
    type_names = _type_names(listed)
    yield "to_regtype(_a)", f"{map_of(_inverse(type_names) | _type_oids())}[{plain}]"
    shown = f"{map_of(type_names)}[CAST(_a AS BIGINT)]"
    named = f"coalesce({shown}, CAST(_a AS VARCHAR))"
    yield "dpsql_type(_a)", f"CASE WHEN _a = 0 THEN '-' ELSE {named} END"
    yield (
        "format_type(_a, _b)",
        f"""CASE WHEN _a IS NULL THEN NULL
        WHEN _a = 1700 AND _b >= 4
        THEN 'numeric(' || ((_b - 4) >> 16) || ',' || ((_b - 4) & 65535) || ')'
        WHEN _a = 1043 AND _b >= 4 THEN 'character varying(' || (_b - 4) || ')'
        WHEN _a = 1042 AND _b >= 4 THEN 'character(' || (_b - 4) || ')'
        WHEN _a IN (1560, 1562) AND _b >= 0 THEN {shown} || '(' || _b || ')'
        WHEN _a IN (1083, 1114, 1184, 1266) AND _b >= 0
        THEN regexp_replace({shown}, '^(timestamp|time)', '\\1(' || _b || ')')
        ELSE coalesce({shown}, '???') END""",
    )


def _of_definitions(seen: o.Listed) -> Iterator[tuple[str, str]]:
    """The macros that write down constraints and indexes."""
    listed = tuple(seen.tables.values())
    constraints: dict[int, str] = {}
    indexes = dict(system_indexes())
    # Where a name is found without its schema, the short form leaves that out.
    pretty = {oid: text.replace(" ON pg_catalog.", " ON ") for oid, text in indexes.items()}
    for table in listed:
        if table.key is not None:
            columns = ", ".join(table.columns[n - 1].name for n in table.key.positions)
            constraints[table.key.oid] = f"PRIMARY KEY ({columns})"
            head, tail = f"CREATE UNIQUE INDEX {table.key.name} ON ", f" USING btree ({columns})"
            indexes[table.key.index_oid] = f"{head}{table.space.name}.{table.name}{tail}"
            pretty[table.key.index_oid] = f"{head}{table.description}{tail}"
        for foreign in table.references:
            other = seen.tables[foreign.to]
            column, to = table.columns[foreign.position - 1], other.columns[foreign.to_position - 1]
            target = f"{other.description}({to.name})"
            constraints[foreign.oid] = f"FOREIGN KEY ({column.name}) REFERENCES {target}"
    for head in ("pg_get_constraintdef(_a)", "pg_get_constraintdef(_a, _b)"):
        yield head, f"{map_of(constraints, 0)}[CAST(_a AS BIGINT)]"
    whole, short = (f"{map_of(of, 0)}[CAST(_a AS BIGINT)]" for of in (indexes, pretty))
    yield "pg_get_indexdef(_a)", whole
    part = f"""CASE WHEN _b <> 0 THEN {_index_columns(listed)}
        WHEN _c THEN {short} ELSE {whole} END"""
    yield "pg_get_indexdef(_a, _b, _c)", part


def _type_names(listed: tuple[o.Table, ...]) -> Mapping[int, str]:
    """Names of types by OID, with those of the tables' rows and of their arrays."""
    names = {kind.oid: _written(kind.oid, kind.name) for kind in types().values()}
    names |= system_types()
    names |= {table.type_oid: table.description for table in listed}
    return names | {table.array_oid: f"{table.description}[]" for table in listed}


def _inverse(names: Mapping[int, str]) -> dict[str, int]:
    return {name: oid for oid, name in names.items()}


def _index_columns(listed: tuple[o.Table, ...]) -> str:
    names = {
        f"{t.key.index_oid}.{n}": t.columns[position - 1].name
        for t in listed
        if t.key is not None
        for n, position in enumerate(t.key.positions, 1)
    }
    for oid, text in system_indexes().items():
        columns = text.partition(" USING btree (")[2].removesuffix(")").split(", ")
        names |= {f"{oid}.{n}": column for n, column in enumerate(columns, 1)}
    return f"{map_of(names)}[_a || '.' || _b]"


def _written(oid: int, name: str) -> str:
    if name.startswith("_"):
        inner = types().get(name[1:])
        return (_written(inner.oid, inner.name) if inner else name[1:]) + "[]"
    special = {"char": '"char"', "varchar": "character varying", "bpchar": "character"}
    special |= {"timestamptz": "timestamp with time zone", "timetz": "time with time zone"}
    special |= {"time": "time without time zone", "varbit": "bit varying"}
    description = formatted(oid, -1)
    return special.get(name, description if description != "text" else name)


def type_oid(name: str) -> int | None:
    """The OID of a type by its name in pg_type or in SQL, None if there is none."""
    return _type_oids().get({"int": "integer", "decimal": "numeric"}.get(name, name))


@cache
def _type_oids() -> dict[str, int]:
    short = {kind.name: kind.oid for kind in types().values()}
    return short | {_written(kind.oid, kind.name): kind.oid for kind in types().values()}
