"""Bugs of a ledger of Gaussian differential privacy: what noise costs, what it adds up to."""

from __future__ import annotations

from mutation.mutants import Mutant

_CONVERSION = "tests/privacy/test_gdp_conversion.py"
_CHOICES = "tests/privacy/test_pure_conversion.py"
_NOISE = "tests/privacy/test_rounded_gaussian.py"
_SESSION = "tests/session/test_gdp.py"

GDP_MUTANTS = (
    Mutant(
        "a move isn't squared in a gdp ledger",
        "release/noise_loss.py",
        "noise[index].mu_squared(change**2)",
        "noise[index].mu_squared(change)",
        about="gdp",
    ),
    Mutant(
        "rounded noise is charged half of its mu",
        "privacy/mechanisms/noise/rounded_gaussian.py",
        "return Fraction(l2_squared) / self.normal_variance",
        "return Fraction(l2_squared) / (4 * self.normal_variance)",
        about="gdp",
    ),
    Mutant(
        "noise on parts is charged as if it were on integers",
        "privacy/mechanisms/noise/rounded.py",
        "return cls(RoundedGaussian(variance * parts**2), parts)",
        "return cls(RoundedGaussian(variance), parts)",
        about="gdp",
    ),
    Mutant(
        "noise with a shared part is charged as rho in a gdp ledger",
        "release/noise_choice/noise_candidate.py",
        "loss = PrivacyLoss(Accounting.GDP, 2 * rho)",
        "loss = PrivacyLoss(Accounting.GDP, rho)",
        _SESSION,
        "twice_its_rho",
        "AssertionError",
    ),
    Mutant(
        "noise with a shared part is discrete in a gdp ledger",
        "release/noise_loss.py",
        "law=replace(each.law, is_rounded=True)",
        "law=replace(each.law, is_rounded=False)",
        _SESSION,
        "twice_its_rho",
        "AssertionError",
    ),
    Mutant(
        "the delta of keys isn't added in a gdp ledger",
        "release/noise_choice/noise_candidate.py",
        "return NoiseCandidate(noise, threshold, PrivacyLoss(Accounting.GDP, spent, delta))",
        "return NoiseCandidate(noise, threshold, PrivacyLoss(Accounting.GDP, spent))",
        _SESSION,
        "that_is_charged",
        "AssertionError",
    ),
    Mutant(
        "the delta of mu is spent on keys again",
        "session/compile/loss_conversion.py",
        "return PrivacyLoss(Accounting.GDP, mu_squared, budget.delta - converted)",
        "return PrivacyLoss(Accounting.GDP, mu_squared, budget.delta)",
        _SESSION,
        "is_the_promise",
        "AssertionError",
    ),
    Mutant(
        "the delta of mu is rounded down",
        "privacy/accounting/gdp_conversion.py",
        "round_up(near.high - exp(epsilon).low * upper_tail(far).low)",
        "round_down(near.low - exp(epsilon).high * upper_tail(far).high)",
        _CONVERSION,
        "rounded_up",
        "AssertionError",
    ),
    Mutant(
        "mu is converted for the other database",
        "privacy/accounting/gdp_conversion.py",
        "upper_tail(epsilon / mu - mu / 2), epsilon / mu + mu / 2",
        "upper_tail(epsilon / mu + mu / 2), epsilon / mu + mu / 2",
        _CONVERSION,
        "rounded_up",
        "AssertionError",
    ),
    Mutant(
        "a choice is charged a quarter of its range",
        "privacy/accounting/pure_conversion.py",
        "return mu_squared_of_pure(width / 2)",
        "return mu_squared_of_pure(width / 4)",
        _CHOICES,
        "covered_by_the_sum",
        "AssertionError",
    ),
    Mutant(
        "rounded draws are of a deviation that is half as large",
        "privacy/mechanisms/noise/normal_sampler.py",
        "((floors >> (self.grid_bits - 1)) + 1) >> 1",
        "((floors >> self.grid_bits) + 1) >> 1",
        _NOISE,
        "have_the_law",
        "AssertionError",
    ),
    Mutant(
        "all positions are accepted as if they lay in the first interval",
        "privacy/mechanisms/noise/normal_sampler.py",
        "start = interval << self.shift",
        "start = 0 * interval",
        _NOISE,
        "decided_exactly",
        "AssertionError",
    ),
)
