"""Seeded bugs of distinct counts, of what is chosen by cells, and of joint norms."""

from __future__ import annotations

from mutation.mutants import Mutant

_JOINT = "tests/release/test_joint_noise.py"
_K_NORM = "tests/privacy/test_k_norm.py"

AGGREGATE_MUTANTS = (
    Mutant(
        "squares are taken around zero",
        "emit/release/contribution.py",
        "clamped = exp.Paren(this=_clamped(value, columns[0], None))",
        "clamped = exp.Paren(this=_clamped(value, columns[0], None) + integer(value.center))",
    ),
    Mutant(
        "values that are squared are never far from the centre",
        "analysis/joint_sensitivity.py",
        "for size in range(len(values) + 1)",
        "for size in range(1)",
    ),
    Mutant(
        "lists that differ exclude each other",
        "analysis/joint_sensitivity.py",
        "return not ours[1] & theirs[1]",
        "return ours[1] != theirs[1]",
    ),
    Mutant(
        "what excludes a part of an OR excludes all of it",
        "analysis/joint_sensitivity.py",
        "return all(excludes(operand, right) for operand in left.operands)",
        "return any(excludes(operand, right) for operand in left.operands)",
    ),
    Mutant(
        "values are counted once for filters that exclude each other",
        "analysis/joint_sensitivity.py",
        "if has_unit_terms or len(family) == 1",
        "if len(family) == 1",
    ),
    Mutant(
        "one distinct value too many goes",
        "emit/release/distinct_count.py",
        "exp.LTE(this=rank, expression=integer(max_values))",
        "exp.LTE(this=rank, expression=integer(max_values + 1))",
    ),
    Mutant(
        "of a unit's distinct values one is in the bound of their sum",
        "analysis/unit_contribution.py",
        "return values_per_group(max_values, limited) * statistic.magnitude",
        "return statistic.magnitude",
        about="aggregate_distinct",
    ),
    Mutant(
        "distinct values are summed without clamps",
        "emit/release/distinct_count.py",
        "steps = in_range(discretized, as_steps(discretized, value))",
        "steps = as_steps(discretized, value)",
        about="aggregate_distinct",
    ),
    Mutant(
        "values of all of a unit's groups are counted",
        "emit/release/distinct_count.py",
        'in_groups = limit_groups(pairs, limited, names, rank="dense_rank")',
        "in_groups = pairs",
    ),
    Mutant(
        "the rows of a unit in cells aren't limited",
        "emit/release/histogram.py",
        "this=column_ref(_CELL_ROWS), expression=integer(rows_per_group(limited))",
        "this=column_ref(_CELL_ROWS), expression=integer(2**40)",
    ),
    Mutant(
        "rows are drawn again for each cell",
        "emit/release/histogram.py",
        "return exp.Sub(this=taken(until), expression=taken(before))",
        "return taken(until)",
    ),
    Mutant(
        "the cells of all of a unit's groups are counted",
        "emit/release/histogram.py",
        "exp.GT(this=column_ref(_RANK), expression=integer(max_groups))",
        "exp.GT(this=column_ref(_RANK), expression=integer(2**40))",
    ),
    Mutant(
        "a choice knows of one row of a unit",
        "release/selection_mechanism.py",
        "Quantiles.calibrated(\n                query_loss, quantiles, rows=rows,",
        "Quantiles.calibrated(query_loss, quantiles, rows=1,",
    ),
    Mutant(
        "the spread of a choice is halved",
        "release/selection_mechanism.py",
        "_choice_of(units * rows, query_loss, groups)",
        "_choice_of(max(1, units * rows // 2), query_loss, groups)",
    ),
    Mutant(
        "each group that is drawn for itself has the whole loss",
        "release/joint_noise.py",
        "KNorm.calibrated(epsilon / groups, moves,",
        "KNorm.calibrated(epsilon, moves,",
        about="joint_noise",
    ),
    Mutant(
        "rows in all are taken for half of them",
        "release/joint_noise.py",
        "Fraction(limited.rows, rows_per_group(limited))",
        "Fraction(limited.rows, 2 * rows_per_group(limited))",
        about="joint_noise",
    ),
    Mutant(
        "parts of rows rise by no more levels than whole ones",
        "release/joint_noise.py",
        "epsilon / (filled + Fraction(1, parts))",
        "epsilon / filled",
        _JOINT,
        "rows_in_all",
        "AssertionError",
    ),
    Mutant(
        "what is no sum of rows is limited with them",
        "release/joint_noise.py",
        "        return None  # a unit, or a value, counts where few of its rows do",
        "        pass",
        _JOINT,
        "rows_in_all",
        "AssertionError",
    ),
    Mutant(
        "replaced units are in no more groups than one of them",
        "release/joint_noise.py",
        "return 2 * sensitivity.groups if",
        "return sensitivity.groups if",
        _JOINT,
        "replaced_pair",
        "AssertionError",
    ),
    Mutant(
        "a draw is for a move of the first statistic",
        "release/joint_noise.py",
        "moves = sensitivity.per_group\n",
        "moves = sensitivity.per_group[:1] * len(sensitivity.per_group)\n",
        about="joint_noise",
    ),
    Mutant(
        "replaced units are taken for units that move all counts in one direction",
        "release/joint_noise.py",
        "is not None or sensitivity.is_replacement:",
        "is not None:",
        _JOINT,
        "replaced_units_have_no_direction",
        "AssertionError",
    ),
    Mutant(
        "moves in both directions are taken for moves in one",
        "release/joint_noise.py",
        "any(low or not high for low, high in intervals)",
        "not all(high for _, high in intervals)",
        about="joint_noise",
    ),
    Mutant(
        "each group that is drawn for itself has the whole loss, in one direction",
        "release/joint_noise.py",
        "(1, epsilon / groups)]",
        "(1, epsilon)]",
        about="joint_noise",
    ),
    Mutant(
        "of several units one moves all levels",
        "release/joint_noise.py",
        "cells=drawn_cells, units=sensitivity.units",
        "cells=drawn_cells, units=1",
        _JOINT,
        "move_levels",
        "AssertionError",
    ),
    Mutant(
        "as many ways down as one are drawn",
        "privacy/mechanisms/one_direction.py",
        "(level + 1) * group**self.cells",
        "group**self.cells",
        "tests/privacy/test_one_direction.py",
        "fit_the_law",
        "AssertionError",
    ),
    Mutant(
        "of several units each is charged as if it were alone",
        "release/joint_noise.py",
        "units = sensitivity.units**2\n",
        "units = 1\n",
        _JOINT,
        "several_units",
        "AssertionError",
    ),
    Mutant(
        "the part that integers share is drawn for each group",
        "privacy/mechanisms/noise/correlated.py",
        "common = np.repeat(draws(self.shared, answers, randomness), self.cells)",
        "common = draws(self.shared, size, randomness)",
        "tests/privacy/test_correlated.py",
        "fit_the_joint_law",
        "AssertionError",
    ),
    Mutant(
        "the integers of one vector are drawn each by itself",
        "privacy/mechanisms/noise/k_norm.py",
        "            for column, own in zip(columns, drawn, strict=True)\n",
        "            for column, own in zip(\n"
        "                columns,\n"
        "                [np.roll(one, self.cells * n) for n, one in enumerate(drawn)],\n"
        "                strict=True,\n"
        "            )\n",
        _K_NORM,
        "fit_the_law",
        "AssertionError",
    ),
)
