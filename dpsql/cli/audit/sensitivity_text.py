"""Print what an enumeration of neighbouring databases found."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import click

from dpsql.audit.databases.search_space import Size
from dpsql.audit.sensitivity.exhaustive_audit import Finding, SensitivityAudit, audit_sensitivity
from dpsql.cli.audit.database_text import databases
from dpsql.cli.audit.output_format import Form, show
from dpsql.cli.exit_codes import ExitCode, explained, say
from dpsql.report.terminal.sanitize import visible
from dpsql.report.terminal.table import listing
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Neighbors

_HEADINGS = ("what changes", "derived", "observed", "tightness")


def sensitivity(
    path: Path, queries: Sequence[str], neighbors: str | None, size: Size, form: Form
) -> None:
    """Audit every query; a bound that was passed ends in an error."""
    relation = None if neighbors is None else Neighbors(neighbors)
    broken = False
    for sql in queries:
        with explained(sql):
            found = audit_sensitivity(sql, load_schema(path), relation, size)
        broken = broken or bool(found.violations)
        show(form, _text(found), _document(found))
        for violation in found.violations:
            say(f"error: a bound is passed: {violation}")
    if broken:
        say("hint: please report this as a security problem, with schema and statement")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _text(found: SensitivityAudit) -> str:
    head = (
        f"{visible(found.sql)}\n{found.databases} databases, {found.pairs} pairs of neighbours "
        f"({found.neighbors.value}, {found.apart} apart)\n"
    )
    rows = [
        [f.about, _number(f.derived), _number(f.observed), _percent(f)]
        for f in (*found.findings, *found.plain)
    ]
    claimed = [f for f in found.findings if f.worst is not None and f.about != "groups"]
    closest = max(claimed, key=lambda f: f.tightness or 0, default=None)
    lines = [head, listing(_HEADINGS, rows), ""]
    if closest is not None and closest.worst is not None:
        lines += [f"closest to its bound: {closest.about}, between", *databases(closest.worst), ""]
    return "\n".join(lines)


def _number(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.10g}"


def _percent(found: Finding) -> str:
    return "" if found.tightness is None else f"{found.tightness:.0%}"


def _document(found: SensitivityAudit) -> dict[str, object]:
    return {
        "sql": found.sql,
        "neighbors": found.neighbors.value,
        "apart": found.apart,
        "databases": found.databases,
        "pairs": found.pairs,
        "findings": [_finding(f) for f in found.findings],
        "plain": [_finding(f) for f in found.plain],
        "violations": list(found.violations),
    }


def _finding(found: Finding) -> dict[str, object]:
    return {
        "about": found.about,
        "derived": None if found.derived is None else float(found.derived),
        "observed": float(found.observed),
        "tightness": found.tightness,
        "worst": None if found.worst is None else [found.worst.one, found.worst.other],
    }
