"""Seeded bugs of alerts: how far what they compare moves, and what is named of it."""

from __future__ import annotations

from mutation.mutants import Mutant

MECHANISM = "tests/privacy/test_above_threshold.py"
LAW = "tests/session/test_alert.py"
STREAM = "tests/privacy/test_threshold_stream.py"
SAVED = "tests/session/test_create_alert.py"

ALERT_MUTANTS = (
    Mutant(
        "one unit is all that moves what an alert compares",
        "release/alert.py",
        "    span = units * (high - low)",
        "    span = high - low",
        about="alert",
    ),
    Mutant(
        "a replaced unit of an alert reaches half as far",
        "release/alert.py",
        "    reach = span // 2 if sensitivity.is_replacement else units * max(high, -low)",
        "    reach = max(1, span // 4) if sensitivity.is_replacement else units * max(high, -low)",
        about="alert",
    ),
    Mutant(
        "an alert that is kept pays for one name however many there may be",
        "release/alert.py",
        "        _alert(bounded).firings,\n",
        "        _alert(bounded).firings if checks is None else 1,\n",
        about="create_alert",
    ),
    Mutant(
        "conditions from below move as those from above",
        "release/alert.py",
        "        ends.append((low, high) if condition.sign > 0 else (-high, -low))",
        "        ends.append((low, high))",
        about="alert",
    ),
    Mutant(
        "a unit's rows in a group of an alert are one",
        "release/alert.py",
        "        low, high = partial_interval(statistics[condition.index], bounded.limited)",
        (
            "        low, high = statistics[condition.index].interval\n"
            "        low, high = min(low, 0), max(high, 0)"
        ),
        about="alert",
    ),
    Mutant(
        "all rows that a unit has in a group of an alert count",
        "bounding/alert_conditions.py",
        "    each = ClampPerGroup(PerUnitGroup(terms), bounds.rows_per_group)",
        "    each = ClampPerGroup(PerUnitGroup(terms), 2**20)",
        LAW,
        "limited",
        "assert",
    ),
    Mutant(
        "what is named costs nothing by its number",
        "privacy/mechanisms/selection/above_threshold.py",
        "        return self.threshold_rate * self.moves.reach + named",
        "        return self.threshold_rate * self.moves.reach + named / self.firings",
        MECHANISM,
        "told_apart",
        "assert",
    ),
    Mutant(
        "the range of a loss is taken for half of it",
        "privacy/mechanisms/selection/above_threshold.py",
        "return self.threshold_rate * self.moves.span + 2 * named",
        "return self.threshold_rate * self.moves.span + named",
        MECHANISM,
        "told_apart",
        "assert",
    ),
    Mutant(
        "the threshold isn't raised",
        "privacy/mechanisms/selection/above_threshold.py",
        "        return geometric(self.threshold_rate, randomness) + self.offset",
        "        return self.offset",
        MECHANISM,
        "have_their_law",
        "assert",
    ),
    Mutant(
        "all that holds is named",
        "privacy/mechanisms/selection/above_threshold.py",
        "        return lifted[: self.firings]",
        "        return lifted",
        MECHANISM,
        "far_from",
        "assert",
    ),
    Mutant(
        "each check of an alert has a number of its own",
        "privacy/mechanisms/selection/threshold_stream.py",
        "        return self.mechanism.lifted(short, self.raised, randomness)[:1]",
        (
            "        raised = self.mechanism.raised(randomness)\n"
            "        return self.mechanism.lifted(short, raised, randomness)[:1]"
        ),
        STREAM,
        "law_of_one_number",
        "assert",
    ),
    Mutant(
        "a check names all that holds",
        "privacy/mechanisms/selection/threshold_stream.py",
        "        return self.mechanism.lifted(short, self.raised, randomness)[:1]",
        "        return self.mechanism.lifted(short, self.raised, randomness)",
        STREAM,
        "law_of_one_number",
        "assert",
    ),
    Mutant(
        "an alert is never used up",
        "session/alerts/check.py",
        "        if history.used >= alert.stored.firings:",
        "        if history.used > 2 * alert.stored.firings:",
        SAVED,
        "used_up",
        "Failed",
    ),
    Mutant(
        "a check without an answer wasn't made",
        "session/alerts/check_log.py",
        "            break\n        used += 1",
        "            break",
        SAVED,
        "no_look_is_had",
        "assert",
    ),
    Mutant(
        "the same version of the data is checked again",
        "session/alerts/check.py",
        "        if known is not None and known.version == version:",
        "        if known is not None and known.version == version + version:",
        SAVED,
        "used_up",
        "assert",
    ),
    Mutant(
        "a check is of whatever policy there is now",
        "session/alerts/check.py",
        "    if alert.stored.policy_hash != context.schema.policy_hash:",
        "    if not alert.stored.policy_hash:",
        SAVED,
        "another_policy",
        "Failed",
    ),
    Mutant(
        "a unit moves what is checked by more than was paid for",
        "session/alerts/check.py",
        "    if now.reach > paid.reach or now.span > paid.span:",
        "    if now.reach > paid.reach and now.span > 4 * paid.span:",
        SAVED,
        "moves_more",
        "Failed",
    ),
    Mutant(
        "whoever asks has paid",
        "ledger/charge_transaction.py",
        "    elif chain.store.paid_seq(charge.paid_by, charge.analyst) is None:",
        "    elif chain.store.stored_seq(charge.paid_by) is None:",
        "tests/ledger/test_ledger_reuse.py",
        "paid_before",
        "Failed",
    ),
)
