"""The public row of the greatest score, where scores are weighted counts of private rows.

    SELECT price FROM prices
    ORDER BY (SELECT count(*) * price FROM bids WHERE bid >= price) DESC LIMIT 1

No count is shown, only which row has the greatest: one private selection instead of a count for
each row. What isn't of this form is bound as any other query.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.expression.expression import COMPARISONS, ExpressionBinder
from dpsql.bind.from_clause.from_clause import FromClause
from dpsql.bind.query.order_by import limit_of
from dpsql.bind.query.select_list import Item, bind_items, default_name
from dpsql.bind.scope import Scope, table_of
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.conjuncts import conjuncts as parts_of
from dpsql.bind.syntax.parse import span
from dpsql.errors import Error
from dpsql.plan.expression import Comparison, Expression, conjuncts
from dpsql.plan.numeric_types import is_number
from dpsql.plan.operator import Candidates, Output, Plan, Project, Release
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, rewrite_top_down
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

_MIRRORED = {
    Comparison.GREATER_EQUAL: Comparison.LESS_EQUAL,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_EQUAL: Comparison.GREATER_EQUAL,
    Comparison.LESS: Comparison.GREATER,
}

_ORDERED = Integer | Decimal | Double | Date | Timestamp
"""Types whose values one threshold after the other is passed by, in all engines alike."""

_SHOWN = _ORDERED | Boolean | Varchar
"""Types of columns whose values are known as they are in public rows."""


class _Score(Struct, frozen=True):
    """`weights`, multiplied, times the count of the rows of `select` that fulfil `conditions`."""

    select: exp.Select
    weights: tuple[exp.Expr, ...]
    conditions: tuple[exp.Expr, ...]


class _Threshold(Struct, frozen=True):
    """The condition `value comparison bound` of a private row's value and a public row's bound.

    `rest` are the conditions on private rows alone.
    """

    value: exp.Expr
    comparison: Comparison
    bound: exp.Expr
    rest: tuple[exp.Expr, ...]


def private_selection(node: exp.Select, context: Context) -> BoundQuery | None:
    """The release of the row that `node` chooses by private counts; None for any other query."""
    score = _score(node)
    if score is None or _is_nested(node, score):
        return None
    try:
        return _bound(node, score, context)
    except Error:
        return None  # whoever binds it as any other query says what is wrong


def _score(node: exp.Select) -> _Score | None:
    """The score by which `node` orders its rows; None if that isn't a weighted count."""
    clauses = {name for name, value in node.args.items() if value}
    if clauses - {"expressions", "from_", "joins", "where", "order", "limit", "with_"}:
        return None
    order = node.args.get("order")
    if order is None or "from_" not in clauses or len(order.expressions) != 1:
        return None
    (term,) = order.expressions
    if not isinstance(term, exp.Ordered) or term.args.get("nulls_first"):
        return None
    outside = [*_factors(term.this)]
    queries = [query for query in map(_plain_select, outside) if query is not None]
    if len(queries) != 1:
        return None
    (select,) = queries
    inside = [*_factors(select.expressions[0].unalias())]
    counts = [(factor, _counted(factor)) for factor in inside]
    conditions = [counted for _, counted in counts if counted is not None]
    if len(conditions) != 1:
        return None
    weights = [factor for factor in outside if _plain_select(factor) is not select]
    weights += [factor for factor, counted in counts if counted is None]
    if any(weight.find(exp.AggFunc, exp.Query, exp.Window) for weight in weights):
        return None
    return _Score(select, tuple(weights), conditions[0])


def _plain_select(node: exp.Expr) -> exp.Select | None:
    """The SELECT of one column, FROM and WHERE that `node` is; None for anything else."""
    while isinstance(node, exp.Subquery):
        if {name for name, value in node.args.items() if value} != {"this"}:
            return None
        node = node.this
    if not isinstance(node, exp.Select) or len(node.expressions) != 1:
        return None
    clauses = {name for name, value in node.args.items() if value}
    return None if clauses - {"expressions", "from_", "joins", "where"} else node


def _is_nested(node: exp.Select, score: _Score) -> bool:
    """Whether a query within `node` has a score, too: to try both takes twice as long as one."""
    own = {id(node), id(score.select)}
    return any(_score(q) is not None for q in node.find_all(exp.Select) if id(q) not in own)


def _factors(node: exp.Expr) -> Iterator[exp.Expr]:
    """The factors of a product; -x is -1 times x."""
    match node:
        case exp.Mul():
            yield from _factors(node.this)
            yield from _factors(node.expression)
        case exp.Neg():
            yield exp.Neg(this=exp.Literal.number(1))
            yield from _factors(node.this)
        case exp.Paren():
            yield from _factors(node.this)
        case _:
            yield node


def _counted(node: exp.Expr) -> tuple[exp.Expr, ...] | None:
    """The conditions of the rows that `node` counts, which may be none; None if it's no count."""
    match node:
        case exp.Filter(this=exp.Count() as count, expression=exp.Where() as where):
            counted = _counted(count)
            return None if counted is None else (*counted, *parts_of(where.this))
        case exp.Count(this=exp.Star()):
            return ()
        case exp.Count(this=exp.Column() as column) if not node.expressions:
            return (exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null())),)
        case _:
            return None


