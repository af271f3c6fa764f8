"""PostgreSQL's syntax → DuckDB's, for queries of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.pgwire.catalog.allowlist import NAMED
from dpsql.pgwire.catalog.cast import array, call, cast
from dpsql.pgwire.catalog.relations import Relation, relations
from dpsql.pgwire.sql.column_labels import label
from dpsql.plan.expression import Literal

_SPACES: Final = frozenset({"pg_catalog", "information_schema"})
_PROCEDURES: Final = frozenset(
    a.name for r in relations().values() for a in r.attributes if a.type == "regproc"
)
_VECTORS: Final = frozenset({"indkey", "indoption", "indclass", "indcollation", "proargtypes"})


def rewritten(
    tree: exp.Expr, values: Mapping[str, Literal], database: str, analyst: str
) -> exp.Expr:
    """A copy of `tree` that DuckDB runs, with the parameters' `values` in it.

    `database` and `analyst` are what current_database and current_user stand for.
    """
    copy = tree.copy()
    _name_columns(copy)
    ctes = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}

    def bottom_up(node: exp.Expr) -> exp.Expr:
        for child in list(node.iter_expressions()):
            other = bottom_up(child)
            if other is not child:
                child.replace(other)
        return _node(node, values, database, analyst, ctes)

    return bottom_up(copy)


def _name_columns(tree: exp.Expr) -> None:
    """Give unnamed columns PostgreSQL's names, by which a query around them may call them."""
    for select in tree.find_all(exp.Select):
        for item in list(select.expressions):
            named = (
                isinstance(item, exp.Func | exp.Dot | exp.Case | exp.Window) and not item.is_star
            )
            if named and (name := label(item)) != "?column?":
                item.replace(exp.alias_(item.copy(), name))


def relation(table: exp.Table, ctes: set[str]) -> Relation | None:
    """The relation of the catalogue that `table` names, None if it names none.

    `ctes` are the names of WITH queries, in lower case, which hide relations of pg_catalog.
    """
    if not isinstance(table.this, exp.Identifier):
        return None
    space, name = table.text("db").lower(), table.name.lower()
    if space:
        return relations().get((space, name))
    return None if name in ctes else relations().get(("pg_catalog", name))


def _node(
    node: exp.Expr, values: Mapping[str, Literal], database: str, analyst: str, ctes: set[str]
) -> exp.Expr:
    match node:
        case exp.Table() | exp.CTE():
            return _named(node) if isinstance(node, exp.CTE) else _table(node, ctes)
        case exp.Column():
            return _column(node, database, analyst)
        case exp.Parameter() | exp.Placeholder():
            return _value(values.get(node.name))
        case exp.Dot() if isinstance(node.this, exp.Identifier | exp.Dot | exp.Column):
            return _qualified(node)
        case exp.Cast():
            return cast(node)
        case exp.Collate():
            inner: exp.Expr = node.this
            return inner
        case exp.Operator():
            sign = node.args["operator"].lower().rpartition(".")[2].strip()
            return _operation(sign, node.this, node.expression) or node
        case exp.Bracket():
            first = 0 if _is_vector(node.this) else 1
            indexes = [_subscript(index, first) for index in node.expressions]
            return exp.Bracket(this=node.this, expressions=indexes, offset=1)
        case exp.EQ() | exp.NEQ() if _is_procedure(node.this) and node.expression.name == "0":
            node.set("expression", exp.Literal.string("-"))
            return node
        case exp.EQ() | exp.NEQ() if isinstance(node.expression, exp.Any | exp.All):
            return _quantified(node)
        case exp.CurrentDatabase() | exp.CurrentCatalog():
            return exp.Literal.string(database)
        case exp.CurrentUser() | exp.SessionUser():
            return exp.Literal.string(analyst)
        case exp.CurrentSchema():
            return exp.Literal.string("public")
        case exp.Anonymous():
            return _function(node, database, analyst)
        case _:
            return node


def _table(node: exp.Table, ctes: set[str]) -> exp.Expr:
    known = relation(node, ctes)
    if known is None:
        if node.text("db").lower() in _SPACES:
            node.set("db", None)
        if not isinstance(node.this, exp.Identifier) or node.args.get("db"):
            return node
    if node.args.get("alias") is None:
        name = node.name if known is None else known.name
        node.set("alias", exp.TableAlias(this=exp.to_identifier(name, quoted=True)))
    if known is None:
        return _name(node, node.name)
    node.set("db", None)
    node.set("catalog", None)
    node.set("this", exp.to_identifier(known.stored, quoted=True))
    return node


def _named(node: exp.CTE) -> exp.Expr:
    _name(node.args["alias"], node.alias)
    return node


def _name(node: exp.Expr, name: str) -> exp.Expr:
    """Rename a WITH query, or a table that can only be one, so that DuckDB has no table of it."""
    node.set("this", exp.to_identifier(NAMED + name.lower(), quoted=True))
    return node


