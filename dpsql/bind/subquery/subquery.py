"""Subqueries in expressions: EXISTS, IN, and scalar ones, correlated or not.

A private subquery may be correlated with private rows of the same unit only, proved by an equality
of columns that identify the unit. Any other subquery must be public, or a release of its own:

    SELECT count(*) FROM nation WHERE EXISTS (SELECT 1 FROM customer WHERE c_custkey = 1)

would answer 25 or 0, exactly, and tell whether customer 1 is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field
from sqlglot import exp

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.unit_identity import identifies_unit, unit_valued_columns
from dpsql.bind.context import BoundQuery, Context, SingleRow
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.from_clause.values_clause import row_count
from dpsql.bind.proof.join_ownership import Pair, is_same_unit, require_subquery_unit
from dpsql.bind.scope import Scope
from dpsql.bind.subquery.correlated_limit import first_value
from dpsql.bind.subquery.private_existence import Listed, counted_member, exists_by_count, item_of
from dpsql.bind.subquery.quantified_comparison import (
    Quantifier,
    column_counts,
    neither,
    three_valued,
)
from dpsql.bind.subquery.scalar_join import answering, check_there, one_value, with_one_row
from dpsql.bind.subquery.single_row import grouping_of, has_one_group, single
from dpsql.bind.subquery.subquery_kind import (
    check_unlimited,
    has_one_row,
    only_truth_counts,
    without_distinct,
    without_limit,
)
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, UnknownColumn, UnknownTable
from dpsql.plan.expression import (
    Column,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Or,
    matched,
)
from dpsql.plan.operator import Filter, Limit, MarkJoin, Plan
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns
from dpsql.privacy.domain import UNKNOWN
from dpsql.schema.sql_type import Boolean
from dpsql.structs import replace

JoinSubquery = Callable[[Plan], Plan]
"""Joins a subquery's rows to the rows of the outer query."""


