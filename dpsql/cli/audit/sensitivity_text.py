"""Print the report of an enumeration of neighbouring databases."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from dpsql.audit.databases.search_space import Size
from dpsql.audit.databases.universe import Universe, parse_universe
from dpsql.audit.sensitivity.exhaustive_audit import Finding, SensitivityAudit, audit_sensitivity
from dpsql.cli.audit.database_text import databases
from dpsql.cli.audit.output_format import OutputFormat, show
from dpsql.cli.exit_codes import ExitCode, echo_err, reporting_errors
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors

_HEADINGS = ("what changes", "derived", "observed", "tightness")


def sensitivity(
    path: Path, queries: Sequence[str], neighbors: str | None, size: Size, form: OutputFormat
) -> None:
    """Audit every query; an observed change above the derived bound ends in an error."""
    relation = None if neighbors is None else Neighbors(neighbors)
    passed: list[str] = []
    for sql in queries:
        with reporting_errors(sql):
            audit = audit_sensitivity(sql, load_schema(path), relation, size)
        show(form, _text(audit), _document(audit))
        passed += audit.violations
    report_violations(passed)


def report_violations(violations: Sequence[str]) -> None:
    """End in an error if there are any."""
    for violation in violations:
        echo_err(f"error: a bound is passed: {violation}")
    if violations:
        echo_err("hint: please report this as a security problem, with schema and statement")
        raise click.exceptions.Exit(ExitCode.FAILED)


def universe(text: str | None) -> Universe | None:
    """The option --universe; one that can't be read ends in an error."""
    with reporting_errors():
        return None if text is None else parse_universe(text)


def _text(audit: SensitivityAudit) -> str:
    head = (
        f"{sanitize(audit.sql)}\n{audit.databases} databases, {audit.pairs} pairs of neighbours "
        f"({audit.neighbors.value}, {audit.apart} apart)\n"
    )
    rows = [
        [f.description, _number(f.derived), _number(f.observed), _percent(f)]
        for f in (*audit.findings, *audit.plain)
    ]
    claimed = [f for f in audit.findings if f.witness is not None and f.description != "groups"]
    closest = max(claimed, key=lambda f: f.tightness or 0, default=None)
    lines = [head, listing(_HEADINGS, rows), ""]
    if closest is not None and closest.witness is not None:
        lines += [
            f"closest to its bound: {closest.description}, between",
            *databases(closest.witness),
            "",
        ]
    return "\n".join(lines)


def _number(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.10g}"


def _percent(finding: Finding) -> str:
    return "" if finding.tightness is None else f"{finding.tightness:.0%}"


def _document(audit: SensitivityAudit) -> dict[str, object]:
    return {
        "sql": audit.sql,
        "neighbors": audit.neighbors.value,
        "apart": audit.apart,
        "databases": audit.databases,
        "pairs": audit.pairs,
        "findings": [_finding(f) for f in audit.findings],
        "plain": [_finding(f) for f in audit.plain],
        "violations": list(audit.violations),
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "about": finding.description,
        "derived": None if finding.derived is None else float(finding.derived),
        "observed": float(finding.observed),
        "tightness": finding.tightness,
        "worst": None if finding.witness is None else [finding.witness.one, finding.witness.other],
    }