def _bound(node: exp.Select, score: _Score, context: Context) -> BoundQuery | None:
    for term in node.args["order"].expressions:
        require_args(term, "this", "desc", "nulls_first")
    if limit_of(node, context.parameters) != (1, 0):
        return None
    outer = FromClause(context.subquery_context(None), Scope(parent=context.outer))
    outer.bind(node)
    inner = FromClause(context.subquery_context(None), Scope(parent=outer.scope))
    inner.bind(score.select)
    of_private = Visibility.PRIVATE in map(visibility, inner.sources)
    if not of_private or any(visibility(s) is not Visibility.PUBLIC for s in outer.sources):
        return None
    where = score.select.args.get("where")
    written = [] if where is None else [*parts_of(where.this)]
    threshold = _threshold([*written, *score.conditions], inner.scope)
    if threshold is None or any(_is_inner(weight, inner.scope) for weight in score.weights):
        return None
    private = _private_rows(score.select, threshold, context)
    binder = ExpressionBinder(outer.scope, lambda _: None, context.parameters)
    filtered = node.args.get("where")
    rows = outer.where(() if filtered is None else conjuncts(binder.condition(filtered.this)))
    items = [item for each in node.expressions for item in bind_items(each, binder, outer.scope)]
    value, bound = binder.unify(
        [private.columns[0], binder.bind(threshold.bound)], [threshold.value, threshold.bound]
    )
    candidates = Candidates(
        rows,
        value,
        threshold.comparison,
        bound,
        binder.bind(_product(score.weights)),
        lowest=not node.args["order"].expressions[0].args.get("desc"),
        outputs=_read(items, rows, context),
        at=span(node.args["order"]),
    )
    if outer.scope.correlated or not _has_rule(candidates, private.plan, rows):
        return None
    return _selected(items, Release(private.plan, (), (), candidates=candidates), context)


def _threshold(conditions: list[exp.Expr], scope: Scope) -> _Threshold | None:
    """The one of `conditions` that compares a value of `scope` with one of the public row.

    None if several of them read the public row, or if one does otherwise.
    """
    around = [part for part in conditions if not _is_own(part, scope)]
    if len(around) != 1:
        return None
    (compared,) = around
    comparison = COMPARISONS.get(type(compared))
    if comparison not in _MIRRORED or compared.find(exp.Query) is not None:
        return None
    value, bound = compared.this, compared.expression
    if _is_inner(bound, scope):
        value, bound, comparison = bound, value, _MIRRORED[comparison]
    if not _is_inner(value, scope) or not _is_own(value, scope) or _is_inner(bound, scope):
        return None
    rest = tuple(part for part in conditions if part is not compared)
    return _Threshold(value, comparison, bound, rest)


def _is_own(node: exp.Expr, scope: Scope) -> bool:
    """Whether all columns of `node` are of `scope`, or of queries within `node`."""
    own = (c for c in node.find_all(exp.Column) if c.find_ancestor(exp.Query) is _query(node))
    return all(scope.knows(column.name, table_of(column)) for column in own)


def _is_inner(node: exp.Expr, scope: Scope) -> bool:
    """Whether a column of `node` is of `scope`."""
    return any(scope.knows(c.name, table_of(c)) for c in node.find_all(exp.Column))


def _query(node: exp.Expr) -> exp.Expr | None:
    return node.find_ancestor(exp.Query)


def _private_rows(select: exp.Select, threshold: _Threshold, context: Context) -> BoundQuery:
    """The private rows of `select`, each as the value that is compared."""
    rows = select.copy()
    name = default_name(threshold.value)
    rows.set("expressions", [exp.alias_(threshold.value.copy(), name, quoted=True)])
    rows.set("where", None)
    if threshold.rest:
        rows.set("where", exp.Where(this=exp.and_(*(part.copy() for part in threshold.rest))))
    return context.bind_query(rows, context.subquery_context(None))


def _product(weights: tuple[exp.Expr, ...]) -> exp.Expr:
    product: exp.Expr = exp.Literal.number(1)
    for number, weight in enumerate(weights):
        factor = exp.paren(weight.copy())
        product = exp.Mul(this=product, expression=factor) if number else factor
    return product


def _read(items: list[Item], rows: Plan, context: Context) -> tuple[Output, ...]:
    """The columns of the chosen row that `items` read, under new ids."""
    read = columns(*(item.expression for item in items))
    shown = [column for column in output_columns(rows) if column in read]
    return tuple(Output(context.names.like(c), c) for c in shown or output_columns(rows)[:1])


def _has_rule(candidates: Candidates, private: Plan, rows: Plan) -> bool:
    """Whether all types have a rule, and each expression reads the rows that it may."""
    there, own = frozenset(output_columns(rows)), frozenset(output_columns(private))
    return (
        visibility(private) is Visibility.PRIVATE
        and visibility(rows) is Visibility.PUBLIC
        and columns(candidates.value) <= own
        and columns(candidates.threshold, candidates.weight) <= there
        and bool(columns(candidates.threshold))
        and isinstance(candidates.threshold.type, _ORDERED)
        and candidates.value.type == candidates.threshold.type
        and is_number(candidates.weight.type)
        and all(isinstance(output.column.type, _SHOWN) for output in candidates.outputs)
    )


def _selected(items: list[Item], release: Release, context: Context) -> BoundQuery:
    """The SELECT list over the chosen row."""
    meaning: dict[Expression, Expression] = {o.expression: o.column for o in release.chosen}
    outputs = tuple(
        Output(
            context.names.column(item.name, item.expression.type),
            rewrite_top_down(meaning.get, item.expression),
            item.at,
        )
        for item in items
    )
    return BoundQuery(Project(release, outputs), tuple(item.name for item in items))
