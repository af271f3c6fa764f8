"""Charge, run, keep: one entry for all that is drawn together, and one end for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from dpsql.errors import (
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    FailedBefore,
    LedgerFault,
    SourceFault,
)
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.request import Charge, Failure, Kept, Receipt
from dpsql.ledger.room import LEAST
from dpsql.release.key import number_of_cells
from dpsql.session.prepared import PreparedRelease
from dpsql.session.storage import from_bytes, to_bytes

_CELL_BYTES = 16

RUNNING = "running on the data"
"""The step after the charge: what is cancelled from here on stays charged."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is due of one statement, and the tables that it may read: answers given before.

    `stored` are the bytes that the ledger has of them, by their keys.
    """

    due: Sequence[PreparedRelease]
    tables: Mapping[str, pa.Table]
    stored: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Each part's released tables by name, and the bytes of what was drawn, by its key."""

    tables: list[dict[str, pa.Table]]
    stored: Mapping[str, bytes]
    receipt: Receipt


Run = Callable[[PreparedRelease, Mapping[str, pa.Table]], pa.Table]


def distinct(parts: Sequence[Part]) -> list[PreparedRelease]:
    """What is drawn: what two statements ask for, or one does twice, is one release."""
    return list({release.key: release for part in parts for release in part.due}.values())


def draw(ledger: Ledger, charge: Charge, parts: Sequence[Part], run: Run) -> Drawn:
    """All that is due of `parts`, charged before any of it runs; a failure burns it all.

    What couldn't be computed before isn't charged again: all that its failure tells was paid then.
    """
    if ledger.failed([release.key for release in distinct(parts)]):
        raise FailedBefore(
            "this was asked before, and failed on this version of the data; nothing was charged",
            hint="ask otherwise, or when the data have changed; the owner can run dpsql check",
        )
    receipt = ledger.charge(charge, room(distinct(parts)))
    running = ""
    try:
        kept: dict[str, Kept] = {}
        found: list[dict[str, pa.Table]] = []
        for part in parts:
            tables = dict(part.tables)
            for release in part.due:
                if release.key not in kept:
                    running = release.key
                    answer = to_bytes(run(release, tables))
                    kept[release.key] = Kept(release.key, answer, release.step.measurement.loss)
                tables[release.name] = from_bytes(kept[release.key].answer, release.columns)
            found.append(tables)
        running = ""
        # Recorded before anybody sees it: what was shown can't be drawn again.
        whole = b"".join(one.answer for one in kept.values())
        ledger.release(receipt, whole, list(kept.values()))
    except (ExecutionFailed, SourceFault) as error:
        # Who stops a statement and asks it again pays again: it may have been seen how long it ran.
        is_fact = bool(running) and not isinstance(error, ExecutionCancelled)
        stopped = isinstance(error, ExecutionStopped | SourceFault)
        _burn(ledger, receipt, Failure(running, stopped) if is_fact else None)
        raise
    except BaseException:
        _burn(ledger, receipt, None)
        raise
    return Drawn(found, {key: one.answer for key, one in kept.items()}, receipt)


def room(due: Sequence[PreparedRelease]) -> int:
    """Bytes that the answers of `due` take in the ledger, as far as their keys are listed."""
    cells = sum(number_of_cells(one.step.query) * (len(one.columns) + 1) for one in due)
    # The answer of all and each one's own, once in the log and once in the file.
    return LEAST + 4 * _CELL_BYTES * cells


def _burn(ledger: Ledger, receipt: Receipt, failure: Failure | None) -> None:
    # What went wrong first is what is told; whoever opens the ledger next buries the request.
    with suppress(LedgerFault):
        ledger.burn(receipt, failure)
