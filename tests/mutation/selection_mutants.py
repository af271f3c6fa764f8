"""Seeded bugs of the choice among public rows by weighted counts of private ones."""

from __future__ import annotations

from functools import partial

from mutation.mutants import Mutant

LAW = "tests/session/test_private_selection.py"

_Weighed = partial(Mutant, about="weighted_keys")
_Weights = partial(
    Mutant, tests="tests/session/test_weighted_keys.py", fails_by="AssertionError|assert "
)
_ByRows = partial(
    Mutant, tests="tests/session/test_keys_by_rows.py", fails_by="AssertionError|assert |Error"
)

SELECTION_MUTANTS = (
    _ByRows(
        "a group of one unit's rows is hidden as if they were in one group",
        "release/key_threshold.py",
        "return [(sensitivity.groups * units, sensitivity.per_group[index])]",
        "return [(units, sensitivity.per_group[index])]",
        about="group_of_its_own",
    ),
    _ByRows(
        "keys are chosen by rows where units are asked for",
        "session/compile/plan_choice/counted_keys.py",
        "if index is None or bounded.min_units is not None or",
        "if index is None or",
        about="asked_for",
    ),
    _Weighed(
        "a unit in many groups weighs in each what one does in its only group",
        "emit/release/unit_weights.py",
        "integer(each)",
        "integer(term.largest)",
    ),
    _Weighed(
        "weights in many groups are larger than their norm allows",
        "privacy/unit_weight.py",
        "isqrt(groups * RESOLUTION**2 // number)",
        "isqrt(2 * groups * RESOLUTION**2 // (number + 1))",
    ),
    _Weighed(
        "units of more groups than their limit have their sums weighed in all",
        "emit/release/limited_sums.py",
        "sums_of_units: exp.Query = bounded if are_chosen else",
        "sums_of_units: exp.Query = bounded if are_chosen or terms.weighs_units else",
    ),
    _Weights(
        "the threshold is that of a unit in all of its groups",
        "release/key_threshold.py",
        "for groups, weight in term.weights]",
        "for groups, weight in term.weights[-1:]]",
        about="hidden_by_the_threshold",
    ),
    _Weights(
        "two units weigh as much as one",
        "release/key_threshold.py",
        "units * weight) for",
        "weight) for",
        about="two_units",
    ),
    _Weights(
        "weights and their noise share one delta unproved",
        "release/key_threshold.py",
        "return index is None",
        "return True",
        about="hidden_by_the_threshold",
    ),
    Mutant(
        "noise and keys share one delta, and nobody asks for the proof",
        "release/noise_choice/noise_candidate.py",
        "return replace(whole, proved=proved)",
        "return whole",
        "tests/release/test_calibration.py",
        "as_if_each",
        "AssertionError|assert ",
    ),
    Mutant(
        "the delta of noise and keys is that of no group or of all groups known",
        "privacy/partition_selection.py",
        "if groups > 1 else []",
        "if groups > 99 else []",
        "tests/privacy/test_partition_selection.py",
        "passed_over",
        "AssertionError|assert ",
    ),
    _Weights(
        "replaced units' weights are apart by their ends alone",
        "analysis/sensitivity.py",
        "norm = _norm(groups, release, units, squared=squared, times=2)",
        "norm = _norm(groups, release, units, squared=squared, times=1)",
        about="replaced_units",
    ),
    Mutant(
        "weights are left out of the spread of scores",
        "analysis/score_sensitivity.py",
        "return changed.units * rows * each",
        "return changed.units * rows * min(each, 1)",
        about="private_selection",
    ),
    Mutant(
        "a unit has one row in the spread of scores",
        "analysis/score_sensitivity.py",
        "return changed.units * rows * each",
        "return changed.units * each",
        about="private_selection",
    ),
    Mutant(
        "profits and losses count as if they moved in one direction",
        "analysis/score_sensitivity.py",
        "ranges.append(max([high, *others]) - min([low, *others]))",
        "ranges.append(max([high, *others]))",
        about="private_selection",
    ),
    Mutant(
        "candidates that a row doesn't pass are forgotten",
        "analysis/score_sensitivity.py",
        "others = [0] if cell < last else []",
        "others = []",
        about="private_selection",
    ),
    Mutant(
        "a replaced row moves scores as one that is removed",
        "analysis/score_sensitivity.py",
        "return changed.units // 2 * rows * min(2 * each, _replaced_range(scores, cells))",
        "return changed.units // 2 * rows * each",
        about="private_selection",
    ),
    Mutant(
        "where rows are replaced, profits and losses move in one direction",
        "analysis/score_sensitivity.py",
        "return max([0, *weights]) - min([0, *weights])",
        "return max([0, *weights])",
        about="private_selection",
    ),
    Mutant(
        "rows below a threshold count for it",
        "release/selection_mechanism.py",
        "counts.clip(0, max_rows)[:, ::-1].cumsum(axis=1)[:, ::-1]",
        "counts.clip(0, max_rows).cumsum(axis=1)",
        LAW,
        "law",
        fails_by="AssertionError",
    ),
    Mutant(
        "the first threshold that a row passes is its cell",
        "emit/release/cell/histogram_cell.py",
        "for number, threshold in reversed([*enumerate(thresholds)]):",
        "for number, threshold in [*enumerate(thresholds)]:",
        LAW,
        "law",
        fails_by="AssertionError",
    ),
    Mutant(
        "a unit has one row of a frequent key",
        "release/selection_mechanism.py",
        "_choice_of(units * rows_per_cell, query_loss, groups)",
        "_choice_of(units, query_loss, groups)",
        about="order_limit",
    ),
    Mutant(
        "one unit is all that changes the counts of frequent keys",
        "release/selection_mechanism.py",
        "_choice_of(units * rows_per_cell, query_loss, groups)",
        "_choice_of(rows_per_cell, query_loss, groups)",
        about="order_limit",
    ),
    Mutant(
        "each of several frequent keys has the whole loss",
        "release/selection_mechanism.py",
        "_choice_of(units * rows_per_cell, query_loss, count * groups)",
        "_choice_of(units * rows_per_cell, query_loss, groups)",
        about="order_limit",
        fails_by="ArithmeticError",
    ),
    Mutant(
        "several frequent keys lose what one does",
        "release/selection_mechanism.py",
        "return PrivacyLoss(accounting, self.count * self.groups * one.amount)",
        "return PrivacyLoss(accounting, self.groups * one.amount)",
        about="order_limit",
    ),
    Mutant(
        "a key that was chosen may be chosen again",
        "release/selection_mechanism.py",
        "stays = np.arange(counts.shape[1]) != index",
        "stays = np.arange(counts.shape[1]) != 0 * index",
        "tests/session/test_top_keys.py",
        "twice",
        fails_by="AssertionError",
    ),
    Mutant(
        "a unit is in one of the chosen groups",
        "release/top_keys/top_counts.py",
        "LimitGroups(rows, ByDomain(target.count))",
        "LimitGroups(rows, ByDomain(1))",
        about="order_limit",
    ),
    Mutant(
        "a unit has one row of a chosen key that is counted",
        "release/top_keys/top_counts.py",
        "rows = ClampPerGroup(PerUnitGroup(terms), target.rows)",
        "rows = ClampPerGroup(PerUnitGroup(terms), 1)",
        about="order_limit",
    ),
    Mutant(
        "the counts of chosen keys have the whole loss",
        "release/top_keys/top_counts.py",
        "rest = PrivacyLoss(kind, granted - spent.amount, query_loss.delta)",
        "rest = PrivacyLoss(kind, granted, query_loss.delta)",
        "tests/session/test_top_counts.py",
        "share_the_loss",
        fails_by="assert",
    ),
    Mutant(
        "the choice of keys that are counted isn't charged",
        "release/top_keys/top_counts.py",
        "spent + measured.loss, (chooser,)",
        "measured.loss, (chooser,)",
        about="order_limit",
    ),
    Mutant(
        "the counts that come first are shown, and not those of the chosen keys",
        "release/selection_mechanism.py",
        "exact = np.take_along_axis(counts, cells, axis=1)",
        "exact = counts[:, : cells.shape[1]]",
        "tests/session/test_top_counts.py",
        "law_of_a_choice",
        fails_by="assert",
    ),
    Mutant(
        "all rows that a unit has of a key count",
        "emit/release/histogram.py",
        "over = exp.GT(this=count.copy(), expression=limit.copy())",
        "over = exp.GT(this=count.copy(), expression=integer(2**40))",
        about="order_limit",
    ),
    Mutant(
        "other weights are the same answer",
        "session/digest/tags.py",
        '("first_cells", "weights", "step")',
        '("first_cells", "step")',
        LAW,
        "another_answer",
        fails_by="AssertionError",
    ),
)
