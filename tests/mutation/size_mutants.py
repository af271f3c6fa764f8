"""Seeded bugs of what is declared beyond bounds: norms of rows, and sizes of tables."""

from __future__ import annotations

from mutation.mutants import Mutant

_NORMS = "tests/session/test_row_norms.py"
_SIZES = "tests/session/test_table_sizes.py"

SIZE_MUTANTS = (
    Mutant(
        "rows beyond a norm aren't scaled",
        "bounding/statistics/norm_ball.py",
        "_divided(radius, norm))",
        "double(Fraction(1)))",
        about="row_norms",
    ),
    Mutant(
        "scaled rows are rounded to the nearest step",
        "bounding/statistics/norm_ball.py",
        'Call("trunc", (',
        'Call("round", (',
        _NORMS,
        "single_step",
        "AssertionError",
    ),
    Mutant(
        "rows are scaled to the very radius, which rounding of doubles passes",
        "bounding/statistics/norm_ball.py",
        "_SHORTER: Final = 1 - Fraction(1, 2**40)",
        "_SHORTER: Final = 1 + Fraction(1, 2**20)",
        _NORMS,
        "single_step",
        "AssertionError",
    ),
    Mutant(
        "of a length the absolute values are no more than the longest one",
        "analysis/joint_sensitivity.py",
        "if squared or ball.order == 1:",
        "if squared or ball.order:",
        about="row_norms",
    ),
    Mutant(
        "what is left of a sum of absolute values is forgotten",
        "analysis/joint_sensitivity.py",
        "radius if p in chosen else rest if p == other else 0",
        "radius if p in chosen else 0",
        _NORMS,
        "corners_bound",
        "AssertionError",
    ),
    Mutant(
        "a norm may be raised without consent",
        "schema/policy_diff.py",
        "or _number(new[2]) > _number(old[2])",
        "or not new[2]",
        _NORMS,
        "agreed_to",
        "AssertionError",
    ),
    Mutant(
        "the mean of few rows is theirs, whatever was declared",
        "emit/release/bounded_mean.py",
        "few = exp.LT(this=count.copy(), expression=integer(declared))",
        "few = exp.LT(this=count.copy(), expression=integer(1))",
        about="table_sizes",
    ),
    Mutant(
        "a row of few moves a mean by no more than one of many",
        "plan/bounded_release/statistic.py",
        "return max(value.high - value.low, of_few)",
        "return value.high - value.low",
        about="table_sizes",
    ),
    Mutant(
        "a row of many moves a mean by no more than from its middle",
        "plan/bounded_release/statistic.py",
        "return max(value.high - value.low, of_few)",
        "return of_few",
        about="table_sizes",
    ),
    Mutant(
        "the mean of some rows has that many at least",
        "bounding/statistics/statistics.py",
        "if dropped or canonical_filter(call.filter, self.domains) is not None:",
        "if dropped:",
        _SIZES,
        "other_means",
        "AssertionError",
    ),
    Mutant(
        "a row that takes another's place is one row",
        "analysis/stability.py",
        "return Units(2 * units)",
        "return Units(units)",
        about="table_sizes",
    ),
    Mutant(
        "a resized table is as large as it is",
        "emit/relation/resized_table.py",
        'first.set("limit", exp.Limit(expression=integer(size)))',
        'first.set("limit", exp.Limit(expression=integer(2**40)))',
        _SIZES,
        "random_part",
        "AssertionError",
    ),
    Mutant(
        "equal rows are left out together",
        "emit/relation/resized_table.py",
        "keyed_hash([*_copied(columns), column_ref(_NUMBER)]),",
        "keyed_hash(_copied(columns)),",
        _SIZES,
        "one_by_one",
        "AssertionError",
    ),
    Mutant(
        "rows are left out in the order of their values",
        "emit/relation/resized_table.py",
        "keyed_hash([*_copied(columns), column_ref(_NUMBER)]),",
        "*_copied(columns),",
        _SIZES,
        "random_part",
        "AssertionError",
    ),
    Mutant(
        "more rows may be let in without consent",
        "schema/policy_diff.py",
        "if was is not None and (now is None or was < now):",
        "if was is not None and now is None:",
        _SIZES,
        "agreed_to",
        "AssertionError",
    ),
)
