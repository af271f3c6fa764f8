"""Seeded bugs of synopses. A kept answer is its query's, whose bugs the other mutants are."""

from __future__ import annotations

from mutation.mutants import Mutant

from dpsql.structs import replace

_OF_A_ROUND = "ArithmeticError: a round of a synopsis passed its parts"

_FOUND = (
    Mutant(
        "a unit is in one cell of a histogram",
        "privacy/allocation/mwem_calibration.py",
        "filled = self.groups * self.per_cell",
        "filled = self.per_cell",
    ),
    Mutant(
        "cells that are merged don't add up",
        "privacy/allocation/mwem_calibration.py",
        "largest = min(self.l1, min(self.groups, merged) * self.per_cell)",
        "largest = min(self.l1, self.per_cell)",
        fails_by=_OF_A_ROUND,
    ),
    Mutant(
        "what is left of a unit's rows, where counts are full, is forgotten",
        "privacy/allocation/mwem_calibration.py",
        "return full * largest**2 + left**2",
        "return full * largest**2",
        tests="tests/release/test_synopsis_rounds.py",
        fails_by=r"assert .* <= .*l2_squared",
    ),
    Mutant(
        "a round of several parts is measured once more for each, under pure",
        "privacy/allocation/mwem_calibration.py",
        "return DiscreteLaplace(self.sensitivity.l1 / amount)",
        "return DiscreteLaplace(self.sensitivity.l1 / (amount * taken))",
        fails_by=_OF_A_ROUND,
    ),
    Mutant(
        "choices are free, and measurements have all of a round",
        "privacy/allocation/mwem_calibration.py",
        "amount = self.part * taken * (1 - CHOICE_SHARE)",
        "amount = self.part * taken",
        fails_by=_OF_A_ROUND,
    ),
    Mutant(
        "scores are taken for monotone",
        "privacy/allocation/mwem_calibration.py",
        "return Exponential(self._range(amount), 2 * self.sensitivity.l1)",
        "return Exponential(self._range(amount), self.sensitivity.l1)",
    ),
    Mutant(
        "the number of rows is free",
        "privacy/allocation/mwem_calibration.py",
        "own = self._of_noise(self.total) + self.parts * self.part",
        "own = self.parts * self.part",
    ),
    Mutant(
        "noise of what is measured is of one cell's move, under pure",
        "privacy/allocation/mwem_calibration.py",
        "return DiscreteLaplace(self.sensitivity.l1 / amount)",
        "return DiscreteLaplace("
        "(self.sensitivity.l1 if merged == self.sensitivity.groups"
        " else self.sensitivity.per_cell) / amount)",
    ),
    Mutant(
        "the steps between neighbours are forgotten in a histogram's move",
        "release/synopsis/calibrate_synopsis.py",
        "units, in_all = changed.units, _rows_in_all(bounded)",
        "units, in_all = 1, _rows_in_all(bounded)",
    ),
    Mutant(
        "the rows of a unit in a cell are one",
        "release/synopsis/calibrate_synopsis.py",
        "units * bound,",
        "units * statistic.magnitude,",
    ),
    Mutant(
        "a unit's rows in all cells are one less than they may be",
        "release/synopsis/calibrate_synopsis.py",
        "None if in_all is None else units * in_all * statistic.magnitude,",
        "None if in_all is None else max(1, units * in_all * statistic.magnitude - 1),",
    ),
    Mutant(
        "the steps between neighbours are forgotten in all cells together",
        "release/synopsis/calibrate_synopsis.py",
        "None if in_all is None else units * in_all * statistic.magnitude,",
        "None if in_all is None else in_all * statistic.magnitude,",
    ),
    Mutant(
        "a replaced unit of a synopsis is as if removed",
        "session/compile/release_compiler.py",
        "calibrate_synopsis(bounded, distance.steps, share",
        "calibrate_synopsis(bounded, distance.units, share",
    ),
    Mutant(
        "a round more is measured than is paid for",
        "release/synopsis/mwem.py",
        "left, taken = parameters.parts, 1",
        "left, taken = parameters.parts + 1, 1",
    ),
    Mutant(
        "a round of four parts takes one of what is left",
        "release/synopsis/mwem.py",
        "left -= taken",
        "left -= 1",
    ),
    Mutant(
        "rows are counted twice in a histogram",
        "release/synopsis/synopsis_table.py",
        "_sorted(summable(totals).reshape(shape), ranks)",
        "_sorted(2 * summable(totals).reshape(shape), ranks)",
    ),
    Mutant(
        "weights are scaled to the true number of rows",
        "release/synopsis/mwem.py",
        "weights = np.full(cells.shape, total_rows([first]) / cells.size)",
        "weights = np.full(cells.shape, (float(cells.sum()) + 1) / cells.size)",
    ),
    Mutant(
        "a partition's true counts are kept beside its noisy ones",
        "release/synopsis/weight_fit.py",
        "return Measured(partition, noisy.astype(np.float64), float(noise.variance))",
        "return Measured(partition, exact.astype(np.float64), float(noise.variance))",
    ),
    Mutant(
        "a sum moves by one step for each row",
        "release/synopsis/calibrate_synopsis.py",
        "bound = partial_bound(statistic, bounded.limited)",
        "bound = partial_bound(statistic, bounded.limited) // statistic.magnitude",
    ),
    Mutant(
        "a sum moves in all cells by one step for each row",
        "release/synopsis/calibrate_synopsis.py",
        "None if in_all is None else units * in_all * statistic.magnitude,",
        "None if in_all is None else units * in_all,",
    ),
    Mutant(
        "the sums of a synopsis are free",
        "privacy/allocation/mwem_calibration.py",
        "for one in self.sums))",
        "for one in ()))",
    ),
    Mutant(
        "each histogram of a synopsis has the whole loss",
        "privacy/allocation/mwem_calibration.py",
        "(law(one, parts, amount / len(moves)) for one in moves)",
        "(law(one, parts, amount) for one in moves)",
        fails_by="ArithmeticError: a synopsis passed its grant",
    ),
    Mutant(
        "rows and sums have each other's mechanisms",
        "release/synopsis/calibrate_synopsis.py",
        "return (*sums[:rows], parameters, *sums[rows:])",
        "return (*sums, parameters)",
    ),
    Mutant(
        "sums begin at the true mean of the rows",
        "release/synopsis/mwem.py",
        "start = Synopsis(spread_sums(weights, [first], 0), (first,))",
        "start = Synopsis(weights * float(cells.sum()), (first,))",
    ),
    Mutant(
        "rows of cells that aren't listed are counted twice",
        "release/synopsis/factored/occupied_cells.py",
        "np.add.at(sums, boxes, counts)",
        "np.add.at(sums, boxes, 2 * counts)",
    ),
    Mutant(
        "how many cells have rows decides which margins there are to choose from",
        "release/synopsis/factored/factored_table.py",
        "return fitting_margins(among, measured, columns)",
        "return fitting_margins(among, measured, columns)[: 3 + cells.counts.size]",
    ),
    Mutant(
        "margins are estimated from the true number of rows",
        "release/synopsis/factored/factored_table.py",
        "start = Synopsis(MarginModel(cells.shape, [first]), (first,))",
        "exact = Measured(first.partition, first.partition.sums(cells), 1.0)\n"
        "    start = Synopsis(MarginModel(cells.shape, [exact]), (exact,))",
    ),
    Mutant(
        "a margin's bound is of the rows themselves",
        "release/synopsis/mwem.py",
        "rounds.append(Round(taken, estimates, measured[-1]))",
        "rounds.append(Round(taken, cells.astype(np.float64), measured[-1]))",
    ),
    Mutant(
        "what the estimates moved by after a round is left out of a margin's bound",
        "release/synopsis/margin_bound.py",
        "known + penalty(parameters, margin, one.taken) + _moved(margin, one, sums)",
        "known + penalty(parameters, margin, one.taken)",
        tests="tests/release/test_synopsis_bounds.py",
        fails_by="assert ",
    ),
    Mutant(
        "what bounds a count by two keys is taken for a bound of counts by either",
        "release/synopsis/margin_error.py",
        "known += [one.of_count for one in self.bounds if axes == {*one.axes}]",
        "known += [one.of_count for one in self.bounds if axes <= {*one.axes}]",
        tests="tests/release/test_synopsis_bounds.py",
        fails_by="assert ",
    ),
    Mutant(
        "an unlucky choice is left out of a margin's bound",
        "release/synopsis/margin_bound.py",
        "return off - penalty(parameters, chosen, one.taken) + worse",
        "return off - penalty(parameters, chosen, one.taken)",
        tests="tests/release/test_synopsis_bounds.py",
        fails_by="assert ",
    ),
    Mutant(
        "a box merges as many cells as its narrowest side",
        "release/synopsis/cell_partition.py",
        "return math.prod(min(n, size) for n, size in zip(self.shape, self.sizes, strict=True))",
        "return min(min(n, size) for n, size in zip(self.shape, self.sizes, strict=True))",
    ),
)

SYNOPSIS_MUTANTS = tuple(replace(mutant, about="synopsis") for mutant in _FOUND)
