"""Units in several batches, one after the other: each batch's tables in memory are so much smaller.

Which batch a unit is in depends on a hash of it and of the salt, so that all of its rows are in
one. A bounded release is a sum over units of integers that each of them has by itself: what is
found of the batches adds up to what is found at once, however many there are.

That isn't so of distinct values, of which several units may have the same. Nor are units that are
rows told apart by anything but numbers, which no engine promises to give again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Final, assert_never

from sqlglot import exp

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.emit.dialect.duckdb.attempt.column_copies import joins_rows, mark_joined
from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.dialect.nodes import SALT_PARAMETER
from dpsql.emit.release.contribution import sum_of
from dpsql.emit.release.contributions import select_from
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import column_ref, table, with_alias
from dpsql.physical.cost import (
    FEW_ROWS_PER_BATCH,
    MANY_ROWS_PER_BATCH,
    MAX_ROWS_PER_BATCH,
    ROWS_OF_A_LISTED_GROUP,
    has_few_groups,
)
from dpsql.physical.modifier.waiting_rows import waiting_rows
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Contributions
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.plan.bounded_release.engine_query import BATCH_TABLE, BatchPolicy
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.plan.operator import Release
from dpsql.plan.traversal import operators

_FIRST_HASH: Final = SALT_PARAMETER + 1
_LAST_HASH: Final = SALT_PARAMETER + 2
"""The indices of the parameters that name a batch: the first and last hash of its units."""


def is_sum_over_units(contributions: Contributions) -> bool:
    """Whether integers of batches of the units add up to those of all, and rows are read."""
    return (
        # If nothing but listed keys is asked for, no private row is read.
        bool(contributions.statistics or contributions.cell_choices)
        and all(map(_is_additive, contributions.statistics))
        and not has_row_units(contributions.source)
        # Released tables are small, and the statement that names them is emitted already.
        and not any(isinstance(each, Release) for each in operators(contributions.source))
    )


def rows_of_one_batch(rows: exp.Select) -> exp.Select:
    """Those of `rows` whose unit is in the batch that the parameters name."""
    hashed = exp.Anonymous(this="hash", expressions=[column_ref(UNIT), _parameter(SALT_PARAMETER)])
    # Compared as it is: of a remainder, the engine would expect hardly any rows to have it.
    low, high = (cast(_parameter(index), "UBIGINT") for index in (_FIRST_HASH, _LAST_HASH))
    return select_from(rows, [exp.Star()]).where(
        exp.Between(this=hashed, low=low, high=high), copy=False
    )


def rows_of_all_units(rows: exp.Select) -> exp.Select:
    """`rows` as they are."""
    return rows


class RowsByName:
    """Rows that a tree has names for, so that two statements can be made of its text.

    Writing a tree takes longer than replacing parts of its text, and the statement of all units
    and that of one batch are the same but for the rows that they read.
    """

    def __init__(self) -> None:
        self._rows: list[exp.Select] = []

    def name(self, rows: exp.Select) -> exp.Select:
        """What stands for `rows` in a tree."""
        self._rows.append(rows)
        return _named_rows(len(self._rows) - 1)

    def filled(self, trees: Sequence[exp.Select]) -> tuple[list[str], list[str]] | None:
        """The texts of all trees with names: with the rows of all units, and of one batch.

        None unless each name stands there once and nowhere in the rows. It doesn't where a literal
        has the text of one: `WHERE title = 'SELECT * FROM "rows 0"'`.
        """
        names = list(map(_named_rows, range(len(self._rows))))
        joining = frozenset(n for n, rows in self._named() if joins_rows(rows))
        joined = frozenset(n for tree in trees for n in mark_joined(tree, joined=joining))
        written, marks = list(map(rendered, trees)), list(map(rendered, names))
        rows = [rendered(select, is_joined=name in joined) for name, select in self._named()]
        is_once = all(sum(text.count(mark) for text in written) == 1 for mark in marks)
        if not is_once or any(mark in text for mark in marks for text in rows):
            return None
        of_all, of_one = list(written), list(written)
        for name, mark, text in zip(names, marks, rows, strict=True):
            batch = rendered(rows_of_one_batch(name)).replace(mark, text)
            of_all = [each.replace(mark, text) for each in of_all]
            of_one = [each.replace(mark, batch) for each in of_one]
        return of_all, of_one

    def _named(self) -> Iterator[tuple[str, exp.Select]]:
        return ((_name_of_rows(index), rows) for index, rows in enumerate(self._rows))


def _named_rows(index: int) -> exp.Select:
    return select_of([exp.Star()], table(_name_of_rows(index)))


def _name_of_rows(index: int) -> str:
    return f"rows {index}"


def sum_of_batches(groups: Sequence[str], sums: Sequence[str]) -> exp.Select:
    """The `sums` by `groups` of what the batches gave, one below the other."""
    totals = [with_alias(sum_of(column_ref(name)), name) for name in sums]
    items = [*map(column_ref, groups), *totals]
    select = select_of(items, table(BATCH_TABLE))
    return select.group_by(*map(column_ref, groups), copy=False) if groups else select


def batch_policy(bounded: BoundedRelease) -> BatchPolicy:
    """How many batches so many rows are worth: applied where rows are counted, shown nowhere."""
    terms = bounded.contributions
    rows, batches = MANY_ROWS_PER_BATCH if has_few_groups(terms) else FEW_ROWS_PER_BATCH
    max_rows = None
    if bounded.partition_count_index is None and not has_few_groups(terms) and _are_listed(terms):
        max_rows = ROWS_OF_A_LISTED_GROUP * prod(len(each.cells) for each in terms.domains)
    waiting = waiting_rows(terms.source)
    return BatchPolicy(
        tables=waiting.tables,
        min_rows=rows,
        max_batches=batches,
        max_rows=MAX_ROWS_PER_BATCH,
        selectivity=waiting.share,
        rows_of_listed_groups=max_rows,
    )


def _are_listed(contributions: Contributions) -> bool:
    """Keys come from public rows, as those of parts of one brand, which most rows don't have."""
    below = column_domains(contributions.source)
    keys = (
        contributions.keys[index].expression
        for each in contributions.domains
        for index in each.keys
    )
    domains = (domain(key, below) for key in keys)
    return any(each.values is None and each.bounds is None for each in domains)


def _is_additive(statistic: Statistic) -> bool:
    """It is a sum over units, of what each of them has by itself."""
    match statistic.term:
        case (
            RowCount()
            | NonNullCount()
            | Sum()
            | CappedSum()
            | Square()
            | Product()
            | UnitCount()
            | UnitWeight()
            | UnitsOverLimit()
        ):
            return True
        case DistinctValues() | DistinctSum() | PairwiseDeviations() | BoundedMean():
            return False
        case missing:
            assert_never(missing)


def _parameter(index: int) -> exp.Parameter:
    return exp.Parameter(this=exp.Literal.number(index))
