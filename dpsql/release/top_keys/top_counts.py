"""The most frequent of listed keys with their counts: a choice, and noise on what it chose.

SELECT doctor_id, count(*) FROM visits GROUP BY doctor_id ORDER BY count(*) DESC LIMIT 3

Where a unit is in many groups, its rows move many counts, of which three are shown. Whichever three
the choice takes, a unit moves these by `rows` each at most: they are the counts of a release of
three listed groups, and have its noise. The choice reads all counts, at a loss of its own that
doesn't depend on how many groups a unit is in, and its noise is drawn before theirs: the noisy
counts may depend on the choice, and cost what counts of any three groups cost (sequential
composition, which holds for each accounting where the second mechanism is chosen by the first).
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.errors import InternalError
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    ByDomain,
    ClampPerGroup,
    Contributions,
    KeyDomain,
    LimitGroups,
    PerUnitGroup,
)
from dpsql.plan.bounded_release.cell_selection import (
    CellChoice,
    CountedCells,
    ListedCells,
    TopCells,
)
from dpsql.plan.bounded_release.estimator import EstimatedColumn, LinearEstimator
from dpsql.plan.bounded_release.statistic import RowCount, Statistic
from dpsql.plan.operator import Output
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.release.calibration import Measurement, calibrate
from dpsql.release.joint_noise import joint_notes
from dpsql.release.selection_mechanism import (
    CountedTopMechanism,
    TopMechanism,
    selection_mechanism,
)
from dpsql.schema.sql_type import BIGINT
from dpsql.structs import replace


def counts_chosen(bounded: BoundedRelease) -> bool:
    """Whether `bounded` chooses keys and shows their counts."""
    choices = bounded.contributions.cell_choices
    return any(isinstance(choice.target, CountedCells) for choice in choices)


def calibrate_top_counts(
    bounded: BoundedRelease,
    changes: Sensitivity,
    distance: NeighborDistance,
    query_loss: PrivacyLoss,
) -> tuple[Measurement, tuple[str, ...]]:
    """The choice and the noise of its counts within `query_loss`, and lines of EXPLAIN about it.

    `changes` are those of `bounded` between neighbours at `distance`. The whole of δ is that of the
    noise.
    """
    (choice,) = bounded.contributions.cell_choices
    target = choice.target
    if not isinstance(target, CountedCells) or changes.groups != 1:
        raise InternalError("chosen keys are counted in all rows together")
    kind, granted = query_loss.accounting, query_loss.amount
    of_choice = PrivacyLoss(kind, granted * target.choice_share)
    top, spent = selection_mechanism(
        replace(choice, target=TopCells(target.rows, target.count)), changes, target.rows, of_choice
    )
    counted = _counts_of_cells(bounded, choice, target)
    rest = PrivacyLoss(kind, granted - spent.amount, query_loss.delta)
    # Counts are shown row by row, whatever the statement makes of each.
    measured = calibrate(counted, sensitivity(counted, distance), rest, is_shown_by_row=True)
    (noise,) = measured.noise
    assert isinstance(top, TopMechanism)
    chooser = CountedTopMechanism(top, noise)
    return Measurement((), None, spent + measured.loss, (chooser,)), joint_notes((noise,))


def _counts_of_cells(
    bounded: BoundedRelease, choice: CellChoice, target: CountedCells
) -> BoundedRelease:
    """The counts of as many cells as are chosen: those that come first stand for any others.

    A unit counts for no more than `target.rows` rows in each, and is in all of them at worst.
    """
    assert isinstance(choice.cells, ListedCells)
    column = bounded.outputs[0].column
    cells = tuple((value,) for value in choice.cells.values[: target.count])
    terms = Contributions(
        bounded.contributions.source,
        (Output(column, choice.cells.argument),),
        (KeyDomain((0,), cells),),
        (Statistic(RowCount(), None),),
    )
    rows = ClampPerGroup(PerUnitGroup(terms), target.rows)
    count = EstimatedColumn(column, LinearEstimator(((0, 1),), Fraction(1), BIGINT))
    return BoundedRelease(LimitGroups(rows, ByDomain(target.count)), (count,), None, ())
