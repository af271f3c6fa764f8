"""Seeded bugs of rows or units that are summed in parts, and of what a sidecar has beside rows."""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Split = partial(Mutant, tests="tests/neighbor_search/test_sidecar_bounds_hold.py")
_Parts = partial(Mutant, tests="tests/emit/test_parts.py")
_Ways = partial(Mutant, tests="tests/fuzz/test_generated_ways.py")

SPLIT_MUTANTS = (
    _Split(
        "a row more than the limit is light",
        "bounding/strategy/split_by_contribution.py",
        "*(_at_most(rows, limit) for rows, limit in most)",
        "*(_at_most(rows, limit + 1) for rows, limit in most)",
    ),
    _Split(
        "light rows are in the rest, too",
        "bounding/strategy/split_by_contribution.py",
        "more = [_more_than(rows, limit) for",
        "more = [_more_than(rows, limit - 1) for",
    ),
    _Split(
        "sums are read of units of one row more than the limit",
        "bounding/strategy/stored_unit_sums.py",
        "Literal(max_rows, NUMBER)",
        "Literal(max_rows + 1, NUMBER)",
    ),
    _Split(
        "with a table that leads to the unit, all conditions of its join are left out",
        "bounding/strategy/owner_join_elimination.py",
        "on=tuple(c for c in join.on if c not in met)",
        "on=()",
    ),
    _Split(
        "sums that stand ready are of values beyond their bounds",
        "session/sidecar.py",
        "term = clamp(amount, terms)",
        "term = terms[0]",
    ),
    _Split(
        "groups are limited in each part apart",
        "bounding/strategy/split_by_contribution.py",
        "if isinstance(self.limited.limit, ByHash):",
        "if isinstance(self.limited.limit, ByHash) and self._may_choose_by_rank():",
    ),
    _Split(
        "all of a unit's values are kept",
        "bounding/strategy/split_by_contribution.py",
        "drawn = group_rank_column(only), self.limited.limit.groups",
        "drawn = group_rank_column(only), COUNT_CAP - 1",
    ),
    _Split(
        "a value's place is taken for its number of rows",
        "bounding/strategy/split_by_contribution.py",
        "light = [(UNIT_ROW_COUNT if column is None else value_count_column(column), rows)]",
        "light = [(UNIT_ROW_COUNT if column is None else group_rank_column(column), rows)]",
    ),
    _Split(
        "light units may have more rows in all than the limit",
        "bounding/strategy/split_by_contribution.py",
        "light = [(UNIT_ROW_COUNT, in_all), *(light if rows < in_all else [])]",
        "light = light if rows < in_all else [(UNIT_ROW_COUNT, in_all)]",
    ),
    _Split(
        "light rows needn't stem from rows of their own",
        "analysis/lineage/row_source.py",
        "if rows is not None and is_n_to_one(joined, others, on, trusted):",
        "if rows is not None:",
    ),
    _Split(
        "a window sees a part of a unit's rows",
        "analysis/lineage/row_source.py",
        "counts anew from 1.\n            return None",
        "counts anew from 1.\n            return stem(plan.source, trusted)",
    ),
    _Split(
        "values' places depend on other units'",
        "engine/sidecar/row_columns.py",
        "unit, [hashed, value]), group_rank_column(column)",
        "value, [hashed, unit]), group_rank_column(column)",
    ),
    _Split(
        "a centre is taken from a group's sum once",
        "emit/release/centered_sum.py",
        'many = exp.Mul(this=cast(column_ref(f"m{number}"), "HUGEINT"), '
        "expression=integer(centre))",
        "many = integer(centre)",
    ),
    _Split(
        "what is told of a table is believed of its rows",
        "emit/strategy/clamp_elimination.py",
        "return exp.and_(*told, *_tests(condition, statistics), copy=False)",
        "return exp.and_(*told, copy=False)",
    ),
    _Split(
        "rows beyond bounds are summed as they are, too",
        "emit/strategy/clamp_elimination.py",
        "return exp.Between(this=value, low=low, high=high)",
        "return exp.GTE(this=value, expression=low)",
    ),
    _Split(
        "rows within bounds are summed twice",
        "emit/strategy/unlimited_sums.py",
        "beyond = rows.where(are_out_of_range(condition, contributions.statistics), copy=False)",
        "beyond = rows",
    ),
    _Split(
        "rows are not asked of what is not clamped",
        "emit/strategy/unlimited_sums.py",
        "_sums(contributions, frozenset(condition.indices))",
        "_sums(contributions, frozenset(range(len(contributions.statistics))))",
    ),
    Mutant(
        "one drawn group too many is kept",
        "emit/strategy/choose_groups_first.py",
        "exp.LT(this=before, expression=integer(_groups(limited)))",
        "exp.LTE(this=before, expression=integer(_groups(limited)))",
    ),
    Mutant(
        "cells share places in the order that groups are drawn by",
        "bounding/strategy/choose_groups_first.py",
        "return ChooseGroupsFirst(\n        MAX_RANK_PRIME\n    ),",
        "return ChooseGroupsFirst(2), ",
    ),
    Mutant(
        "a unit of one row too many in a group is light",
        "emit/strategy/choose_groups_first.py",
        "in_one = exp.LT(",
        "in_one = exp.LTE(",
    ),
    Mutant(
        "a unit's rows in all groups don't matter if they are drawn",
        "emit/strategy/choose_groups_first.py",
        "if limited.rows is None:",
        "if limited.rows is None or limited.rows:",
    ),
    Mutant(
        "units are drawn from the cells of the first key alone",
        "emit/strategy/choose_groups_first.py",
        'found = exp.Add(this=rows, expression=column_ref(f"g{place}"))',
        "found = found if place else rows",
    ),
    Mutant(
        "all that is asked of a drawn group is taken for a sum over rows",
        "bounding/strategy/choose_groups_first.py",
        "return statistic.is_row_sum and",
        "return bool(statistic) and",
    ),
    Mutant(
        "a unit of one row too many is one of few rows",
        "emit/strategy/count_units_first.py",
        "expression=integer(counted.max_rows)",
        "expression=integer(counted.max_rows + 1)",
        about="contribution_limits",
    ),
    Mutant(
        "units of many rows are summed as they are, too",
        "emit/strategy/count_units_first.py",
        "exp.Not(this=found) if unlimited else found",
        "exp.true() if unlimited else found",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows may have too many in a group",
        "bounding/strategy/count_units_first.py",
        "few = min(limited.limit.groups, rows_per_group(limited), *in_all)",
        "few = min([limited.limit.groups, *in_all])",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows may have too many groups",
        "bounding/strategy/count_units_first.py",
        "few = min(limited.limit.groups, rows_per_group(limited), *in_all)",
        "few = min([rows_per_group(limited), *in_all])",
        about="contribution_limits",
    ),
    Mutant(
        "a unit of few rows is counted in a group by each of them",
        "emit/strategy/unlimited_sums.py",
        'exp.Count(this=exp.Distinct(expressions=[column_ref("u")]))',
        'exp.Count(this=column_ref("u"))',
        about="contribution_limits",
    ),
    _Parts(
        "units of one part are in the later ones, too",
        "release/job.py",
        "ends = HASH_SPACE * part // batches, ",
        "ends = 0, ",
    ),
    _Parts(
        "values that units share are counted in each of their parts",
        "emit/strategy/unit_batches.py",
        "case DistinctValues() | DistinctSum() | PairwiseDeviations():\n            return False",
        "case DistinctValues() | DistinctSum() | PairwiseDeviations():\n            return True",
    ),
    _Parts(
        "which part a row is in is drawn anew for each",
        "emit/strategy/unit_batches.py",
        'expressions=[column_ref("u"), _parameter(_SALT)]',
        'expressions=[exp.Anonymous(this="random"), _parameter(_SALT)]',
    ),
    _Ways(
        "a row of a sidecar stands beside each row of a table without bounds",
        "engine/sidecar/row_columns.py",
        'found.append(f"count(*) AS {_sql(UNIT_ROW_COUNT)}")',
        'found.append(f"0 AS {_sql(UNIT_ROW_COUNT)}")',
    ),
    Mutant(
        "a table's key is one of a scan over hops whose keys repeat",
        "analysis/lineage/functional_dependency.py",
        "return all(map(trusted, hops))",
        "return True",
        "tests/session/test_keys_over_hops.py",
        fails_by="AssertionError",
    ),
)
