"""Releases of randomised answers alone, which are private without noise.

SELECT drink, count(*) FROM survey GROUP BY drink

Each row of `survey` is a unit, all rows are read, and their number is public. Neighbours have one
row replaced: its true answer is another, and any randomised answer is then at most e^ε times as
probable. Whatever is computed of randomised answers alone keeps that bound, without noise, and so
does whatever is asked of them later. Nothing reads the row's other columns.

Every condition below is checked of the schema and of the bounded release. Each keeps out a pair of
neighbours that exact integers would tell apart:

a unit is removed      its row was counted, whatever it answered
several rows of a unit m answers of one true answer lose m times as much
WHERE age > 60         a row of 61 or of 59: it is counted, or not, whatever it answered
GROUP BY region        the row leaves one region for another
sum(age)               the age itself
a join                 who has a partner, and how many
a missing number       of rows: it isn't declared to be nobody's secret
"""

from __future__ import annotations

from msgspec import Struct

from dpsql.analysis.public_row_count import rows_before_filter
from dpsql.analysis.randomized_response import extract_conditions
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, OneRowPerUnit
from dpsql.plan.bounded_release.statistic import RowCount, Sum
from dpsql.plan.traversal import columns
from dpsql.privacy.distance import NeighborDistance
from dpsql.schema.model import Column, Table
from dpsql.schema.randomized_response_loss import releases_responses_exactly


class LocalOnly(Struct, frozen=True):
    """The columns of randomised answers that a release reads of all rows of `table`; no others."""

    table: Table
    columns: tuple[Column, ...]


def local_only(bounded: BoundedRelease, distance: NeighborDistance) -> LocalOnly | None:
    """The columns that `bounded` reads, if these are randomised answers alone; None otherwise.

    `distance` is that of the neighbours that the release must protect.
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
    named = {response.name for column, response in answers.items() if column in read}
    return LocalOnly(scan.table, tuple(scan.table.columns[name] for name in sorted(named)))
