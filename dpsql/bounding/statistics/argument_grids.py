"""The grids of the arguments of one release's aggregates: what sums and squares are taken in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsql.analysis.domains.expression_domain import Environment
from dpsql.analysis.domains.predicate_narrowing import narrow
from dpsql.analysis.row_norms import NormOfColumn
from dpsql.bounding.statistics.discretization import Grid, grid_of
from dpsql.bounding.statistics.norm_ball import BallGrid, ball_grids
from dpsql.plan.aggregate import PAIRED, SPREADS, AggregateCall
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Expression
from dpsql.schema.sql_type import Double


@dataclass(slots=True)
class ArgumentGrids:
    """Chooses the grid of each argument; one argument's grids are alike, and share statistics.

    `domains` are those of the columns of the release's rows, and `norms` the norms that bound some
    of them together. `squared` has the doubles whose squares are summed, `balls` the columns that
    are scaled together.
    """

    domains: Environment
    norms: NormOfColumn = field(default_factory=dict)
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
        ball = None if call.distinct else self.balls.get(argument)
        return ball or self.alone(argument, call)

    def of_squares(self, argument: Expression, call: AggregateCall) -> Discretized:
        """`argument`, about the middle of its bounds, in a grid in which its squares are summed."""
        grid = grid_of(argument, self.where(call.filter), call.at, squared=True)
        return grid.centered(argument, grid.middle)

    def where(self, only: Expression | None) -> Environment:
        """The domains in the rows where the filter `only` holds; only accuracy rests on them."""
        return self.domains if only is None else narrow(only, self.domains)

    def alone(self, argument: Expression, call: AggregateCall) -> Grid:
        """The grid of `argument` by its own bounds, without others that it may be scaled with."""
        domains = self.where(call.filter)
        return grid_of(argument, domains, call.at, squared=argument in self.squared)
