"""Aggregates become integer statistics, shared where they can be, and formulas over them.

sum(l_quantity), avg(l_quantity), count(*)   with l_quantity in [1, 50], never NULL

Ones in [0, 1]                               count(*) = s0
Amount(l_quantity, centre=25) in [-24, 25]   sum = s1 + 25 s0, avg = 25 + s1 / s0
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.analysis.randomized_response import Responses
from dpsql.bounding.randomized_response import of_responses
from dpsql.bounding.randomized_response_keys import AnswerKey
from dpsql.bounding.statistics.clip_condition import clipped
from dpsql.bounding.statistics.conditional_aggregate import with_filter
from dpsql.bounding.statistics.discretization import Range, range_of
from dpsql.bounding.statistics.distinct_sum import distinct_sum, most_values
from dpsql.bounding.statistics.public_row_count import of_all_rows
from dpsql.errors import Refused
from dpsql.plan.aggregate import (
    LEFT_OUT,
    PAIRED,
    SPREADS,
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OpenFunction,
    Part,
)
from dpsql.plan.bounded_release.estimator import Axis, Formula, FormulaOutput, Linear, Mean, Moments
from dpsql.plan.bounded_release.statistic import (
    Amount,
    Distinct,
    Measured,
    Ones,
    Over,
    Presence,
    Present,
    Product,
    Square,
    Statistic,
    Term,
)
from dpsql.plan.expression import (
    Column,
    Expression,
    IsNull,
    Not,
    conjunction,
    conjuncts,
)
from dpsql.plan.expression_text import describe
from dpsql.schema.sql_type import Double

_COUNTED_FIRST = frozenset({AggregateFunction.COUNT, AggregateFunction.AVG}) | SPREADS


@dataclass(slots=True)
class Statistics:
    """Collects the statistics of one release; equal ones are one, and share one draw of noise.

    `units` are the columns that name the privacy unit; `nonnegative` counts are 0 at least.
    A unit counts for `per_unit` rows in a group at most: where that is 1, rows and units are one.
    `rows` is how many rows there are in all, where that is public.
    """

    domains: Environment
    units: frozenset[Expression] = frozenset()
    found: list[Statistic] = field(default_factory=list)
    squared: set[Expression] = field(default_factory=set)
    nonnegative: bool = False
    per_unit: int = 0
    rows: int | None = None
    responses: Responses = field(default_factory=dict)
    answer_key: AnswerKey | None = None

    def formulas(self, outputs: tuple[AggregateOutput, ...]) -> tuple[FormulaOutput, ...]:
        """The formula of each aggregate."""
        calls = [with_filter(output.call) for output in outputs]
        # A double's sum is as coarse as its squares', so that both are one statistic.
        self.squared |= {
            argument
            for call in calls
            if call.function in SPREADS | PAIRED
            for argument in call.arguments
            if isinstance(argument.type, Double)
        }
        # Counts first: a sum that finds a count of its rows is centred by it, at less noise.
        for call in calls:
            if call.function in _COUNTED_FIRST and call.part not in LEFT_OUT:
                self._formula(call)
        return tuple(
            self._output(output.column, call) for output, call in zip(outputs, calls, strict=True)
        )

    def presence(self, *, of_rows: bool = False) -> int:
        """The place of the number of units in each group, or `of_rows` where these are counted."""
        of_rows = of_rows and self._find(Ones(), None) is not None
        return self._place(Ones() if of_rows or self.per_unit == 1 else Presence(), None)

    def _output(self, column: Column, call: AggregateCall) -> FormulaOutput:
        match call.part:
            case Part.VALUE | Part.LOW | Part.HIGH | Part.STDDEV:
                return FormulaOutput(column, self._formula(call), call.part)
            case Part.CLIPPED:
                place = self._place(Ones(), clipped(call, self._where(call.filter)))
            case Part.OVER:
                place = self._place(Over(), None)
            case missing:
                assert_never(missing)
        return FormulaOutput(column, Linear(((place, 1),), Fraction(1), call.type))

    def _formula(self, call: AggregateCall) -> Formula:
        said = of_responses(
            call, self.responses, self.answer_key, self._of_said, self._largest, self._ends
        )
        return said or self._of_said(call)

    def _of_said(self, call: AggregateCall) -> Formula:
        """Randomised answers are taken as they are."""
        return self._of_all(call) or self._of_some(call)

    def _largest(self, call: AggregateCall) -> tuple[Fraction, int]:
        """The magnitude of what is summed of a row, and the rows that a unit has in a group."""
        if call.function is AggregateFunction.COUNT:
            return Fraction(1), self.per_unit
        found = self._range(call.arguments[0], call)
        return max(abs(found.low), abs(found.high)) * found.step, self.per_unit

    def _ends(self, argument: Expression) -> tuple[Fraction, Fraction] | None:
        """What values of `argument` are clamped to, if it has bounds."""
        bounds = domain(argument, self.domains).bounds
        return None if bounds is None else bounds.ends

    def _of_all(self, call: AggregateCall) -> Formula | None:
        """The formula of all rows, where their number is public."""
        dropped = any(domain(argument, self.domains).nullable for argument in call.arguments)
        if self.rows is None or dropped or self._plain(call.filter) is not None:
            return None
        return of_all_rows(
            call,
            self.rows,
            0 if self.nonnegative else None,
            lambda squared: range_of(call.arguments[0], self.domains, call.at, squared=squared),
            lambda term: self._place(term, None),
        )

    def _of_some(self, call: AggregateCall) -> Formula:
        match call.function:
            case AggregateFunction.COUNT:
                least = 0 if self.nonnegative else None
                return Linear(((self._counted(call), 1),), Fraction(1), call.type, least)
            case AggregateFunction.SUM:
                return self._sum(call)
            case AggregateFunction.AVG:
                return self._mean(call)
            case (
                AggregateFunction.VAR_POP
                | AggregateFunction.VAR_SAMP
                | AggregateFunction.STDDEV_POP
                | AggregateFunction.STDDEV_SAMP
            ) as spread:
                return self._spread(call, spread)
            case (
                AggregateFunction.COVAR_POP
                | AggregateFunction.COVAR_SAMP
                | AggregateFunction.CORR
                | AggregateFunction.REGR_SLOPE
                | AggregateFunction.REGR_INTERCEPT
                | AggregateFunction.REGR_R2
            ) as pair:
                return self._paired(call, pair)
            case (
                AggregateFunction.MIN
                | AggregateFunction.MAX
                | AggregateFunction.QUANTILE_CONT
                | AggregateFunction.QUANTILE_DISC
                | AggregateFunction.MODE
                | AggregateFunction.ARG_MAX
                | AggregateFunction.ARG_MIN
                | OpenFunction()
            ):
                # An extreme row is one unit's; what the others choose is no sum.
                raise Refused(
                    f"{call.function.value}() of private rows is one unit's own value",
                    at=call.at,
                    hint="aggregate first, then take it of what is released",
                    note="refused_functions",
                )
            case missing:
                assert_never(missing)

    def _counted(self, call: AggregateCall) -> int:
        units = call.distinct and call.filter is None and call.arguments[0] in self.units
        return self.presence() if units else self._count(call)

    def _count(self, call: AggregateCall) -> int:
        return self._place(self._counter(call), call.filter)

    def _counter(self, call: AggregateCall) -> Term:
        """A column that is never NULL is counted as rows are, and shares their noise."""
        known = self._where(call.filter)
        if call.distinct:
            return Distinct(call.arguments[0], most_values(call, self.units, known))
        if not call.arguments or not domain(call.arguments[0], known).nullable:
            return Ones()
        return Present(call.arguments[0])

    def _sum(self, call: AggregateCall) -> Formula:
        found = self._range(call.arguments[0], call)
        counted = self._find(self._counter(call), call.filter)
        centre = 0 if counted is None else found.middle
        total = self._total(call, found.around(call.arguments[0], centre))
        terms = ((total, 1),) if counted is None else ((total, 1), (counted, centre))
        return Linear(terms, found.step, call.type)

    def _total(self, call: AggregateCall, value: Measured) -> int:
        """The place of the sum of `value`, over rows or over its distinct values."""
        if not call.distinct:
            return self._place(Amount(value), call.filter)
        most = most_values(call, self.units, self._where(call.filter))
        return self._place(distinct_sum(call, value, most), call.filter)

    def _mean(self, call: AggregateCall) -> Formula:
        (argument,) = call.arguments
        found = self._range(argument, call)
        count = self._count(call)
        total = self._total(call, found.around(argument, found.middle))
        return Mean(
            total, count, found.middle, found.step, found.low * found.step, found.high * found.step
        )

    def _spread(self, call: AggregateCall, function: AggregateFunction) -> Formula:
        value = self._measured(call.arguments[0], call)
        count = self._count(call)
        return Moments(function, count, self._axis(value, call.filter, squared=True))

    def _paired(self, call: AggregateCall, function: AggregateFunction) -> Formula:
        y, x = (self._measured(argument, call) for argument in call.arguments)
        only = self._where_both(call)
        count = self._place(Ones(), only)
        both = function not in (AggregateFunction.COVAR_POP, AggregateFunction.COVAR_SAMP)
        every = function in (AggregateFunction.CORR, AggregateFunction.REGR_R2)
        left, right = sorted((x, y), key=lambda value: describe(value.argument))
        return Moments(
            function,
            count,
            self._axis(x, only, squared=both),
            self._axis(y, only, squared=every),
            self._place(Product(left, right), only),
        )

    def _axis(self, value: Measured, only: Expression | None, *, squared: bool) -> Axis:
        total = self._place(Amount(value), only)
        square = self._place(Square(value), only) if squared else None
        return Axis(total, square, value.centre, value.radius, value.step)

    def _where_both(self, call: AggregateCall) -> Expression | None:
        """The rows that have both values: a sum over others would tell of one without the other."""
        parts = [Not(IsNull(argument)) for argument in call.arguments]
        return conjunction((*([] if call.filter is None else [call.filter]), *parts))

    def _measured(self, argument: Expression, call: AggregateCall) -> Measured:
        found = range_of(argument, self._where(call.filter), call.at, squared=True)
        return found.around(argument, found.middle)

    def _range(self, argument: Expression, call: AggregateCall) -> Range:
        domains = self._where(call.filter)
        return range_of(argument, domains, call.at, squared=argument in self.squared)

    def _where(self, only: Expression | None) -> Environment:
        """What is known of the rows that are counted; only accuracy rests on it."""
        return self.domains if only is None else narrow(only, self.domains)

    def _find(self, term: Term, only: Expression | None) -> int | None:
        wanted = Statistic(term, self._plain(only))
        return self.found.index(wanted) if wanted in self.found else None

    def _place(self, term: Term, only: Expression | None) -> int:
        wanted = Statistic(term, self._plain(only))
        if wanted not in self.found:
            self.found.append(wanted)
        return self.found.index(wanted)

    def _plain(self, only: Expression | None) -> Expression | None:
        """`only` in one form, however it was written, without what is always true."""
        parts = () if only is None else conjuncts(only)
        kept = sorted({part for part in parts if not self._is_there(part)}, key=describe)
        return conjunction(tuple(kept)) if kept else None

    def _is_there(self, condition: Expression) -> bool:
        if isinstance(condition, Not) and isinstance(condition.operand, IsNull):
            return not domain(condition.operand.operand, self.domains).nullable
        return False
