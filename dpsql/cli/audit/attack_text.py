"""Print the success rates of attacks, or write them as a page."""

from __future__ import annotations

from pathlib import Path

import click

from dpsql.audit.attacks.attacks import AttackReport, attack
from dpsql.audit.attacks.linkage import K
from dpsql.audit.attacks.reconstruction import check_solver
from dpsql.cli.audit.html_page import page
from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.session.compile.loss_conversion import parse_epsilon


def run_attacks(epsilon: float, trials: int, people: int, html: Path | None) -> None:
    """Run all attacks; a success rate above what the loss allows ends in an error."""
    with reporting_errors():
        check_solver()
        report = attack(parse_epsilon(epsilon), trials=trials, people=people)
    if html is not None:
        html.write_text(page(report), encoding="utf-8")
        click.echo(sanitize(str(html)))
    else:
        click.echo(_text(report))
    broken = [o.name for o in (*report.outcomes, report.linkage) if o.is_broken]
    for name in broken:
        echo_err(f"error: {name} is right more often than the loss allows")
    if broken:
        echo_err("hint: repeat it with more --trials and, if it stays, report it")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _text(report: AttackReport) -> str:
    rows = [
        [
            o.name,
            f"{o.plain / o.trials:.0%}",
            f"{o.private / o.trials:.0%}",
            f"{o.max_right:.0%}",
            o.description,
        ]
        for o in report.outcomes
    ]
    head = (
        f"guesses that were right, of {report.outcomes[0].trials} about fair coins; each attack "
        f"spends epsilon = {float(report.epsilon):g} in all\n"
    )
    rebuilt = [
        [str(r.queries), f"{r.plain / r.people:.0%}", f"{r.private / r.people:.0%}"]
        for r in report.reconstructions
    ]
    linked = report.linkage
    parts = (linked.plain, linked.k_anonymous, linked.private)
    by_register = [[*(f"{n / linked.trials:.0%}" for n in parts), f"{linked.max_right:.0%}"]]
    between = f"\n{linked.name}: {linked.description}\n"
    head_of_it = ("without names", f"{K}-anonymous", "dpsql", "at most")
    people = report.reconstructions[0].people
    below = f"\nsecrets of {people} people, reconstructed from counts of random subsets\n"
    first = listing(("attack", "DuckDB", "dpsql", "at most", "what is guessed"), rows)
    second = listing(head_of_it, by_register)
    third = listing(("counts", "DuckDB", "dpsql"), rebuilt)
    return f"{head}\n{first}\n{between}\n{second}\n{below}\n{third}"
