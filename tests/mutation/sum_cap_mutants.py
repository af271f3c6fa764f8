"""Seeded bugs of caps on what a unit's values sum to in a group."""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

_Noted = partial(Mutant, about="unit_sums")
_Split = partial(Mutant, tests="tests/neighbor_search/test_sidecar_bounds_hold.py")
_Alone = partial(
    Mutant,
    tests="tests/session/test_rows_in_all_groups.py",
    about="moves_its_sums",
    fails_by="AssertionError|assert ",
)

SUM_CAP_MUTANTS = (
    _Noted(
        "the emitted sum has no cap",
        "emit/release/limited_sums.py",
        "    low, high = partial_interval(statistic, limited)",
        "    low, high = sorted(99 * end for end in (0, *statistic.interval))[::2]",
    ),
    _Noted(
        "a unit's sum is taken for as many of its rows as its cap has of their largest value",
        "analysis/unit_contribution.py",
        "return bound if isinstance(statistic.term, CappedSum) else bound // statistic.magnitude",
        "return bound // statistic.magnitude",
    ),
    _Noted(
        "few rows in all fill no more groups with a cap than with rows",
        "analysis/capped_sums.py",
        "return min(groups, -(-rows * statistic.magnitude // reach))",
        "return min(groups, -(-rows // limited.source.rows_per_group))",
    ),
    _Noted(
        "a part of a cap that rows in all fill is none",
        "analysis/capped_sums.py",
        "return min(groups, -(-rows * statistic.magnitude // reach))",
        "return min(groups, max(1, rows * statistic.magnitude // reach))",
    ),
    _Noted(
        "a capped sum is never scaled where rows in all are limited",
        "analysis/capped_sums.py",
        "    return groups_at_sum_cap(statistic, limited, groups) < groups",
        "    return groups_at_sum_cap(statistic, limited, groups) < 1",
    ),
    _Noted(
        "no cap binds a unit of few rows",
        "physical/strategy/unlimited_sums.py",
        "return any(isinstance(s.term, CappedSum) for s in contributions.statistics)",
        "return not contributions.statistics",
    ),
    _Split(
        "no cap binds rows that a sidecar tells from others",
        "physical/strategy/unlimited_sums.py",
        "return any(isinstance(s.term, CappedSum) for s in contributions.statistics)",
        "return not contributions.statistics",
        about="summed_in_two_parts",
    ),
    Mutant(
        "a cap isn't part of what a release means",
        "session/digest/tags.py",
        'Tagged("capped amount", ("value", "cap"))',
        'Tagged("capped amount", ("value",), {"cap": "none"})',
        tests="tests/release/test_unit_sums.py",
        fails_by="AssertionError: assert .* != ",
    ),
    _Alone(
        "a sum is of as few rows as reach it, rounded down",
        "emit/release/total_row_limit.py",
        "expression=integer(bound - 1)",
        "expression=integer(0)",
    ),
    _Alone(
        "a sum below 0 is of no rows",
        "emit/release/total_row_limit.py",
        "(-low, exp.LT,",
        "(0 * low, exp.LT,",
    ),
    _Alone(
        "two sums are of as few rows as reach the first",
        "emit/release/total_row_limit.py",
        "case [Statistic(term=Sum() | NonNullCount() | RowCount()) as one] if",
        "case [Statistic(term=Sum() | NonNullCount() | RowCount()) as one, *_] if",
    ),
)
