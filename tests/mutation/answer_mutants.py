"""Seeded bugs of what is shown without noise: counts of randomised answers alone."""

from __future__ import annotations

from mutation.mutants import Mutant

_TESTS = "tests/analysis/test_local_privacy.py"
_OF_VIEWS = "tests/session/test_randomised_views.py"
_LOCAL_NOISE = "tests/session/test_local_noise.py"

ANSWER_MUTANTS = (
    Mutant(
        "all rows are read below a condition",
        "analysis/public_row_count.py",
        "case Project(source=source):",
        "case Project(source=source) | Filter(source=source):",
        _TESTS,
    ),
    Mutant(
        "a release with some randomised answers has nothing else",
        "analysis/local_privacy.py",
        "not read <= answers.keys()",
        "not read & answers.keys()",
        _TESTS,
    ),
    Mutant(
        "conditions in aggregates are no part of what is read",
        "analysis/local_privacy.py",
        "*(s.filter for s in terms.statistics if s.filter is not None),",
        "*(),",
        _TESTS,
    ),
    Mutant(
        "keys beside randomised answers are no part of what is read",
        "analysis/local_privacy.py",
        "*(key.expression for key in terms.keys),",
        "*(key.expression for key in terms.keys[:1]),",
        _TESTS,
    ),
    Mutant(
        "what is summed is no part of what is read",
        "analysis/local_privacy.py",
        "*(s.term.value.argument for s in terms.statistics if isinstance(s.term, Sum)),",
        "*(),",
        _TESTS,
    ),
    Mutant(
        "answers are shown where nobody may know how many there are",
        "schema/randomized_response_loss.py",
        " and table.rows is not None",
        " and table.rows != 0",
        _TESTS,
    ),
    Mutant(
        "bounds that a view declares of randomised answers are believed",
        "bounding/randomized_response.py",
        "exact if low_high is None else max(low_high[0], min(exact, low_high[1]))",
        "exact",
        _OF_VIEWS,
    ),
    Mutant(
        "noise that people added is in no interval",
        "bounding/local_noise.py",
        "variance = number.noise.variance * per_unit",
        "variance = 0 * number.noise.variance * per_unit",
        _LOCAL_NOISE,
        "intervals_hold",
        "AssertionError",
    ),
    Mutant(
        "conditions on noisy numbers are taken for conditions on true ones",
        "bounding/local_noise.py",
        "if column in columns(call.filter):",
        "if False:",
        _LOCAL_NOISE,
        "for_heights",
        "DID NOT RAISE",
    ),
    Mutant(
        "less noise may be declared without consent",
        "schema/policy_diff.py",
        '("randomized_response", "local_noise", "source_name")',
        '("randomized_response", "source_name")',
        _LOCAL_NOISE,
        "by_the_ledger",
        "AssertionError",
    ),
    Mutant(
        "noisy numbers tell the digits of the true ones",
        "privacy/mechanisms/local_noise.py",
        "return [self.low + step * each for each in noisy]",
        "return [x + step * (n - k) for x, n, k in zip(values, noisy, steps)]",
        _LOCAL_NOISE,
        "on_a_grid",
        "AssertionError",
    ),
    Mutant(
        "noise is half of what its loss needs",
        "privacy/mechanisms/local_noise.py",
        "DiscreteLaplace(_STEPS / self.epsilon)",
        "DiscreteLaplace(_STEPS / self.epsilon / 2)",
        _LOCAL_NOISE,
        "on_a_grid",
        "AssertionError",
    ),
)
