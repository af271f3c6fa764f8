"""Aggregates become integer statistics, shared where they can be, and estimators over them.

sum(l_quantity), avg(l_quantity), count(*)   with l_quantity in [1, 50], never NULL

RowCount in [0, 1]                        count(*) = s0
Sum(l_quantity, center=25) in [-24, 25]   sum = s1 + 25 s0, avg = 25 + s1 / s0
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from msgspec import Struct, field

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.analysis.public_row_count import PublicSize
from dpsql.analysis.randomized_response import Responses
from dpsql.bounding.randomized_response import response_estimator
from dpsql.bounding.randomized_response_keys import AnswerKey
from dpsql.bounding.statistics.argument_grids import ArgumentGrids
from dpsql.bounding.statistics.canonical_filter import canonical_filter
from dpsql.bounding.statistics.clip_condition import clipped
from dpsql.bounding.statistics.conditional_aggregate import with_filter
from dpsql.bounding.statistics.distinct_sum import distinct_sum, max_values
from dpsql.bounding.statistics.public_row_count import all_rows_estimator, large_mean_estimator
from dpsql.bounding.statistics.sample_estimator import of_all_units
from dpsql.errors import Refused
from dpsql.plan.aggregate import (
    LEFT_OUT,
    SPREADS,
    AggregateCall,
    AggregateFunction,
    AggregateOutput,
    OpenFunction,
    OutputKind,
)
from dpsql.plan.bounded_release.estimator import (
    EstimatedColumn,
    Estimator,
    LinearEstimator,
    Mean,
    MomentIndices,
    Moments,
)
from dpsql.plan.bounded_release.statistic import (
    CappedSum,
    Discretized,
    DistinctValues,
    NonNullCount,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    Term,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.expression import Column, Expression, IsNull, Not, conjunction
from dpsql.plan.expression_text import describe
from dpsql.privacy.subsampling import PoissonSampling

_COUNT_FIRST = frozenset({AggregateFunction.COUNT, AggregateFunction.AVG}) | SPREADS


class StatisticsBuilder(Struct):
    """Collects the statistics of one release; equal ones are one, and share one draw of noise.

    `grids` are those of the arguments. `units` are the columns that identify the privacy unit;
    `nonnegative` counts are 0 at least. A unit counts for `per_unit` rows in a group at most: if 1,
    rows and units are one. `size` is what is public of all rows, `sampling` how units are drawn.
    """

    grids: ArgumentGrids
    units: frozenset[Expression] = frozenset()
    statistics: list[Statistic] = field(default_factory=list)
    nonnegative: bool = False
    per_unit: int = 0
    size: PublicSize = field(default_factory=PublicSize)
    responses: Responses = field(default_factory=dict)
    answer_key: AnswerKey | None = None
    sampling: PoissonSampling | None = None

    def estimators(self, outputs: tuple[AggregateOutput, ...]) -> tuple[EstimatedColumn, ...]:
        """The estimator of each aggregate; raises Refused for calls that have none."""
        calls = [with_filter(output.call) for output in outputs]
        self.grids.collect(calls)
        # Counts first: a sum that finds a count of its rows is centred by it, at less noise.
        for call in calls:
            if call.function in _COUNT_FIRST and call.output_kind not in LEFT_OUT:
                self._estimator(call)
        return tuple(
            self._output(output.column, call) for output, call in zip(outputs, calls, strict=True)
        )

    def presence(self, *, of_rows: bool = False) -> int:
        """The index of the count of units per group; or, if `of_rows` and counted, of its rows."""
        of_rows = of_rows and self._find(RowCount(), None) is not None
        return self._index_of(RowCount() if of_rows or self.per_unit == 1 else UnitCount(), None)

    def _output(self, column: Column, call: AggregateCall) -> EstimatedColumn:
        match call.output_kind:
            case OutputKind.VALUE | OutputKind.LOW | OutputKind.HIGH | OutputKind.STDDEV:
                return EstimatedColumn(column, self._estimator(call), call.output_kind)
            case OutputKind.CLIPPED:
                index = self._index_of(RowCount(), clipped(call, self.grids))
            case OutputKind.OVER:
                index = self._index_of(UnitsOverLimit(), None)
            case missing:
                assert_never(missing)
        count = LinearEstimator(((index, 1),), Fraction(1), call.type)
        return EstimatedColumn(column, self._of_all_units(call, count))

    def _estimator(self, call: AggregateCall) -> Estimator:
        naive = self._naive_estimate, self._largest, self.grids.declared_ends
        estimator = response_estimator(call, self.responses, self.answer_key, *naive)
        return self._of_all_units(call, estimator or self._naive_estimate(call))

    def _of_all_units(self, call: AggregateCall, estimator: Estimator) -> Estimator:
        of_drawn = self.statistics, self._naive_estimate, self.per_unit
        return of_all_units(call, estimator, self.sampling, self.units, *of_drawn)

    def _naive_estimate(self, call: AggregateCall) -> Estimator:
        """The estimator that takes randomised answers for true ones."""
        return self._all_rows_estimate(call) or self._row_estimate(call)

    def _largest(self, call: AggregateCall) -> tuple[Fraction, int]:
        """The largest magnitude of a row's summand, and the rows that a unit has in a group."""
        if call.function is AggregateFunction.COUNT:
            return Fraction(1), self.per_unit
        grid = self.grids.of(call.arguments[0], call)
        return max(abs(grid.low), abs(grid.high)) * grid.step, self.per_unit

    def _all_rows_estimate(self, call: AggregateCall) -> Estimator | None:
        """The estimator over all rows, where something is public of their number."""
        dropped = any(domain(argument, self.domains).nullable for argument in call.arguments)
        if dropped or canonical_filter(call.filter, self.domains) is not None:
            return None
        is_mean = call.function is AggregateFunction.AVG and not call.distinct
        if is_mean and self.size.min_rows is not None:
            grid = self.grids.alone(call.arguments[0], call)
            return large_mean_estimator(call, self.size.min_rows, grid, self._index_of_all)
        if self.size.rows is None or (self.size.is_resized and call.function in SPREADS):
            return None
        return all_rows_estimator(
            call,
            self.size.rows,
            0 if self.nonnegative else None,
            lambda: self.grids.of(call.arguments[0], call),
            lambda: self.grids.of_squares(call.arguments[0], call),
            self._index_of_all,
        )

    def _row_estimate(self, call: AggregateCall) -> Estimator:
        match call.function:
            case AggregateFunction.COUNT:
                minimum = 0 if self.nonnegative else None
                return LinearEstimator(((self._counted(call), 1),), Fraction(1), call.type, minimum)
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
                | AggregateFunction.WEIGHTED_MAJORITY
                | AggregateFunction.ABOVE_THRESHOLD
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
        return self._index_of(self._counter(call), call.filter)

    def _counter(self, call: AggregateCall) -> Term:
        """The term that `call` counts; a column that is never NULL is counted as rows are."""
        known = self.grids.where(call.filter)
        if call.distinct:
            return DistinctValues(call.arguments[0], max_values(call, self.units, known))
        if not call.arguments or not domain(call.arguments[0], known).nullable:
            return RowCount()
        return NonNullCount(call.arguments[0])

    def _sum(self, call: AggregateCall) -> Estimator:
        if (factored := self.grids.factored(call)) is not None:
            counted = self._find(self._counter(call), call.filter)
            term, center = factored.term(is_centered=counted is not None)
            return factored.divided(self._index_of(term, call.filter), counted, center, call.type)
        grid = self.grids.of(call.arguments[0], call)
        has_cap = self.grids.cap(call) is not None
        counted = None if has_cap else self._find(self._counter(call), call.filter)
        centre = 0 if counted is None else grid.middle
        total = self._total(call, grid.centered(call.arguments[0], centre))
        terms = ((total, 1),) if counted is None else ((total, 1), (counted, centre))
        return LinearEstimator(terms, grid.step, call.type)

    def _total(self, call: AggregateCall, value: Discretized) -> int:
        """The index of the sum of `value`, over rows or over its distinct values, or capped."""
        cap = self.grids.cap(call)
        if cap is not None:
            return self._index_of(CappedSum(value, cap), call.filter)
        if not call.distinct:
            return self._index_of(Sum(value), call.filter)
        limit = max_values(call, self.units, self.grids.where(call.filter))
        return self._index_of(distinct_sum(call, value, limit), call.filter)

    def _mean(self, call: AggregateCall) -> Estimator:
        (argument,) = call.arguments
        grid = self.grids.of(argument, call)
        count, cap = self._count(call), self.grids.cap(call)
        low, high = grid.low * grid.step, grid.high * grid.step
        # A sum is capped as it is: it is one of differences from 0.
        center = grid.middle if cap is None else 0
        value = grid.centered(argument, center)
        return Mean(self._total(call, value), count, center, grid.step, low, high)

    def _spread(self, call: AggregateCall, function: AggregateFunction) -> Estimator:
        value = self.grids.of_squares(call.arguments[0], call)
        count = self._count(call)
        return Moments(function, count, self._indices(value, call.filter, squared=True))

    def _paired(self, call: AggregateCall, function: AggregateFunction) -> Estimator:
        y, x = (self.grids.of_squares(argument, call) for argument in call.arguments)
        only = self._where_both(call)
        count = self._index_of(RowCount(), only)
        both = function not in (AggregateFunction.COVAR_POP, AggregateFunction.COVAR_SAMP)
        every = function in (AggregateFunction.CORR, AggregateFunction.REGR_R2)
        left, right = sorted((x, y), key=lambda value: describe(value.argument))
        return Moments(
            function,
            count,
            self._indices(x, only, squared=both),
            self._indices(y, only, squared=every),
            self._index_of(Product(left, right), only),
        )

    def _indices(
        self, value: Discretized, only: Expression | None, *, squared: bool
    ) -> MomentIndices:
        total = self._index_of(Sum(value), only)
        square = self._index_of(Square(value), only) if squared else None
        return MomentIndices(total, square, value.center, value.radius, value.step)

    def _where_both(self, call: AggregateCall) -> Expression | None:
        """The filter of rows that have both values, which all moments of the pair share."""
        parts = [Not(IsNull(argument)) for argument in call.arguments]
        return conjunction((*([] if call.filter is None else [call.filter]), *parts))

    @property
    def domains(self) -> Environment:
        """The domains of the columns of the release's rows."""
        return self.grids.domains

    def _find(self, term: Term, only: Expression | None) -> int | None:
        wanted = Statistic(term, canonical_filter(only, self.domains))
        return self.statistics.index(wanted) if wanted in self.statistics else None

    def _index_of_all(self, term: Term) -> int:
        """The index of `term` over all rows."""
        return self._index_of(term, None)

    def _index_of(self, term: Term, only: Expression | None) -> int:
        if self._find(term, only) is None:
            self.statistics.append(Statistic(term, canonical_filter(only, self.domains)))
        return self.statistics.index(Statistic(term, canonical_filter(only, self.domains)))
