"""Print a lower bound of the loss of a query."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import click

from dpsql.audit.empirical.epsilon_lower_bound import Bound, EpsilonAudit, audit_epsilon
from dpsql.cli.audit.database_text import databases
from dpsql.cli.audit.output_format import OutputFormat, show
from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.report.terminal.sanitize import sanitize
from dpsql.schema.load.load import load_schema
from dpsql.session.compile.loss_conversion import parse_epsilon

_MEANING = {
    "epsilon": "epsilon",
    "rho": "rho",
    "mu": "mu, the distance of the means in standard deviations of Gaussian noise",
}


def epsilon(
    path: Path, sql: str, budget: float | None, draws: int, alpha: float, form: OutputFormat
) -> None:
    """Audit one statement; a lower bound above the charged loss ends in an error."""
    with reporting_errors(sql):
        spent: Fraction | None = None if budget is None else parse_epsilon(budget)
        audit = audit_epsilon(sql, load_schema(path), epsilon=spent, draws=draws, alpha=alpha)
    show(form, _text(audit), _document(audit))
    if any(bound.is_broken for _, bound, _ in audit.bounds):
        echo_err("error: more was shown than is charged")
        echo_err("hint: repeat it with a smaller --alpha and, if it stays, report it")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _text(audit: EpsilonAudit) -> str:
    lines = [sanitize(audit.sql), ""]
    for name, bound, pair in audit.bounds:
        lines += [f"{name}: {_sentence(bound)}", "by telling apart", *databases(pair), ""]
    return "\n".join(lines)


def _sentence(bound: Bound) -> str:
    return (
        f"at least {bound.lower:.4g} of {bound.charged:.4g} charged, as "
        f"{_MEANING[bound.measure]}\nfrom {bound.draws} answers of each of two databases; wrong "
        f"with probability {bound.alpha:g}"
    )


def _document(audit: EpsilonAudit) -> dict[str, object]:
    return {
        "sql": audit.sql,
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
            for name, bound, pair in audit.bounds
        ],
    }
