"""Is a release made of randomised answers alone: then it shows no more than they hid when given.

SELECT drink, count(*) FROM survey GROUP BY drink

Each row of `survey` is a unit, all of them are read, and their number is public. Neighbours have a
row replaced: another true answer, of which other things are said with probabilities that are at
most e^ε apart. All that is computed of what was said alone is no farther apart, without noise; nor
is it if more is asked of it later. What a row holds beside is in nothing that is read.

Every condition is one of the schema and of what is emitted; each keeps out a pair of neighbours
that exact integers would tell apart:

a unit is removed      its row was counted, whatever it said
several rows of a unit m answers of one true answer lose m times as much
WHERE age > 60         a row of 61 or of 59: it is counted, or not, whatever it said
GROUP BY region        the row leaves one region for another
sum(age)               the age itself
a join                 who has a partner, and how many
a missing number       of rows: it isn't declared to be nobody's secret
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.analysis.public_row_count import rows_before_filter
from dpsql.analysis.randomized_response import extract_conditions
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, OneRowPerUnit
from dpsql.plan.bounded_release.statistic import RowCount, Sum
from dpsql.plan.traversal import columns
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, Table
from dpsql.schema.randomized_response_loss import releases_responses_exactly


@dataclass(frozen=True, slots=True)
class LocalOnly:
    """The columns of randomised answers that are read of all rows of `table`, and nothing else."""

    table: Table
    columns: tuple[Column, ...]


def local_only(bounded: BoundedRelease, distance: NeighborDistance) -> LocalOnly | None:
    """What `bounded` is made of, if that is randomised answers alone; None if it isn't.

    `distance`: how far the databases are that nobody may tell from each other.
    """
    terms = bounded.contributions
    scan = rows_before_filter(terms.source)
    if scan is None or not releases_responses_exactly(scan.table, distance):
        return None
    if not isinstance(bounded.limited, OneRowPerUnit) or terms.cell_choices:
        return None
    if bounded.partition_count_index is not None or bounded.min_units is not None:
        return None
    if not all(isinstance(statistic.term, RowCount | Sum) for statistic in terms.statistics):
        return None  # units are told apart by more than what they said
    read = columns(
        *(key.expression for key in terms.keys),
        *(s.term.value.argument for s in terms.statistics if isinstance(s.term, Sum)),
        *(s.filter for s in terms.statistics if s.filter is not None),
    )
    answers = extract_conditions(terms.source, None).responses
    if not terms.statistics or not read <= answers.keys():
        return None
    named = {found.name for column, found in answers.items() if column in read}
    return LocalOnly(scan.table, tuple(scan.table.columns[name] for name in sorted(named)))
