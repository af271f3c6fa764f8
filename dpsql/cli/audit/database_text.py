"""Two neighbouring databases, as people read them."""

from __future__ import annotations

from dpsql.audit.sensitivity.exhaustive_audit import Witness
from dpsql.report.terminal.sanitize import sanitize


def databases(worst: Witness) -> list[str]:
    """A line for each row of each unit, of one database and then of the other."""
    lines: list[str] = []
    for name, database in (("one", worst.one), ("the other", worst.other)):
        rows = [
            f"  unit {n}: {sanitize(row)}" for n, unit in enumerate(database, 1) for row in unit
        ]
        lines += [f"{name}:", *(rows or ["  no units"])]
    return lines
