"""Seeded bugs of decisions: what their choices are drawn by, and how far that moves."""

from __future__ import annotations

from mutation.mutants import Mutant

from dpsql.structs import replace

_FOUND = (
    Mutant(
        "a round's choice is made by its own losses too",
        "privacy/mechanisms/selection/weighted_majority.py",
        "    before[1:] = losses[:-1].cumsum(axis=0)",
        "    before[:] = losses.cumsum(axis=0)",
    ),
    Mutant(
        "a replaced unit of a decision is as if removed",
        "release/decision.py",
        "    per_round = sensitivity.units * span",
        "    per_round = max(1, sensitivity.units // 2) * span",
    ),
    Mutant(
        "a unit's rows in a round are one",
        "release/decision.py",
        "    intervals = [partial_interval(s, bounded.limited) for s",
        "    intervals = [s.interval for s",
    ),
    Mutant(
        "a unit's losses are in one round",
        "release/decision.py",
        "    moves = LossMoves(_rounds(bounded), per_round, filled * per_round)",
        "    moves = LossMoves(_rounds(bounded), per_round, per_round)",
        "tests/session/test_decide.py",
        "replaced",
        "assert",
    ),
    Mutant(
        "a unit fills a round less than it may",
        "release/decision.py",
        "    filled = groups_at_row_limit(bounded.limited, sensitivity.groups)",
        "    filled = max(1, groups_at_row_limit(bounded.limited, sensitivity.groups) - 1)",
        "tests/session/test_decide.py",
        "replaced",
        "assert",
    ),
    Mutant(
        "losses move two experts' sums apart by half of what they span",
        "release/decision.py",
        "    span = max(high for _, high in intervals) - min(low for low, _ in intervals)",
        "    span = -min(low for low, _ in intervals) // 2",
    ),
    Mutant(
        "of several experts one lies lower than the others' span",
        "release/decision.py",
        "    span = max(high for _, high in intervals) - min(low for low, _ in intervals)",
        "    span = min(high - low for low, high in intervals)",
    ),
    Mutant(
        "the rate of a round is charged once for all rounds, under zcdp",
        "privacy/allocation/learning_rate.py",
        "    return round_down(sqrt(8 * rho / moves.sum_of_squares).low)",
        "    return round_down(sqrt(8 * rho / moves.in_all**2).low)",
        "tests/privacy/test_weighted_majority.py",
        "what_is_spent",
        "a weighted majority passed|passed its grant|assert",
    ),
    Mutant(
        "all rounds cost what one does",
        "privacy/mechanisms/selection/weighted_majority.py",
        "        return self.rate**2 * self.moves.sum_of_squares / 8",
        "        return self.rate**2 * self.moves.in_all**2 / 8",
        "tests/privacy/test_weighted_majority.py",
        "told_apart",
        "assert",
    ),
    Mutant(
        "a round of the caller's that is another moves one expert alone",
        "privacy/online_decision.py",
        "    moves = LossMoves(rounds, 2 * _STEPS, 2 * _STEPS * rounds_per_unit)",
        "    moves = LossMoves(rounds, _STEPS, _STEPS * rounds_per_unit)",
        "tests/privacy/test_online_decision.py",
        "delta or several",
        "assert",
    ),
    Mutant(
        "experts are chosen by randomised answers as if they were true",
        "bounding/expert_losses.py",
        "    estimate_true_answers(read)  # refuses",
        "    estimate_true_answers  # refuses",
    ),
    Mutant(
        "experts' losses are in steps of their own",
        "bounding/expert_losses.py",
        "        Grid(math.floor(g.low * g.step / step), math.ceil(g.high * g.step / step), step)",
        "        g",
        "tests/session/test_decide.py",
        "own_unit",
        "assert",
    ),
)

DECISION_MUTANTS = tuple(
    mutant if mutant.about else replace(mutant, about="weighted_majority") for mutant in _FOUND
)
"""Those that no bound is passed by are found by the losses that tests work out themselves."""
