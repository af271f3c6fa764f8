"""The grids of the arguments of one release's aggregates: what sums and squares are taken in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from msgspec import Struct, field

from dpsql.analysis.domains.expression_domain import Environment
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.analysis.row_norms import NormOfColumn
from dpsql.bounding.statistics.conditional_aggregate import with_filter
from dpsql.bounding.statistics.discretization import Grid, ends_of, grid_of
from dpsql.bounding.statistics.factored_sum import FactoredSum, factored_sum
from dpsql.bounding.statistics.norm_ball import BallGrid, ball_grids
from dpsql.bounding.statistics.sum_caps import NO_CAPS, SumCaps, capped_rows
from dpsql.plan.aggregate import LEFT_OUT, PAIRED, SPREADS, AggregateCall, AggregateFunction
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Expression
from dpsql.schema.sql_type import Double
from dpsql.structs import replace


class ArgumentGrids(Struct):
    """Chooses the grid of each argument; one argument's grids are alike, and share statistics.

    `domains` are those of the columns of the release's rows, and `norms` the norms that bound some
    of them together. `squared` has the doubles whose squares are summed, `balls` the columns that
    are scaled together. `caps` are those on a unit's sums over `unit_rows` rows at most in a group;
    where `rows_are_units` they are on what its one row adds. `keys` are those of the groups.
    """

    domains: Environment
    norms: NormOfColumn = field(default_factory=dict)
    caps: SumCaps = NO_CAPS
    unit_rows: int = 1
    rows_are_units: bool = False
    keys: tuple[Expression, ...] = ()
    squared: set[Expression] = field(default_factory=set)
    balls: dict[Expression, BallGrid] = field(default_factory=dict)

    def collect(self, calls: Sequence[AggregateCall]) -> None:
        """Learn of all calls of the release before the grid of any of them is chosen."""
        squared = {a for c in calls if c.function in SPREADS | PAIRED for a in c.arguments}
        # A double's sum is as coarse as its squares', so that both are one statistic.
        self.squared |= {argument for argument in squared if isinstance(argument.type, Double)}
        # Where squares are summed as well, sums of what isn't scaled serve both.
        single = [call for call in calls if squared.isdisjoint(call.arguments)]
        self.balls |= ball_grids(self.norms, single, self.alone)

    def of(self, argument: Expression, call: AggregateCall) -> Grid:
        """The grid in which `argument` is summed; Refused where it has no bounds."""
        grid = self._uncapped(argument, call)
        cap = self._cap(call, grid) if self.rows_are_units else None
        return grid if cap is None else capped_rows(grid, cap)

    def cap(self, call: AggregateCall) -> int | None:
        """The cap of `call`, a sum, in steps.

        None where it doesn't bind, and where rows are units: their grids are within it.
        """
        if self.rows_are_units:
            return None
        return self._cap(call, self._uncapped(call.arguments[0], call))

    def factored(self, call: AggregateCall) -> FactoredSum | None:
        """The sum of `call` under caps by key; None where one cap holds in all groups, or none."""
        if call.function is not AggregateFunction.SUM or call.distinct:
            return None
        (argument,) = call.arguments
        caps = self.caps.by_key.get(argument)
        if caps is None or self.caps.every is not None or argument in self.squared | {*self.balls}:
            return None
        # What has no bounds has those of the highest cap, and not of the one that holds otherwise.
        domains = self.where(call.filter)
        grid = grid_of(argument, domains, call.at, squared=False, cap=caps.highest)
        summed = factored_sum(argument, grid, caps, self.keys, self.unit_rows)
        if summed is None or not self.rows_are_units:
            return summed
        return replace(summed, grid=capped_rows(summed.grid, summed.cap), rows_are_units=True)

    def cap_notes(self, calls: Iterable[AggregateCall]) -> tuple[str, ...]:
        """What an analyst is told of the caps on the sums among `calls`."""
        notes: dict[str, None] = {}
        for call in map(with_filter, calls):
            if call.function is AggregateFunction.SUM and call.output_kind not in LEFT_OUT:
                (argument,) = call.arguments
                factored = self.factored(call)
                if factored is not None:
                    notes[factored.note()] = None
                    continue
                grid = self._uncapped(argument, call)
                cap = self._cap(call, grid)
                if cap is not None:
                    notes[self.caps.note(argument, cap, grid.step)] = None
        return tuple(notes)

    def declared_ends(self, argument: Expression) -> tuple[Fraction, Fraction] | None:
        """The ends to which values of `argument` are clamped, if it has bounds of its own."""
        return ends_of(argument, self.domains, None)

    def ends(self, argument: Expression, call: AggregateCall) -> tuple[Fraction, Fraction] | None:
        """The ends to which values of `argument` are clamped for `call`; None without bounds."""
        ends = ends_of(argument, self.where(call.filter), self.caps.cap(argument))
        if ends is None or not self.rows_are_units:
            return ends
        grid = self._uncapped(argument, call)
        cap = self._cap(call, grid)
        if cap is None:
            return ends
        low, high = (max(-cap * grid.step, min(cap * grid.step, end)) for end in ends)
        return low, high

    def _cap(self, call: AggregateCall, grid: Grid) -> int | None:
        """The cap of `call` in steps of its own `grid`, where it binds.

        A ball's rows have a norm together: of values that are clamped one by one, it would be none.
        Of their sums, all of which are capped, it binds where these are in less than the ball is.
        """
        cap = self.caps.steps(call, grid, self.unit_rows)
        if cap is None or not isinstance(grid, BallGrid):
            return cap
        in_all = len(grid.ball.columns) * cap**grid.ball.order
        is_less = in_all < (self.unit_rows * grid.high) ** grid.ball.order
        return cap if is_less and not self.rows_are_units else None

    def of_squares(self, argument: Expression, call: AggregateCall) -> Discretized:
        """`argument`, about the middle of its bounds, in a grid in which its squares are summed."""
        cap = self.caps.cap(argument)
        grid = grid_of(argument, self.where(call.filter), call.at, squared=True, cap=cap)
        return grid.centered(argument, grid.middle)

    def where(self, only: Expression | None) -> Environment:
        """The domains in the rows where the filter `only` holds; only accuracy rests on them."""
        return self.domains if only is None else narrow(only, self.domains)

    def alone(self, argument: Expression, call: AggregateCall) -> Grid:
        """The grid of `argument` by its own bounds, without others that it may be scaled with."""
        domains, cap = self.where(call.filter), None if call.distinct else self.caps.cap(argument)
        if call.function is not AggregateFunction.SUM and ends_of(argument, domains, None):
            cap = None  # means are of rows within their own bounds, in steps as fine as these ask
        return grid_of(argument, domains, call.at, squared=argument in self.squared, cap=cap)

    def _uncapped(self, argument: Expression, call: AggregateCall) -> Grid:
        ball = None if call.distinct else self.balls.get(argument)
        return ball or self.alone(argument, call)
