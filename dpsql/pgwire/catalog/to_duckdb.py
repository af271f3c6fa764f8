"""PostgreSQL's syntax → DuckDB's, for queries of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlglot import exp

from dpsql.errors import Refused
from dpsql.pgwire.catalog.allowlist import NAMED
from dpsql.pgwire.catalog.calls.function_calls import (
    FUNCTIONS,
    Caller,
    rewritten_call,
    rewritten_function,
    role_name,
    rows_of,
    select_values,
    zipped,
)
from dpsql.pgwire.catalog.cast import NAMES, array, call, cast, counts_from_zero
from dpsql.pgwire.catalog.named_relations import order_by_oids, relation, select_table_oids
from dpsql.pgwire.catalog.parameter_value import DeclaredValue, duckdb_constant
from dpsql.pgwire.catalog.procedures import compared, is_procedure, mark_aliases, name_of
from dpsql.pgwire.sql.column_labels import label

_SIGNS: Final = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "+": exp.Add,
    "-": exp.Sub,
    "*": exp.Mul,
    "||": exp.DPipe,
}
_SPACES: Final = frozenset({"pg_catalog", "information_schema"})
_NAMED_CALLS: Final = frozenset(
    {
        *("array_agg", "concat", "concat_ws", "format", "lower", "upper", "length", "replace"),
        *("count", "min", "max", "sum", "split_part", "btrim"),
    }
)
"""Functions whose calls have nodes of their own, but not behind the name of a schema."""
_COMPARISONS: Final = (exp.EQ, exp.NEQ, exp.In, exp.Like, exp.ILike)
_OF_ROWS: Final = frozenset({"xmin", "xmax", "cmin", "cmax"})


def rewritten(tree: exp.Expr, values: Mapping[str, DeclaredValue], caller: Caller) -> exp.Expr:
    """A copy of `tree` that DuckDB runs, with the parameters' `values` in it."""
    copy = tree.copy()
    ctes = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    select_values(copy)
    select_table_oids(copy, ctes)
    order_by_oids(copy)
    mark_aliases(copy)
    _name_columns(copy)

    def bottom_up(node: exp.Expr) -> exp.Expr:
        for child in list(node.iter_expressions()):
            other = bottom_up(child)
            if other is not child:
                child.replace(other)
        if isinstance(node, exp.Unnest) and len(node.expressions) > 1:
            return zipped(node)
        return _node(node, values, caller, ctes)

    return _name_objects(bottom_up(copy))


def _name_objects(tree: exp.Expr) -> exp.Expr:
    """Answer 'orders'::regclass by the name, whose OID a query itself computes with."""
    for item in tree.selects if isinstance(tree, exp.Select) else ():
        value = item.unalias()
        if isinstance(value, exp.Anonymous) and value.name in NAMES:
            value.replace(call(NAMES[value.name], value.copy()))
    return tree


def _name_columns(tree: exp.Expr) -> None:
    """Give unnamed columns PostgreSQL's names, by which a query around them may call them."""
    for select in tree.find_all(exp.Select):
        for item in list(select.expressions):
            named = (
                isinstance(item, exp.Func | exp.Dot | exp.Case | exp.Window) and not item.is_star
            )
            if named and (name := label(item)) != "?column?":
                item.replace(exp.alias_(item.copy(), name))


def _node(
    node: exp.Expr, values: Mapping[str, DeclaredValue], caller: Caller, ctes: set[str]
) -> exp.Expr:
    match node:
        case exp.Table() | exp.CTE():
            return _named(node) if isinstance(node, exp.CTE) else _table(node, caller, ctes)
        case exp.Column():
            return _column(node, caller)
        case exp.Parameter() | exp.Placeholder():
            return duckdb_constant(values.get(node.name))
        case exp.Dot() if isinstance(node.this, exp.Identifier | exp.Dot | exp.Column):
            return _qualified(node)
        case exp.Cast():
            return _cast(node, caller)
        case _ if isinstance(node, FUNCTIONS):
            return rewritten_function(node)
        case exp.Collate():
            inner: exp.Expr = node.this
            return inner
        case exp.Operator():
            sign = node.args["operator"].lower().rpartition(".")[2].strip()
            return _operation(sign, node.this, node.expression) or node
        case exp.Bracket():
            first = 0 if counts_from_zero(node.this) else 1
            indexes = [_subscript(index, first) for index in node.expressions]
            return exp.Bracket(this=node.this, expressions=indexes, offset=1)
        case exp.DPipe() | exp.Concat() | exp.ConcatWs():
            return _joined(node)
        case exp.Predicate() if isinstance(node, _COMPARISONS):
            return _compared(node)
        case exp.CurrentDatabase() | exp.CurrentCatalog():
            return exp.Literal.string(caller.database)
        case exp.CurrentUser() | exp.SessionUser():
            return exp.Literal.string(caller.analyst)
        case exp.CurrentSchema():
            return exp.Literal.string("public")
        case exp.Anonymous():
            return rewritten_call(node, caller)
        case _:
            return node


