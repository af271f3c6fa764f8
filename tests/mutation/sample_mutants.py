"""Seeded bugs of a secret sample: who is in it, and what is lost of it."""

from __future__ import annotations

from mutation.mutants import Mutant

_LAW = "tests/privacy/test_subsampling.py"
_VIEWS = "tests/engine/test_sampled_view.py"
_SESSION = "tests/session/test_sample.py"

SAMPLE_MUTANTS = (
    Mutant(
        "rows whose unit another table tells are all read",
        "engine/duckdb/sampled_view.py",
        "select.from_(rows).where(_has_parent(parent, pairs))",
        "select.from_(rows)",
        _VIEWS,
        fails_by="AssertionError",
    ),
    Mutant(
        "more units are drawn than are declared",
        "privacy/subsampling.py",
        "return int(self.rate * 2**BITS)",
        "return int(self.rate * 2**BITS) + 1",
        _LAW,
        "more_often",
        "AssertionError",
    ),
    Mutant(
        "the threshold is compared with other digits",
        "engine/duckdb/sampled_view.py",
        "expressions=[hashed, exp.Literal.number(1), exp.Literal.number(_DIGITS)],",
        "expressions=[hashed, exp.Literal.number(2), exp.Literal.number(_DIGITS)],",
        _VIEWS,
        "sha_256",
        "AssertionError",
    ),
    Mutant(
        "each answer is amplified alone",
        "privacy/subsampling.py",
        "return max(epsilon, round_down(",
        "return max(epsilon / self.rate, round_down(",
        _LAW,
        "figures",
        "AssertionError",
    ),
    Mutant(
        "what may be lost of the sample is rounded up",
        "privacy/subsampling.py",
        "round_down(ln(1 + max(grown, Fraction(0))).low, _DIGITS)",
        "round_up(ln(1 + max(grown, Fraction(0))).low, _DIGITS)",
        _LAW,
        "rounded_against",
        "AssertionError",
    ),
    Mutant(
        "delta isn't divided but kept",
        "privacy/subsampling.py",
        "return delta * self.rate",
        "return delta * self.rate**2",
        _LAW,
        "no_further",
        "AssertionError",
    ),
    Mutant(
        "units are drawn by the hash that limits choose groups by",
        "engine/duckdb/sampled_view.py",
        'this="sha256", expressions=[_joined([exp.Literal.string(key), unit])]',
        (
            'this="format", expressions=[exp.Literal.string("{:016x}"),'
            ' exp.Anonymous(this="hash", expressions=[unit, exp.Literal.string(key)])]'
        ),
        _VIEWS,
        "sha_256 or independently",
        "AssertionError",
    ),
    Mutant(
        "rows of one key are drawn together",
        "engine/duckdb/sampled_view.py",
        'counted = [identity, exp.Literal.string("#"), _text(_column(_NUMBER))]',
        "counted = [identity]",
        _VIEWS,
        "of_one_key",
        "AssertionError",
    ),
    Mutant(
        "rows of one key are numbered in any order",
        "engine/duckdb/sampled_view.py",
        "order = _together(columns)",
        "order = identity.copy()",
        _VIEWS,
        "of_one_key",
        "AssertionError",
    ),
    Mutant(
        "every ledger draws the same sample",
        "ledger/chain/entry.py",
        'f"sample of units\\n{self.ledger}"',
        '"sample of units"',
        _SESSION,
        "as_long_as",
        "AssertionError",
    ),
    Mutant(
        "all units may lose what the sample may",
        "schema/load/sampling.py",
        "law.epsilon_of_sample(of_all.epsilon), law.delta_of_sample(of_all.delta)",
        "2 * law.epsilon_of_sample(of_all.epsilon), law.delta_of_sample(of_all.delta)",
        _SESSION,
        "were_promised",
        "AssertionError",
    ),
    Mutant(
        "what isn't drawn is in no interval",
        "bounding/statistics/sample_estimator.py",
        "of_one = (whole - 1) * per_unit * largest**2",
        "of_one = (whole - 1) * 0",
        _SESSION,
        "deviation_of_a_count",
        "AssertionError",
    ),
    Mutant(
        "another sample may be declared over the same ledger",
        "schema/model.py",
        'return f"{name} in a sample of {self.budget.sample.law.rate}"',
        "return name",
        _SESSION,
        "one_sample",
        "DID NOT RAISE|AssertionError",
    ),
    Mutant(
        "a prepared file of all units is read",
        "session/sidecar.py",
        "if schema.budget.sample is not None:",
        "if False:",
        _SESSION,
        "not_prepared",
        "DID NOT RAISE",
    ),
)
