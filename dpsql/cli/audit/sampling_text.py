"""Print what sensitivity sampling says of two groups of people, and what it doesn't."""

from __future__ import annotations

from statistics import NormalDist

import click

from dpsql.audit.empirical.sensitivity_sampling import WARNING, Mixture, sample
from dpsql.cli.exit_codes import reporting_errors


def sampled(gamma: float, seed: int, one: tuple[float, float], other: tuple[float, float]) -> None:
    """Draw pairs from the mixture of two normal laws, and tell what their changes cover."""
    law = Mixture(NormalDist(*one), NormalDist(*other))
    with reporting_errors():
        found = sample(gamma, lambda random: abs(law.draw(random) - law.draw(random)), seed)
    click.echo(f"{WARNING}\n")
    click.echo(f"pairs drawn: {found.plan.pairs}; the {found.plan.rank}th smallest change counts")
    click.echo(f"sampled sensitivity: {found.sensitivity:.2f}, mean change {found.mean:.2f}")
    click.echo(f"  it covers {law.covered(found.sensitivity):.1%}".replace("%", " %") + " of pairs")
    for steps, text in enumerate(("expected change", "plus 1 deviation", "plus 2 deviations")):
        level = law.expected_change + steps * law.stdev
        click.echo(f"{text}: {level:.2f}, covers {100 * law.covered(level):.1f} % of pairs")
    click.echo("the worst case: without bounds, there is none; declare bounds instead")