def _table(node: exp.Table, caller: Caller, ctes: set[str]) -> exp.Expr:
    known = relation(node, ctes)
    if isinstance(node.this, exp.Paren):
        # A function whose value is computed on: generate_subscripts() of a vector, less one.
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("value"))
        column = alias.columns[0] if alias.columns else alias.this
        selected = exp.select(exp.alias_(node.this.copy(), column.name, quoted=True))
        return exp.Subquery(this=selected, alias=alias, joins=node.args.get("joins"))
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
    return rows_of(node, known, caller)


def _named(node: exp.CTE) -> exp.Expr:
    _name(node.args["alias"], node.alias)
    return node


def _name(node: exp.Expr, name: str) -> exp.Expr:
    """Rename a WITH query, or a table that can only be one, so that DuckDB has no table of it."""
    node.set("this", exp.to_identifier(NAMED + name.lower(), quoted=True))
    return node


def _column(node: exp.Column, caller: Caller) -> exp.Expr:
    if node.text("db"):
        node.set("db", None)
        node.set("catalog", None)
    if node.name.lower() in _OF_ROWS:
        return exp.cast(exp.Literal.number(1), "BIGINT")
    if not node.table and not node.this.args.get("quoted"):
        match node.name.lower():
            case "current_database" | "current_catalog":
                return exp.Literal.string(caller.database)
            case "current_user" | "session_user" | "user" | "current_role":
                return exp.Literal.string(caller.analyst)
            case "current_schema":
                return exp.Literal.string("public")
            case _:
                return node
    return node


def _qualified(node: exp.Dot) -> exp.Expr:
    """A function without its schema: pg_catalog.f(x) becomes f(x)."""
    head, called = node.this, node.expression
    name = head.name.lower() if isinstance(head, exp.Identifier | exp.Column) else ""
    if name not in _SPACES or isinstance(called, exp.Identifier):
        return node
    if isinstance(called, exp.Anonymous) and called.name.lower() in _NAMED_CALLS:
        known: exp.Expr = exp.func(called.name, *called.expressions, dialect="postgres")
        called = rewritten_function(known) if isinstance(known, FUNCTIONS) else known
    if isinstance(called, exp.Anonymous) and called.name.lower() == "string_agg":
        called = exp.GroupConcat(this=called.expressions[0], separator=called.expressions[-1])
    expression: exp.Expr = called
    return expression


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
        case _ if sign in _SIGNS:
            comparison = _SIGNS[sign](this=left, expression=right)
            return _quantified(comparison) if isinstance(right, exp.Any | exp.All) else comparison
        case _:
            return None


def _compared(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Like | exp.ILike):
        return node if isinstance(node.parent, exp.Escape) else _like(node)
    if is_procedure(node.this) or is_procedure(node.args.get("expression")):
        return compared(node)
    _compare_oids(node)
    is_quantified = isinstance(node.args.get("expression"), exp.Any | exp.All)
    return _quantified(node) if is_quantified else node


def _compare_oids(node: exp.Expr) -> None:
    """Compare x::regtype with 'text'::regtype by OID, as which the latter is here."""
    operands = [part for part in node.iter_expressions() if isinstance(part, exp.Anonymous)]
    if any(part.name in NAMES for part in operands):
        for part in operands:
            if part.name in NAMES.values():
                part.replace(part.expressions[0])


def _joined(node: exp.Expr) -> exp.Expr:
    """Texts that are joined, in which functions stand by name."""
    for part in list(node.iter_expressions()):
        part.replace(name_of(part))
    return node


def _like(node: exp.Expr) -> exp.Expr:
    """LIKE with PostgreSQL's escape, a backslash; DuckDB has none."""
    pattern = node.expression
    if isinstance(pattern, exp.Literal) and "\\" not in pattern.name:
        return node
    if isinstance(pattern, exp.Any | exp.All):
        raise Refused("LIKE ANY has no answer here", hint="write a LIKE … OR a LIKE …")
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _cast(node: exp.Cast, caller: Caller) -> exp.Expr:
    other = cast(node)
    if isinstance(other, exp.Anonymous) and other.name == "pg_get_userbyid":
        return role_name(other, caller)
    return other


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
