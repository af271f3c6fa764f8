"""Counts and sums that include the public rows that an outer join keeps.

    SELECT specialty, count(*) FROM doctors d LEFT JOIN visits v USING (doctor_id) GROUP BY 1

counts visits, and one row more for each doctor without any. One unit has visits to a limited number
of doctors, so the number of doctors with visits is one more noisy count of the same release:

    SELECT specialty, count(v.visit_id) + there.n - count(DISTINCT d.doctor_id)
    FROM doctors d JOIN visits v USING (doctor_id)
    JOIN (SELECT specialty, count(*) AS n FROM doctors GROUP BY 1) AS there USING (specialty) …

A sum includes the values of the doctors without visits. These are the doctors whose noisy count of
visits, a release of its own, isn't above 0 by more than its noise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fractions import Fraction

from msgspec import Struct, field

from dpsql.analysis.domains.known_values import Fixed, constant, never_true
from dpsql.analysis.lineage.functional_dependency import declared, is_n_to_one, unique_key
from dpsql.bind.column_ids import Names
from dpsql.bind.expression.coercion import COUNT_TYPE, sum_type
from dpsql.plan.aggregate import (
    ARGUMENTS_OF_EXTREMES,
    PAIRED,
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OutputKind,
)
from dpsql.plan.expression import (
    Arithmetic,
    ArithmeticOperator,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
    When,
    conjunction,
    conjuncts,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    OuterJoin,
    OuterKind,
    Output,
    Plan,
    Project,
    Release,
)
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns, rewrite_expression
from dpsql.schema.sql_type import Boolean, Double
from dpsql.structs import replace

_ADDED = frozenset({AggregateFunction.COUNT, AggregateFunction.SUM, AggregateFunction.AVG})


class UnmatchedRows(Struct, frozen=True):
    """The rows of the public `plan` that have no private partner.

    `fixed` are the columns that have one value in all of them, such as NULL for private columns.
    """

    plan: Plan
    fixed: Fixed

    @property
    def key(self) -> Column | None:
        """The column that is a key of `plan` by itself; None if there is none."""
        key = unique_key(self.plan, declared) or _key_of_join(self.plan)
        return next(iter(key)) if key is not None and len(key) == 1 else None

    def known(self, expression: Expression) -> Expression:
        """`expression` with its fixed columns replaced by their values in unmatched rows."""

        def value(part: Expression) -> Expression:
            return self.fixed.get(part, part) if isinstance(part, Column) else part

        return rewrite_expression(value, expression)

    def chosen(self, conditions: Iterable[Expression]) -> Expression | None:
        """The condition by which an unmatched row satisfies all `conditions`; None if each does."""
        restated = tuple(map(self.known, conditions))
        constants = [constant(condition, {}) for condition in restated]
        unsure = [a for a, k in zip(restated, constants, strict=True) if k is None or not k.value]
        return conjunction(tuple(unsure)) if unsure else None

    def add_nothing(self, call: AggregateCall) -> bool:
        """Whether unmatched rows leave the value of `call` as it is, as NULLs or zeros in a sum."""
        if call.filter is not None and never_true(call.filter, self.fixed):
            return True
        values = [constant(argument, self.fixed) for argument in call.arguments]
        absent = [value is not None and value.value is None for value in values]
        if call.function in PAIRED | ARGUMENTS_OF_EXTREMES:
            return any(absent)
        zero = [value is not None and not value.value for value in values]
        return bool(absent) and (absent[0] or (call.function is AggregateFunction.SUM and zero[0]))

    def can_add(self, call: AggregateCall) -> bool:
        """Whether `call` over all rows follows from `call` over matched and over public rows."""
        read = [*call.arguments, *([] if call.filter is None else [call.filter])]
        public = frozenset(output_columns(self.plan))
        return (
            call.function in _ADDED
            and not call.distinct
            and call.output_kind is OutputKind.VALUE
            and columns(*map(self.known, read)) <= public
            and self.key is not None
        )


def with_unmatched(
    release: Release, unmatched: UnmatchedRows, added: Collection[AggregateOutput], names: Names
) -> Project:
    """The rows of `release`, where the aggregates in `added` include unmatched rows."""
    parts = _SplitCalls(release, unmatched, names)
    outputs = [Output(k.column, parts.fresh[k.column], k.at) for k in release.keys]
    for output in release.aggregates:
        value = parts.all_rows(output.call) if output in added else parts.joined(output.call)
        outputs.append(Output(output.column, value, output.call.at))
    return Project(parts.plan(), tuple(outputs))


class _SplitCalls(Struct):
    """The aggregates of `release` as aggregates over three sets of rows.

    `noisy` are over joined rows, `public` over all public rows, `alone` over unmatched public rows.
    `fresh` are new columns for the keys.
    """

    release: Release
    unmatched: UnmatchedRows
    names: Names
    noisy: list[AggregateOutput] = field(default_factory=list)
    public: list[AggregateOutput] = field(default_factory=list)
    alone: list[AggregateOutput] = field(default_factory=list)
    fresh: dict[Column, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.fresh = {k.column: self.names.like(k.column) for k in self.release.keys}

    def joined(self, call: AggregateCall) -> Column:
        """`call` of the joined rows."""
        return self._call_column(self.noisy, call)

    def all_rows(self, call: AggregateCall) -> Expression:
        """`call` of the joined rows and the unmatched ones."""
        if call.function is AggregateFunction.COUNT:
            return self._count(call)
        if call.function is AggregateFunction.SUM:
            return self._sum(call)
        total = sum_type(call.arguments[0].type)
        assert total is not None, "AVG takes what SUM takes"
        summed = self._sum(replace(call, function=AggregateFunction.SUM, type=total))
        number = self._count(replace(call, function=AggregateFunction.COUNT, type=COUNT_TYPE))
        parts = Cast(summed, Double()), Cast(number, Double())
        return Cast(Arithmetic(ArithmeticOperator.DIVIDE, *parts, Double()), call.type)

    def plan(self) -> Plan:
        """The groups with all three kinds of aggregates."""
        keys = tuple(replace(k, column=self.fresh[k.column]) for k in self.release.keys)
        listed = Aggregate(self.unmatched.plan, keys, ()) if keys else None
        rows: Plan = Release(self.release.source, keys, tuple(self.noisy), listed)
        for source, aggregates in ((self.unmatched.plan, self.public), (self._unmet(), self.alone)):
            if aggregates:
                own = tuple(replace(k, column=self.names.like(k.column)) for k in keys)
                pairs = zip(keys, own, strict=True)
                on = tuple(_same(mine.column, other.column) for mine, other in pairs)
                groups = Aggregate(source, own, tuple(aggregates))
                always: Expression = Literal(True, Boolean())
                rows = OuterJoin(OuterKind.LEFT, rows, groups, on or (always,), None)
        return rows

    def _count(self, call: AggregateCall) -> Expression:
        present = tuple(Not(IsNull(argument)) for argument in call.arguments)
        conditions = (*present, *(() if call.filter is None else (call.filter,)))
        counted = self.unmatched.chosen(conditions)
        rows = replace(call, arguments=(), filter=counted)
        met = self._call_column(self.noisy, replace(rows, arguments=(self._key,), distinct=True))
        unmet = _added(ArithmeticOperator.SUBTRACT, self._call_column(self.public, rows), met)
        return _added(ArithmeticOperator.ADD, self.joined(call), unmet)

    def _sum(self, call: AggregateCall) -> Expression:
        known = tuple(map(self.unmatched.known, call.arguments))
        condition = self.unmatched.chosen(() if call.filter is None else (call.filter,))
        mine = self.joined(call)
        theirs = self._call_column(self.alone, replace(call, arguments=known, filter=condition))
        both = _added(ArithmeticOperator.ADD, mine, theirs)
        branches = (When(IsNull(theirs), mine), When(IsNull(mine), theirs))
        return Case(branches, both, call.type)

    def _unmet(self) -> Plan:
        """The public rows whose noisy count of partners isn't above 0 by more than its noise."""
        public, own = self.unmatched.plan, self.names.like(self._key)
        key = (Output(own, self._key),)
        call = AggregateCall(
            AggregateFunction.COUNT, (), False, None, Double(), output_kind=OutputKind.LOW
        )
        low = self.names.column("count", call.type)
        listed = Aggregate(public, key, ())
        counted = Release(self.release.source, key, (AggregateOutput(low, call),), listed)
        with_counts = OuterJoin(OuterKind.LEFT, public, counted, (_same(self._key, own),), None)
        not_positive = Compare(Comparison.LESS_EQUAL, low, Literal(Fraction(0), Double()))
        return Filter(with_counts, Or((IsNull(low), not_positive)))

    @property
    def _key(self) -> Column:
        key = self.unmatched.key
        assert key is not None, "can_add has looked"
        return key

    def _call_column(self, of: list[AggregateOutput], call: AggregateCall) -> Column:
        known = next((output.column for output in of if output.call == call), None)
        if known is None:
            known = self.names.column(call.function.value, call.type)
            of.append(AggregateOutput(known, call))
        return known


def _key_of_join(plan: Plan) -> frozenset[Column] | None:
    """The key of a join: of the one source whose rows have one partner at most in all others."""
    on: tuple[Expression, ...] = ()
    while isinstance(plan, Filter):
        on = (*on, *conjuncts(plan.predicate))
        plan = plan.source
    match plan:
        case Join(sources=sources, on=own):
            sides = [(s, [other for other in sources if other is not s]) for s in sources]
        case OuterJoin(kind=OuterKind.LEFT, left=left, right=right, on=own):
            sides, on = [(left, [right])], ()
        case _:
            return None
    for source, others in sides:
        key = unique_key(source, declared) or _key_of_join(source)
        there = frozenset(output_columns(source))
        if key is not None and is_n_to_one(there, others, (*own, *on), declared):
            return key
    return None


def _same(left: Column, right: Column) -> Expression:
    return Compare(Comparison.NOT_DISTINCT, left, right)


def _added(op: ArithmeticOperator, left: Expression, right: Expression) -> Expression:
    return Arithmetic(op, left, right, left.type)
