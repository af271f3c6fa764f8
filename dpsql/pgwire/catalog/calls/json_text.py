"""JSON of the catalogue's rows: the texts that PostgreSQL writes, down to their blanks.

json_build_object() has blanks around its colons and keeps its keys' order; jsonb sorts them by
length. What is computed of JSON, and rows as JSON, have no rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from dpsql.errors import Refused
from dpsql.pgwire.catalog.cast import call

VALUE: Final = "dpsql_json"
"""The macro for the JSON of a text, a number or a boolean."""
KEY: Final = "dpsql_json_key"
"""The macro for the JSON of an object's key."""
MACROS: Final = (
    (
        f"{KEY}(_a)",
        """CASE WHEN _a IS NULL THEN CAST(error('a key is NULL') AS VARCHAR)
        ELSE CAST(to_json(CAST(_a AS VARCHAR)) AS VARCHAR) END""",
    ),
    (
        f"{VALUE}(_a)",
        """CASE WHEN _a IS NULL THEN 'null'
        WHEN typeof(_a) = 'VARCHAR' THEN CAST(to_json(CAST(_a AS VARCHAR)) AS VARCHAR)
        WHEN typeof(_a) IN ('BOOLEAN', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'UINTEGER')
            OR typeof(_a) LIKE 'DECIMAL%' THEN CAST(_a AS VARCHAR)
        WHEN typeof(_a) IN ('FLOAT', 'DOUBLE') AND abs(TRY_CAST(_a AS DOUBLE)) < 1e15
            AND TRY_CAST(_a AS DOUBLE) = round(TRY_CAST(_a AS DOUBLE))
            THEN CAST(TRY_CAST(TRY_CAST(_a AS DOUBLE) AS BIGINT) AS VARCHAR)
        ELSE CAST(error('no JSON of this type') AS VARCHAR) END""",
    ),
)
"""Heads and bodies of macros; `_a` is a value that PostgreSQL's JSON has as it is."""
_CALLS: Final = frozenset(
    {
        *("json_build_object", "jsonb_build_object", "json_build_array", "jsonb_build_array"),
        *("to_json", "to_jsonb", "jsonb_agg"),
    }
)
NODES: Final = (exp.JSONArrayAgg, exp.JSONObjectAgg, exp.JSONBObjectAgg)
"""Nodes of aggregates whose values are JSON."""


def is_json_call(node: exp.Expr) -> bool:
    """Whether `json_call` has DuckDB's expression for `node`."""
    is_named = isinstance(node, exp.Anonymous) and node.name.lower() in _CALLS
    return is_named or isinstance(node, NODES)


def json_call(node: exp.Expr) -> exp.Expr:
    """DuckDB's expression for a call whose value is JSON; its arguments are DuckDB's already."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    arguments, binary = list(node.expressions), name.startswith(("jsonb", "to_jsonb"))
    match node, name:
        case exp.JSONArrayAgg(), _:
            text = _list_of(node.this, binary=False)
        case _, "jsonb_agg" if len(arguments) == 1:
            text = _list_of(arguments[0], binary=True)
        case _, "json_build_object" | "jsonb_build_object" if len(arguments) % 2 == 0:
            text = _object(arguments, binary=binary)
        case _, "json_build_array" | "jsonb_build_array":
            text = _joined(
                [_quoted("["), *_between(_values(arguments, binary=binary)), _quoted("]")]
            )
        case _, "to_json" | "to_jsonb" if len(arguments) == 1:
            value = _value(arguments[0], binary=binary)
            is_null = exp.Is(this=arguments[0].copy(), expression=exp.Null())
            text = exp.Case(ifs=[exp.If(this=is_null, true=exp.Null())], default=value)
        case _:
            raise _no_rule("objects of an aggregate's keys")
    text = exp.paren(text, copy=False)
    text.meta["json"] = "jsonb" if binary else "json"
    return text


def _list_of(item: exp.Expr, *, binary: bool) -> exp.Expr:
    order = item if isinstance(item, exp.Order) else None
    value = item.this if order is not None else item
    if isinstance(value, exp.Distinct):
        raise _no_rule("DISTINCT in an aggregate")
    text = _value(value, binary=binary)
    if order is not None:
        order.set("this", text)
        text = order
    joined = exp.GroupConcat(this=text, separator=_quoted(", "))
    return _joined([_quoted("["), joined, _quoted("]")])


def _object(arguments: Sequence[exp.Expr], *, binary: bool) -> exp.Expr:
    pairs = list(zip(arguments[::2], arguments[1::2], strict=True))
    if binary:
        # jsonb sorts its keys by their lengths, and has each once.
        by_key = {_constant(key): value for key, value in pairs}
        ordered = sorted(by_key, key=lambda key: (len(key.encode()), key.encode()))
        pairs = [(_quoted(key), by_key[key]) for key in ordered]
    colon = ": " if binary else " : "
    texts = [
        _joined([call(KEY, key.copy()), _quoted(colon), _value(value, binary=binary)])
        for key, value in pairs
    ]
    return _joined([_quoted("{"), *_between(texts), _quoted("}")])


def _constant(key: exp.Expr) -> str:
    inner = key.unnest()
    while isinstance(inner, exp.Cast):
        inner = inner.this.unnest()
    if not inner.is_string:
        raise _no_rule("a key that isn't a constant")
    return inner.name


def _values(arguments: Sequence[exp.Expr], *, binary: bool) -> list[exp.Expr]:
    return [_value(argument, binary=binary) for argument in arguments]


def _value(node: exp.Expr, *, binary: bool) -> exp.Expr:
    """The JSON of a value; that of JSON is its own text."""
    inner = node.unnest()
    kind = node.meta.get("json") or inner.meta.get("json")
    if kind is None:
        return call(VALUE, node.copy())
    if binary and kind != "jsonb":
        raise _no_rule("json within jsonb")
    return exp.Coalesce(this=node.copy(), expressions=[_quoted("null")])


def _between(parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    """`parts` with a comma and a blank between them."""
    texts: list[exp.Expr] = []
    for part in parts:
        texts += [part] if not texts else [_quoted(", "), part]
    return texts


def _joined(parts: Sequence[exp.Expr]) -> exp.Expr:
    text = parts[0]
    for part in parts[1:]:
        text = exp.DPipe(this=text, expression=part)
    return text


def _quoted(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _no_rule(what: str) -> Refused:
    return Refused(
        f"JSON with {what} has no rule here",
        hint="write json_build_object('a', x), json_agg(x), or select the columns themselves",
    )
