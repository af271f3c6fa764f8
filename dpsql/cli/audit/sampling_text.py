"""Print the sampled sensitivity of two groups of people, and what it doesn't cover."""

from __future__ import annotations

from statistics import NormalDist

import click

from dpsql.audit.empirical.sensitivity_sampling import WARNING, Mixture, sample
from dpsql.cli.exit_codes import reporting_errors


def sampled(gamma: float, seed: int, one: tuple[float, float], other: tuple[float, float]) -> None:
    """Draw pairs from a mixture of two normal laws, and print how many pairs a change covers.

    `one` and `other` are mean and standard deviation of the laws.
    """
    law = Mixture(NormalDist(*one), NormalDist(*other))
    with reporting_errors():
        sampling = sample(gamma, lambda random: abs(law.draw(random) - law.draw(random)), seed)
    click.echo(f"{WARNING}\n")
    click.echo(
        f"pairs drawn: {sampling.plan.pairs}; the {sampling.plan.rank}th smallest change counts"
    )
    click.echo(f"sampled sensitivity: {sampling.sensitivity:.2f}, mean change {sampling.mean:.2f}")
    click.echo(
        f"  it covers {law.covered(sampling.sensitivity):.1%}".replace("%", " %") + " of pairs"
    )
    for steps, text in enumerate(("expected change", "plus 1 deviation", "plus 2 deviations")):
        level = law.expected_change + steps * law.stdev
        click.echo(f"{text}: {level:.2f}, covers {100 * law.covered(level):.1f} % of pairs")
    click.echo("the worst case: without bounds, there is none; declare bounds instead")
