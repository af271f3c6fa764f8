"""Seeded bugs of dashboards. A kept answer is its query's, whose bugs the other mutants are."""

from __future__ import annotations

from mutation.mutants import Mutant

from dpsql.structs import replace

_NOISE = "privacy/mechanisms/residual_gaussian.py"
_CALIBRATION = "release/dashboard/calibrate_dashboard.py"

_FOUND = (
    Mutant(
        "the total of a dashboard is free",
        _NOISE,
        "            for one in self.residuals\n        ]\n        own = ",
        "            for one in self.residuals if one.axes\n        ]\n        own = ",
    ),
    Mutant(
        "a residual's noise has its deviation for a variance",
        _NOISE,
        "variance = residual.variance * self._scale(residual) ** 2",
        "variance = residual.variance * self._scale(residual)",
    ),
    Mutant(
        "a unit of a dashboard is in one cell",
        _CALIBRATION,
        "moves.append(UnitMoves(cells, bound, is_signed=low < 0 < high))",
        "moves.append(UnitMoves(1, bound, is_signed=low < 0 < high))",
    ),
    Mutant(
        "a unit's cells have nothing in common",
        _NOISE,
        "one = cells * own + cells * (cells - 1) * alike",
        "one = cells * own",
    ),
    Mutant(
        "a unit of a dashboard has one row in a cell",
        _CALIBRATION,
        "bound = partial_bound(statistic, bounded.limited)",
        "bound = statistic.magnitude",
    ),
    Mutant(
        "a replaced unit of a dashboard is as if removed",
        _NOISE,
        "        if distance.is_replacement:\n",
        "        if not distance.units:\n",
    ),
    Mutant(
        "units of a dashboard lose one by one",
        _NOISE,
        "return (moves.per_cell * distance.units) ** 2 * one / 2",
        "return moves.per_cell**2 * distance.units * one / 2",
    ),
    Mutant(
        "a dashboard's second statistic is free",
        _CALIBRATION,
        "    spent = sum(losses, Fraction(0))\n    if spent > rho:",
        "    spent = next(losses)\n    if spent > rho:",
    ),
    Mutant(
        "a dashboard keeps exact counts beside noisy ones",
        _NOISE,
        "noisy = self.noise(one).release_vector(exact.ravel(), randomness)",
        "noisy = self.noise(one).release_vector(exact.ravel(), randomness) * 0 + exact.ravel()",
    ),
    Mutant(
        "rows of a dashboard are counted twice",
        "release/dashboard/dashboard_table.py",
        "one.release(np.asarray(totals).reshape(shape), randomness).ravel()",
        "one.release(2 * np.asarray(totals).reshape(shape), randomness).ravel()",
    ),
    Mutant(
        "a unit's rows fill a cell of a dashboard less than they may",
        _CALIBRATION,
        "cells = groups_at_row_limit(bounded.limited, changed.groups_per_unit)",
        "cells = max(1, groups_at_row_limit(bounded.limited, changed.groups_per_unit) - 1)",
    ),
    Mutant(
        "charts of other rows are taken for charts of these",
        "bind/statements/create_dashboard.py",
        "if charts and chart.rows != charts[0].rows:",
        "if not charts and chart.rows != chart.rows:",
    ),
)

DASHBOARD_MUTANTS = tuple(replace(mutant, about="dashboard") for mutant in _FOUND)
