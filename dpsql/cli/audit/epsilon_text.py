"""Print what an audit of the loss found."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from dpsql.audit.empirical.epsilon_lower_bound import Bound, EpsilonAudit, audit_epsilon
from dpsql.cli.audit.database_text import databases
from dpsql.cli.audit.output_format import Form, show
from dpsql.cli.exit_codes import ExitCode, explained, say
from dpsql.report.terminal.sanitize import visible
from dpsql.schema.load.load import load_schema
from dpsql.session.compile.loss_conversion import parse_epsilon

_MEANING = {
    "epsilon": "epsilon",
    "rho": "rho",
    "mu": "mu, the distance of the means in standard deviations of Gaussian noise",
}


def epsilon(
    path: Path, sql: str, asked: float | None, draws: int, alpha: float, form: Form
) -> None:
    """Audit one statement; a loss above what is charged ends in an error."""
    with explained(sql):
        spent: Fraction | None = None if asked is None else parse_epsilon(asked)
        found = audit_epsilon(sql, load_schema(path), epsilon=spent, draws=draws, alpha=alpha)
    show(form, _text(found), _document(found))
    if any(bound.is_broken for _, bound, _ in found.bounds):
        say("error: more was shown than is charged")
        say("hint: repeat it with a smaller --alpha and, if it stays, report it")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _text(found: EpsilonAudit) -> str:
    lines = [visible(found.sql), ""]
    for name, bound, pair in found.bounds:
        lines += [f"{name}: {_sentence(bound)}", "by telling apart", *databases(pair), ""]
    return "\n".join(lines)


def _sentence(bound: Bound) -> str:
    return (
        f"at least {bound.lower:.4g} of {bound.charged:.4g} charged, as "
        f"{_MEANING[bound.measure]}\nfrom {bound.draws} answers of each of two databases; wrong "
        f"with probability {bound.alpha:g}"
    )


def _document(found: EpsilonAudit) -> dict[str, object]:
    return {
        "sql": found.sql,
        "releases": [
            {
                "name": name,
                "measure": bound.measure,
                "charged": bound.charged,
                "lower": bound.lower,
                "alpha": bound.alpha,
                "draws": bound.draws,
                "databases": [pair.one, pair.other],
            }
            for name, bound, pair in found.bounds
        ],
    }
