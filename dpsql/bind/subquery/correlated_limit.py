"""ORDER BY and LIMIT in a correlated subquery: the first rows for each row of the outer query.

    LATERAL (SELECT cost FROM visits v WHERE v.patient_id = p.patient_id ORDER BY cost LIMIT 2)

has the rows that `row_number() OVER (ORDER BY cost) <= 2` chooses for each patient. Over private
rows a window holds the rows of one unit, and all their columns break ties.
"""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.aggregate.aggregates import has_aggregate
from dpsql.bind.query.order_by import limit_of
from dpsql.bind.syntax.conjuncts import conjuncts
from dpsql.bind.syntax.parameter import Parameters

_ALIAS = "first row"
"""The alias of the subquery that `first_value` writes."""

_CLAUSES = ("group", "having", "qualify", "distinct", "windows", "with_")


class _OrderedQuery(Struct, frozen=True):
    """A SELECT with ORDER BY and LIMIT, which leaves the rows from `offset` + 1 to `last`."""

    select: exp.Select
    offset: int
    last: int


class _CorrelatedQuery(Struct, frozen=True):
    """A query whose WHERE equates columns of its `own` with `outer` ones, pair by pair.

    `conditions` are the other conjuncts of its WHERE.
    """

    ordered: _OrderedQuery
    own: tuple[exp.Column, ...]
    outer: tuple[exp.Column, ...]
    conditions: tuple[exp.Expr, ...]


def ranked(query: exp.Expr, parameters: Parameters) -> exp.Expr | None:
    """`query` with row_number() for its ORDER BY and LIMIT; None if it isn't of that form."""
    ordered = _ordered(query, parameters)
    if ordered is None:
        return None
    changed = ordered.select.copy()
    for clause in ("order", "limit", "offset"):
        changed.set(clause, None)
    changed.set("qualify", exp.Qualify(this=_between(_number(ordered.select), ordered)))
    return exp.Subquery(this=changed)


def first_value(query: exp.Expr, parameters: Parameters) -> exp.Expr | None:
    """`query`, of one column and LIMIT 1, as max() of that row's value; None for other queries."""
    correlated = _correlated_query(query, parameters)
    if correlated is None or correlated.ordered.last != 1:
        return None
    select = correlated.ordered.select
    if len(select.expressions) != 1:
        return None
    (item,) = select.expressions
    if item.is_star or item.find(exp.Window) is not None:
        return None
    inner = select.copy()
    for clause in ("order", "limit", "offset", "where"):
        inner.set(clause, None)
    keys = [exp.alias_(column.copy(), f"k{n}") for n, column in enumerate(correlated.own)]
    inner.set("expressions", [exp.alias_(item.unalias().copy(), "v"), *keys])
    if correlated.conditions:
        inner.set("where", exp.Where(this=exp.and_(*(c.copy() for c in correlated.conditions))))
    number = _number(select)
    number.set("partition_by", [column.copy() for column in correlated.own])
    inner.set("qualify", exp.Qualify(this=_between(number, correlated.ordered)))
    equal = (
        exp.EQ(this=exp.column(f"k{n}", _ALIAS), expression=column.copy())
        for n, column in enumerate(correlated.outer)
    )
    value = exp.Max(this=exp.column("v", _ALIAS))
    whole = exp.select(value).from_(inner.subquery(_ALIAS)).where(exp.and_(*equal))
    return exp.Subquery(this=whole)


def _correlated_query(query: exp.Expr, parameters: Parameters) -> _CorrelatedQuery | None:
    ordered = _ordered(query, parameters)
    if ordered is None:
        return None
    named = {table.alias_or_name.casefold() for table in ordered.select.find_all(exp.Table)}
    where = ordered.select.args.get("where")
    pairs: list[tuple[exp.Column, exp.Column]] = []
    rest: list[exp.Expr] = []
    for condition in [] if where is None else conjuncts(where.this):
        pair = _pair(condition, named)
        if pair is None and not _are_of(condition, named):
            return None
        if pair is None:
            rest.append(condition)
        else:
            pairs.append(pair)
    if not pairs:
        return None
    own, outer = zip(*pairs, strict=True)
    return _CorrelatedQuery(ordered, own, outer, tuple(rest))


def _pair(condition: exp.Expr, named: set[str]) -> tuple[exp.Column, exp.Column] | None:
    """The subquery's own column and the outer query's, if `condition` equates two such columns.

    `named` are the names of the subquery's tables, casefolded.
    """
    if not isinstance(condition, exp.EQ):
        return None
    sides = (condition.this, condition.expression)
    if not all(isinstance(side, exp.Column) for side in sides):
        return None
    outer = [side for side in sides if side.table and side.table.casefold() not in named]
    if len(outer) != 1:
        return None
    (own,) = (side for side in sides if side is not outer[0])
    return own, outer[0]


def _number(select: exp.Select) -> exp.Window:
    """row_number() in the order of `select`: ordinals and aliases have no meaning in OVER."""
    order = select.args["order"].copy()
    for term in order.expressions:
        term.set("this", _resolved(term.this, select.expressions).copy())
    return exp.Window(this=exp.RowNumber(), order=order)


def _resolved(term: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """The expression of the item that `term` names by its ordinal or its alias, else `term`."""
    if isinstance(term, exp.Literal) and term.is_int and 0 < int(term.name) <= len(items):
        return items[int(term.name) - 1].unalias()
    if isinstance(term, exp.Column) and not term.table:
        named = (i for i in items if i.alias and i.alias.casefold() == term.name.casefold())
        return next((item.unalias() for item in named), term)
    return term


def _ordered(query: exp.Expr, parameters: Parameters) -> _OrderedQuery | None:
    """The SELECT that `query` is, if it has ORDER BY, LIMIT and no groups or aggregates."""
    select = query.unnest()
    if not isinstance(select, exp.Select) or any(select.args.get(c) for c in _CLAUSES):
        return None
    order, items = select.args.get("order"), select.expressions
    if order is None or not select.args.get("limit") or any(map(has_aggregate, items)):
        return None
    terms = [term.this for term in order.expressions]
    # An ordinal's column is known once * is expanded; ORDER BY ALL means all of them.
    has_ordinal = any(isinstance(t, exp.Literal | exp.Var) for t in terms)
    is_open = has_ordinal and any(item.is_star for item in items)
    if is_open or any(isinstance(t, exp.Var) for t in terms):
        return None
    count, offset = limit_of(select, parameters)
    return None if count is None else _OrderedQuery(select, offset, offset + count)


def _are_of(condition: exp.Expr, named: set[str]) -> bool:
    """Whether each column of `condition` that stands with a table's name is of a table `named`."""
    tables = (column.table.casefold() for column in condition.find_all(exp.Column))
    return all(not table or table in named for table in tables)


def _between(number: exp.Expr, ordered: _OrderedQuery) -> exp.Expr:
    """Whether the row's `number` is one that LIMIT and OFFSET leave."""
    until = exp.LTE(this=number, expression=exp.Literal.number(ordered.last))
    if not ordered.offset:
        return until
    after = exp.Literal.number(ordered.offset)
    return exp.and_(until, exp.GT(this=number.copy(), expression=after))
