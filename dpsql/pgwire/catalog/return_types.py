"""The types that PostgreSQL's functions, numbers and casts return, by their names in pg_type."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

_RETURNS: Final = {
    "name": "current_database current_user session_user current_schema pg_get_userbyid "
    "pg_encoding_to_char current_catalog pg_client_encoding getdatabaseencoding getpgusername",
    "bool": "pg_table_is_visible pg_type_is_visible pg_function_is_visible "
    "pg_opclass_is_visible pg_operator_is_visible pg_opfamily_is_visible pg_conversion_is_visible "
    "pg_statistics_obj_is_visible pg_ts_config_is_visible pg_ts_dict_is_visible "
    "pg_ts_parser_is_visible pg_ts_template_is_visible "
    "pg_collation_is_visible pg_relation_is_publishable has_schema_privilege has_table_privilege "
    "has_database_privilege has_column_privilege has_any_column_privilege pg_is_in_recovery "
    "pg_is_wal_replay_paused "
    "pg_is_other_temp_schema bool_and bool_or every pg_has_role pg_try_advisory_lock "
    "has_function_privilege pg_index_column_has_property pg_cancel_backend pg_terminate_backend",
    "int4": "array_upper array_lower array_length generate_subscripts pg_backend_pid length "
    "char_length generate_series array_position array_ndims cardinality strpos",
    "int8": "count row_number rank dense_rank pg_table_size pg_relation_size pg_database_size "
    "pg_total_relation_size pg_indexes_size txid_current",
    "_name": "current_schemas",
    "oid": "pg_my_temp_schema",
    "regclass": "to_regclass",
    "regproc": "to_regproc",
    "regtype": "to_regtype pg_typeof",
    "json": "json_build_object json_build_array to_json row_to_json json_agg",
    "jsonb": "jsonb_build_object jsonb_build_array to_jsonb jsonb_agg",
    "void": "pg_sleep pg_advisory_unlock_all pg_advisory_unlock",
    "float8": "random extract date_part",
    "timestamptz": "now current_timestamp pg_postmaster_start_time",
    "date": "current_date",
    "_text": "regexp_split_to_array string_to_array parse_ident",
    "xid": "xmin xmax",
    "inet": "inet_server_addr inet_client_addr",
    "_aclitem": "acldefault",
}
FUNCTIONS: Final = {name: kind for kind, names in _RETURNS.items() for name in names.split()}
LIKE_FIRST: Final = frozenset(
    {"min", "max", "coalesce", "nullif", "abs", "greatest", "least", "sum"}
)
TABLES: Final = {
    "pg_get_keywords": (
        ("word", "text"),
        ("catcode", "char"),
        ("barelabel", "bool"),
        ("catdesc", "text"),
        ("baredesc", "text"),
    ),
    "ts_token_type": (("tokid", "int4"), ("alias", "text"), ("description", "text")),
    "pg_partition_ancestors": (("relid", "regclass"),),
    "pg_partition_tree": (
        ("relid", "regclass"),
        ("parentrelid", "regclass"),
        ("isleaf", "bool"),
        ("level", "int4"),
    ),
}
RANKED: Final = ("int2", "int4", "int8", "numeric", "float4", "float8")
CASTS: Final = {
    "int": "int4",
    "integer": "int4",
    "bigint": "int8",
    "smallint": "int2",
    "boolean": "bool",
    "double precision": "float8",
    "real": "float4",
    "decimal": "numeric",
    "char": "bpchar",
    "timestamp": "timestamp",
    "timestamptz": "timestamptz",
    "character varying": "varchar",
    "character": "bpchar",
    "timestamp with time zone": "timestamptz",
    "string": "text",
}


def resolve_unknown(kind: str) -> str:
    """The type `kind` of a column; a quoted constant, which is `unknown`, becomes text."""
    return "text" if kind == "unknown" else kind


def element_type(kind: str) -> str:
    """The type of the items of an array type."""
    if kind in {"int2vector", "oidvector"}:
        return kind.removesuffix("vector")
    return kind[1:] if kind.startswith("_") else "text"


def number_kind(written: str) -> str:
    """The type of a number constant, by its digits."""
    if not written.isdigit():
        return "numeric"
    return "int4" if int(written) < 2**31 else "int8"


def cast_kind(kind: exp.DataType) -> str:
    """The type that a cast names."""
    if kind.this == exp.DataType.Type.ARRAY and kind.expressions:
        return "_" + cast_kind(kind.expressions[0])
    written = kind.sql("postgres").lower().replace('"', "").removeprefix("pg_catalog.")
    if written.endswith("[]"):
        return "_" + CASTS.get(written[:-2], written[:-2])
    if written == "char" and '"' in kind.sql("postgres"):
        return "char"
    base = written.partition("(")[0].strip()
    return CASTS.get(base, base)


def function_name(node: exp.Expr) -> str:
    """PostgreSQL's name of a function, whatever node the parser made of its call."""
    match node:
        case exp.Anonymous():
            return node.name.lower()
        case exp.JSONArrayAgg():
            return "json_agg"
        case exp.GenerateSeries() | exp.ExplodingGenerateSeries():
            return "generate_series"
        case exp.CurrentSchema():
            return "current_schema"
        case exp.CurrentDatabase() | exp.CurrentCatalog():
            return "current_database"
        case exp.LogicalAnd():
            return "bool_and"
        case exp.LogicalOr():
            return "bool_or"
        case exp.ArrayAgg():
            return "array_agg"
        case exp.Func():
            return node.sql_name().lower()
        case _:
            return ""