class Subqueries(Struct):
    """The subqueries of one SELECT's expressions: each becomes a column, and a join.

    `public` are the joins of public subqueries, `attachments` those of all others.
    """

    context: Context
    scope: Scope
    sources: Sequence[Plan] | None = None
    """The sources of FROM, where its rows are the outer rows; None where these are groups."""
    public: list[JoinSubquery] = field(default_factory=list)
    attachments: list[JoinSubquery] = field(default_factory=list)
    columns: set[Column] = field(default_factory=set)

    def bind(self, node: exp.Expr, binder: ExpressionBinder) -> Expression | None:
        """The value of the subquery `node`; None if it isn't one."""
        match node:
            case exp.Exists():
                require_args(node, "this")
                return self._any_row(node, binder)
            case exp.Subquery() | exp.Select():
                return self._first(node) or self._scalar(node, self._bound(node))
            case _:
                return self._quantified(node, binder)

    def attach(self, source: Plan, conditions: Sequence[Expression] = ()) -> Plan:
        """The rows of `source` that satisfy `conditions`, with the columns of all subqueries.

        Each condition is applied as soon as its columns are there, after public subqueries first: a
        release then lists keys of the rows that are left only.
        """
        for attachment in (*self.public, *self.attachments):
            source = attachment(source)
            readable = frozenset(output_columns(source))
            source = filtered(source, [c for c in conditions if columns(c) <= readable])
            conditions = [c for c in conditions if not columns(c) <= readable]
        return filtered(source, conditions)

    def _first(self, node: exp.Expr) -> Expression | None:
        """The value of the subquery `node` with ORDER BY and LIMIT 1; None if it isn't one."""
        query = first_value(node, self.context.parameters)
        if query is None:
            return None
        try:
            return self._scalar(query, self._bound(query))
        except (UnknownColumn, UnknownTable):
            return None  # a name without a table's is one of the outer query

    def _any_row(self, node: exp.Exists, binder: ExpressionBinder) -> Expression:
        inner = self._bound(without_distinct(node.this), any_row=True)
        if has_one_row(node.this):
            return Literal(True, Boolean())
        by_count = exists_by_count(node.this) if self._reads_other_units(inner, []) else None
        return self._exists(node, inner, [], []) if by_count is None else binder.bind(by_count)

    def _quantified(self, node: exp.Expr, binder: ExpressionBinder) -> Expression | None:
        """IN, ANY and ALL: NULL if no row is known to satisfy the comparison, but some row may.

        Where NULL means what FALSE does, NOT IN holds where no row is equal, nor may be.
        """
        quantifier = Quantifier.of(node)
        if quantifier is None or (isinstance(node, exp.Not) and not only_truth_counts(node)):
            return None
        values = [binder.bind(part) for part in quantifier.operands]
        inner = self._bound(without_distinct(quantifier.query))
        if len(inner.names) != len(values):
            raise column_counts(node, len(values), len(inner.names))
        truth = self._counted(node, quantifier, values, inner, binder)
        if truth is None:
            truth = self._some_row(node, quantifier, values, inner, binder)
        return neither(truth) if quantifier.negated else truth

    def _counted(
        self,
        node: exp.Expr,
        quantifier: Quantifier,
        values: list[Expression],
        inner: BoundQuery,
        binder: ExpressionBinder,
    ) -> Expression | None:
        """IN over private rows of other units, by noisy counts; None for anything else."""
        if quantifier.op is not Comparison.EQUAL or len(values) > 1:
            return None
        column = inner.columns[0]
        item = (
            item_of(quantifier.query)
            if self._reads_other_units(inner, [(values[0], column)])
            else None
        )
        if item is None:
            return None
        known = column_domains(inner.plan).get(column.id, UNKNOWN)
        distinguishes_null = quantifier.negated or not only_truth_counts(node)
        rows = Listed(
            quantifier.query,
            item,
            asks_nulls=distinguishes_null and known.nullable,
            asks_any=distinguishes_null and self._may_be_null(values[0]),
        )
        return counted_member(values[0], rows, self.scope, binder.bind)

    def _some_row(
        self,
        node: exp.Expr,
        quantifier: Quantifier,
        values: list[Expression],
        inner: BoundQuery,
        binder: ExpressionBinder,
    ) -> Expression:
        """Whether some row satisfies the comparison, or, for a negated one in a condition, may."""
        is_one_row = bool(inner.correlated) and has_one_row(quantifier.query)
        is_truth = only_truth_counts(node)
        row = [self._scalar(quantifier.query, inner)] if is_one_row else inner.columns
        each = row[: len(values)]
        pairs: list[Pair] = []
        for part, value, other in zip(quantifier.operands, values, each, strict=True):
            a, b = binder.unify([value, other], [part, part])
            pairs.append((a, b))
        # Only equal columns prove that rows which meet share their unit.
        equal = list(zip(values, each, strict=True)) if quantifier.op is Comparison.EQUAL else []

        # Rows of other units are in the list too, and aren't read: NULL may be among them.
        is_whole = len(equal) == 1 and not inner.correlated and _is_private(inner)

        def any_row(condition: Expression, *, perhaps: bool = False) -> Expression:
            if is_one_row:
                return condition
            exists = self._exists(node, inner, [condition], equal)
            is_unknown = perhaps and is_whole and self._may_be_null(values[0])
            return Or((IsNull(values[0]), exists)) if is_unknown else exists

        if is_truth and quantifier.negated:
            return any_row(quantifier.may_hold(pairs), perhaps=True)
        if is_truth or is_one_row:
            return any_row(quantifier.holds(pairs))
        sure = any_row(quantifier.holds(pairs))
        return three_valued(sure, any_row(quantifier.unknown(pairs), perhaps=True))

    def _may_be_null(self, value: Expression) -> bool:
        """Whether `value` may be NULL in the outer rows, which all have their unit's own column."""
        if any(value in unit_valued_columns(source) for source in self.sources or ()):
            return False
        around = [column_domains(source) for source in self.sources or ()]
        return domain(value, {k: d for e in around for k, d in e.items()}).nullable

    def _reads_other_units(self, inner: BoundQuery, pairs: list[Pair]) -> bool:
        """Whether each outer row, of nobody or another unit, reads private rows of many units.

        A noisy count of these rows answers it.
        """
        if self.sources is None or not _is_private(inner):
            return False
        equal = [*pairs, *matched(inner.correlated)]
        single = identifies_unit(inner.plan, (side for pair in equal for side in pair))
        return not single and not is_same_unit(self.sources, inner.plan, equal)

    def _exists(
        self, node: exp.Expr, inner: BoundQuery, on: list[Expression], pairs: list[Pair]
    ) -> Column:
        conditions = (*inner.correlated, *on)
        equal = [*pairs, *matched(inner.correlated)]
        column = self.context.names.column("exists", Boolean())
        is_public = visibility(inner.plan) is Visibility.PUBLIC
        first = is_public and not columns(*conditions) & self.columns
        self.columns.add(column)

        def attach(source: Plan) -> Plan:
            check_there(node, source, inner, conditions)
            require_subquery_unit(node, source, inner.plan, equal)
            relation = answering(inner, source, self.context, node)
            return MarkJoin(source, relation, conditions, column)

        (self.public if first else self.attachments).append(attach)
        return column

    def _scalar(self, node: exp.Expr, inner: BoundQuery) -> Expression:
        if len(inner.names) != 1:
            raise unsupported(node, "a scalar subquery of several columns", "select one of them")
        self.context.values.append(grouping_of(inner.plan) or inner.plan)
        equal = matched(inner.correlated)
        if not single(inner, equal) and not inner.correlated:
            if has_one_group(inner.plan):
                inner = replace(inner, plan=Limit(inner.plan, 1, 0))
            elif _is_public(inner):
                inner = self._one_row(node, inner)
        value = inner.columns[0]
        if not single(inner, equal):
            raise Refused(
                "a scalar subquery that can have several rows",
                at=span(node),
                hint="aggregate in it, without GROUP BY: (SELECT avg(…) FROM …)",
                note="subqueries",
            )

        def attach(source: Plan) -> Plan:
            return with_one_row(node, source, inner, self.context)

        self.attachments.append(attach)
        self.columns.add(value)
        return one_value(node, inner, value)

    def _one_row(self, node: exp.Expr, inner: BoundQuery) -> BoundQuery:
        """The first of public rows; of two or more the statement fails."""
        self.context.single.append(SingleRow(row_count(inner.plan, self.context), span(node)))
        return replace(inner, plan=Limit(inner.plan, 1, 0))

    def _bound(self, query: exp.Expr, *, any_row: bool = False) -> BoundQuery:
        """The rows of `query`; `any_row`: any of them is enough, so that LIMIT makes no difference.

        A correlated query is evaluated for each outer row, and so its LIMIT would have to be.
        """
        if any_row or has_one_row(query):
            query = without_limit(query)
        bound = self.context.bind_query(query, self.context.subquery_context(self.scope))
        if bound.correlated:
            check_unlimited(query)
        return bound


def _is_private(inner: BoundQuery) -> bool:
    return visibility(inner.plan) is Visibility.PRIVATE


def _is_public(inner: BoundQuery) -> bool:
    return visibility(inner.plan) is Visibility.PUBLIC and not inner.correlated


def filtered(plan: Plan, conditions: Iterable[Expression]) -> Plan:
    """The rows of `plan` that satisfy all `conditions`."""
    for condition in conditions:
        plan = Filter(plan, condition)
    return plan
