"""PostgreSQL's names of an answer's columns: `count`, `?column?`; unquoted ones in lower case."""

from __future__ import annotations

from sqlglot import exp

_UNKNOWN = "?column?"


def labels(tree: exp.Expr) -> tuple[str, ...] | None:
    """PostgreSQL's names of a query's columns; None if a star stands for some of them."""
    select = tree
    while isinstance(select, exp.SetOperation | exp.Subquery):
        select = select.this
    if not isinstance(select, exp.Select):
        return None
    if any(item.is_star for item in select.expressions):
        return None
    return tuple(label(item) for item in select.expressions)


def label(item: exp.Expr) -> str:
    """PostgreSQL's name of one item of a SELECT list."""
    match item:
        case exp.Alias():
            return _identifier(item.args["alias"])
        case exp.Column():
            return _identifier(item.this)
        case exp.Dot():
            return label(item.expression)
        case exp.Identifier():
            return _identifier(item)
        case exp.Cast():
            value = item.this
            while isinstance(value, exp.Cast | exp.Paren):
                value = value.this
            inner = _UNKNOWN if isinstance(value, exp.Boolean) else label(value)
            # INTERVAL '1 day' is a cast, too, whose type's name gives way to that of the next.
            weak = {exp.Case: "case", exp.Interval: "interval"}.get(type(value), _UNKNOWN)
            is_weak = inner == weak
            return _type(item.to) if is_weak and not isinstance(value, exp.Subquery) else inner
        case (
            exp.Bracket()
            | exp.Paren()
            | exp.Collate()
            | exp.Filter()
            | exp.Window()
            | exp.WithinGroup()
        ):
            return label(item.this)
        case exp.Case():
            default = item.args.get("default")
            while isinstance(default, exp.Cast | exp.Paren):
                default = default.this
            names = isinstance(default, exp.Column | exp.Func | exp.Dot)
            inner = label(default) if default is not None and names else _UNKNOWN
            return inner if inner != _UNKNOWN else "case"
        case exp.Subquery():
            inner_labels = labels(item.this)
            return inner_labels[0] if inner_labels else _UNKNOWN
        case exp.Exists() | exp.ArrayPosition():
            return "exists" if isinstance(item, exp.Exists) else "array_position"
        case exp.Boolean():
            return "bool"
        case exp.Anonymous():
            return str(item.this).lower()
        case exp.Func() if "name" in item.meta and not isinstance(item, exp.Trim):
            return str(item.meta["name"])
        case exp.Connector() | exp.Not() | exp.Binary() | exp.Unary():
            return _UNKNOWN
        case exp.Interval():
            return "interval"
        case exp.Func():
            return _function(item)
        case _:
            return "timezone" if isinstance(item, exp.AtTimeZone) else _UNKNOWN


def _identifier(node: object) -> str:
    if not isinstance(node, exp.Identifier):
        return str(node)
    return str(node.this) if node.args.get("quoted") else str(node.this).lower()


def _function(node: exp.Func) -> str:
    match node:
        case exp.Extract():
            return "extract"
        case exp.TimestampTrunc() | exp.DateTrunc():
            return "date_trunc"
        case exp.StrPosition():
            return "position"
        case exp.ArraySize():
            return "array_length"
        case exp.GroupConcat():
            return "string_agg"
        case exp.JSONArrayAgg():
            return "json_agg"
        case exp.LogicalAnd():
            return "bool_and"
        case exp.LogicalOr():
            return "bool_or"
        case exp.Trim():
            sides = {"LEADING": "ltrim", "TRAILING": "rtrim"}
            return sides.get(str(node.args.get("position")), "btrim")
        case exp.StrToDate() | exp.TsOrDsToDate():
            return "to_date"
        case exp.StrToTime() | exp.UnixToTime():
            return "to_timestamp"
        case exp.CurrentSchema():
            return "current_schema"
        case exp.CurrentVersion():
            return "version"
        case _:
            return str(node.sql_name()).lower()


def _type(kind: exp.DataType) -> str:
    """The name of a type in pg_type, by which a cast of a nameless value is called."""
    if kind.this is exp.DataType.Type.ARRAY and kind.expressions:
        return _type(kind.expressions[0])
    return {
        exp.DataType.Type.INT: "int4",
        exp.DataType.Type.BIGINT: "int8",
        exp.DataType.Type.SMALLINT: "int2",
        exp.DataType.Type.BOOLEAN: "bool",
        exp.DataType.Type.DOUBLE: "float8",
        exp.DataType.Type.FLOAT: "float4",
        exp.DataType.Type.DECIMAL: "numeric",
        exp.DataType.Type.TEXT: "text",
        exp.DataType.Type.VARCHAR: "varchar",
        exp.DataType.Type.CHAR: "bpchar",
        exp.DataType.Type.DATE: "date",
        exp.DataType.Type.TIMESTAMP: "timestamp",
    }.get(kind.this, _base(kind))


def _base(kind: exp.DataType) -> str:
    name = kind.sql("postgres").lower().partition("(")[0].partition("[")[0]
    return name.replace('"', "").removeprefix("pg_catalog.").strip()
