"""Seeded bugs of synopses. A kept answer is its query's, whose bugs the other mutants are."""

from __future__ import annotations

from dataclasses import replace

from mutation.mutants import Mutant

_FOUND = (
    Mutant(
        "a unit is in one cell of a histogram",
        "privacy/allocation/mwem_calibration.py",
        "return self.groups * self.per_cell",
        "return self.per_cell",
    ),
    Mutant(
        "cells that are merged don't add up",
        "privacy/allocation/mwem_calibration.py",
        "return _noise(self.sensitivity, merged, self.amount, gaussian=self.gaussian)",
        "return _noise(self.sensitivity, 1, self.amount, gaussian=self.gaussian)",
    ),
    Mutant(
        "measurements are charged once for all rounds, under pure",
        "privacy/allocation/mwem_calibration.py",
        "spent = total + self.rounds * (self.choice.epsilon + self.amount)",
        "spent = total + self.rounds * self.choice.epsilon + self.amount",
    ),
    Mutant(
        "measurements are charged once for all rounds",
        "privacy/allocation/mwem_calibration.py",
        "spent = total + self.rounds * (self.choice.rho() + self.amount)",
        "spent = total + self.rounds * self.choice.rho() + self.amount",
    ),
    Mutant(
        "choices are free",
        "privacy/allocation/mwem_calibration.py",
        "spent = total + self.rounds * (self.choice.rho() + self.amount)",
        "spent = total + self.rounds * self.amount",
    ),
    Mutant(
        "scores are taken for monotone, under pure",
        "privacy/allocation/mwem_calibration.py",
        "Exponential(each, 2 * sensitivity.l1), each, gaussian=False\n    )",
        "Exponential(each, sensitivity.l1), each, gaussian=False)",
    ),
    Mutant(
        "the number of rows is free",
        "privacy/allocation/mwem_calibration.py",
        "total = self.total.rho(self.sensitivity.l1**2)",
        "total = Fraction(0)",
    ),
    Mutant(
        "noise of what is measured is of one cell's move, under pure",
        "privacy/allocation/mwem_calibration.py",
        "return DiscreteLaplace(sensitivity.l1 / amount)",
        "return DiscreteLaplace("
        "(sensitivity.l1 if merged == sensitivity.groups else sensitivity.per_cell) / amount)",
    ),
    Mutant(
        "the steps between neighbours are forgotten in a histogram's move",
        "release/synopsis/mwem.py",
        "moves = HistogramSensitivity(filled, changed.units * rows_per_group(bounded.limited))",
        "moves = HistogramSensitivity(filled, rows_per_group(bounded.limited))",
    ),
    Mutant(
        "the rows of a unit in a cell are one",
        "release/synopsis/mwem.py",
        "moves = HistogramSensitivity(filled, changed.units * rows_per_group(bounded.limited))",
        "moves = HistogramSensitivity(filled, changed.units)",
    ),
    Mutant(
        "a unit's rows fill a cell less than they may",
        "release/synopsis/mwem.py",
        "filled = groups_at_row_limit(bounded.limited, changed.groups_per_unit)",
        "filled = max(1, groups_at_row_limit(bounded.limited, changed.groups_per_unit) - 1)",
    ),
    Mutant(
        "a replaced unit of a synopsis is as if removed",
        "session/compile/release_compiler.py",
        "calibrate_mwem(bounded, distance.steps, share",
        "calibrate_mwem(bounded, distance.units, share",
    ),
    Mutant(
        "a round more is measured than is paid for",
        "release/synopsis/mwem.py",
        "for number in range(parameters.rounds if among else 0):",
        "for number in range(parameters.rounds + 1 if among else 0):",
    ),
    Mutant(
        "rows are counted twice in a histogram",
        "release/synopsis/mwem.py",
        "grid = np.asarray(totals, dtype=np.int64).reshape(shape)",
        "grid = 2 * np.asarray(totals, dtype=np.int64).reshape(shape)",
    ),
    Mutant(
        "weights are scaled to the true number of rows",
        "release/synopsis/mwem.py",
        "total = min(max(float(rows), 1.0), 2.0**50)",
        "total = float(cells.sum()) + 1",
    ),
    Mutant(
        "a partition's true counts are kept beside its noisy ones",
        "release/synopsis/mwem.py",
        "measured.append(_Measured(chosen, noisy.astype(np.float64), 1 / float(noise.variance)))",
        "measured.append(_Measured(chosen, exact.astype(np.float64), 1 / float(noise.variance)))",
    ),
    Mutant(
        "a box merges as many cells as its narrowest side",
        "release/synopsis/cell_partition.py",
        "return math.prod(min(n, size) for n, size in zip(self.shape, self.sizes, strict=True))",
        "return min(min(n, size) for n, size in zip(self.shape, self.sizes, strict=True))",
    ),
)

SYNOPSIS_MUTANTS = tuple(replace(mutant, about="synopsis") for mutant in _FOUND)