def _column(node: exp.Column, database: str, analyst: str) -> exp.Expr:
    if node.text("db"):
        node.set("db", None)
        node.set("catalog", None)
    if not node.table and not node.this.args.get("quoted"):
        match node.name.lower():
            case "current_database" | "current_catalog":
                return exp.Literal.string(database)
            case "current_user" | "session_user" | "user" | "current_role":
                return exp.Literal.string(analyst)
            case "current_schema":
                return exp.Literal.string("public")
            case "tableoid":
                return exp.Literal.number(0)
            case _:
                return node
    elif node.name.lower() == "tableoid":
        return exp.Literal.number(1259)
    return node


def _qualified(node: exp.Dot) -> exp.Expr:
    """A function without its schema: pg_catalog.f(x) becomes f(x)."""
    head = node.this
    name = head.name.lower() if isinstance(head, exp.Identifier | exp.Column) else ""
    if name in _SPACES and isinstance(node.expression, exp.Func | exp.Anonymous):
        return node.expression
    return node


def _value(value: Literal | None) -> exp.Expr:
    if value is None or value.value is None:
        return exp.null()
    constant = value.value
    match constant:
        case bool():
            return exp.Boolean(this=constant)
        case int():
            return exp.Literal.number(constant)
        case _:
            return exp.Literal.string(str(constant))


def _quantified(node: exp.Expr) -> exp.Expr:
    """`x = ANY (list)` and `x <> ALL (list)` as list_contains(); with a subquery they stay."""
    quantifier = node.expression
    inner = quantifier.this
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Literal):
        inner = array(inner.name)
    if isinstance(inner, exp.Query | exp.Subquery):
        return node
    contains = call("list_contains", inner, node.this)
    if isinstance(inner, exp.Tuple):
        contains = call("list_contains", exp.Array(expressions=inner.expressions), node.this)
    is_any = isinstance(quantifier, exp.Any)
    if isinstance(node, exp.EQ) is is_any:
        return contains if is_any else exp.Not(this=contains)
    return exp.Not(this=contains)


def _operation(sign: str, left: exp.Expr, right: exp.Expr) -> exp.Expr | None:
    match sign:
        case "~":
            return exp.RegexpLike(this=left, expression=right)
        case "~*":
            return exp.RegexpILike(this=left, expression=right)
        case "!~":
            return exp.Not(this=exp.RegexpLike(this=left, expression=right))
        case "=":
            return exp.EQ(this=left, expression=right)
        case "<>":
            return exp.NEQ(this=left, expression=right)
        case "+":
            return exp.Add(this=left, expression=right)
        case _:
            return None


def _is_value(node: exp.Expr) -> bool:
    """Whether a function is called in an expression, not as a table."""
    return isinstance(node.find_ancestor(exp.Select, exp.Table, exp.Lateral), exp.Select)


def _is_procedure(node: exp.Expr) -> bool:
    """Whether `node` is a column of type regproc: functions by name here, by OID in PostgreSQL."""
    return isinstance(node, exp.Column) and node.name.lower() in _PROCEDURES


def _subscript(position: exp.Expr, first: int) -> exp.Expr:
    """A list's index, which DuckDB counts from 1 and PostgreSQL from `first`.

    The parser has made constants count from 0, but no other expression.
    """
    number = position.to_py() if position.is_number else None
    if isinstance(number, int):
        return exp.Literal.number(number + 2 - first)
    if first == 1 or isinstance(position, exp.Slice):
        return position
    return exp.Add(this=exp.paren(position.copy()), expression=exp.Literal.number(1))


def _is_vector(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.name.lower().removeprefix("i_") in _VECTORS


def _function(node: exp.Anonymous, database: str, analyst: str) -> exp.Expr:
    arguments = node.expressions
    match node.name.lower():
        case "current_database" | "current_catalog":
            return exp.Literal.string(database)
        case "current_user" | "session_user" | "getpgusername":
            return exp.Literal.string(analyst)
        case "current_schema":
            return exp.Literal.string("public")
        case "pg_partition_ancestors" if _is_value(node):
            return exp.cast(exp.null(), "BIGINT")
        case "_pg_expandarray":
            return _expanded(arguments[0])
        case "json_build_object" | "jsonb_build_object":
            return call("json_object", *arguments)
        case "regexp_split_to_table":
            return exp.Unnest(expressions=[call("string_split_regex", *arguments)])
        case _:
            return node


def _expanded(values: exp.Expr) -> exp.Expr:
    """A row for each item of an array: the item as x, its number from 1 as n."""
    written = (
        f"unnest(list_transform({values.sql('duckdb')}, lambda _v_, _n_: {{'x': _v_, 'n': _n_}}))"
    )
    return exp.maybe_parse(written, dialect="duckdb")
