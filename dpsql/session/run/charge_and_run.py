"""Charge, run, keep: one entry for all that is drawn together, and one end for it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pyarrow as pa

from dpsql.errors import (
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    FailedBefore,
    LedgerFault,
    SourceFault,
)
from dpsql.ledger.charge import Charge, Failure, Receipt, StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.disk_reservation import MIN_BYTES
from dpsql.release.columns.group_keys import number_of_cells
from dpsql.session.answer.stored_answer import from_bytes, to_bytes
from dpsql.session.compile.compiled import CompiledRelease, CompiledStatement

_CELL_BYTES = 16

RUNNING = "running on the data"
"""The step after the charge: what is cancelled from here on stays charged."""


@dataclass(frozen=True, slots=True)
class PendingReleases:
    """What is due of one statement, and the tables that it may read: answers given before.

    `stored` are the bytes that the ledger has of them, by their keys.
    """

    due: Sequence[CompiledRelease]
    tables: Mapping[str, pa.Table]
    stored: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class ChargedRun:
    """Each part's released tables by name, and the bytes of what was drawn, by its key."""

    tables: list[dict[str, pa.Table]]
    stored: Mapping[str, bytes]
    receipt: Receipt


Run = Callable[[CompiledRelease, Mapping[str, pa.Table]], pa.Table]


def unique_releases(due: Iterable[Sequence[CompiledRelease]]) -> list[CompiledRelease]:
    """What is drawn: what two statements ask for, or one does twice, is one release."""
    return list({release.key: release for releases in due for release in releases}.values())


def unpaid(
    prepared: CompiledStatement, ledger: Ledger, free: Container[str]
) -> list[CompiledRelease]:
    """What of `prepared` is neither stored, nor `free` by its name, nor shown without noise."""
    asked = (r for r in prepared.releases if r.name not in free)
    return [
        r for r in asked if r.step.measurement.loss.amount and ledger.stored_answer(r.key) is None
    ]


def charge_and_run(
    ledger: Ledger, charge: Charge, parts: Sequence[PendingReleases], run: Run
) -> ChargedRun:
    """All that is due of `parts`, charged before any of it runs; a failure burns it all.

    Another session may have drawn the same meanwhile. What it kept is given then, and not a second
    draw, of which nobody learns: the dataset has paid for both, and this analyst for the one that
    they see. What was drawn on a noisy answer that isn't given is drawn again, on the one that is.
    What couldn't be computed before isn't charged again: all that its failure tells was paid then.
    """
    if ledger.failed([release.key for release in unique_releases(part.due for part in parts)]):
        raise FailedBefore(
            "this was asked before, and failed on this version of the data; nothing was charged",
            hint="ask otherwise, or when the data have changed; the owner can run dpsql check",
        )
    receipt = ledger.charge(charge, room(unique_releases(part.due for part in parts)))
    drawing = _Run(run)
    try:
        while True:
            found = [drawing.tables(part) for part in parts]
            # Recorded before anybody sees it: what was shown can't be drawn again.
            whole = b"".join(one.answer for one in drawing.stored.values())
            others = ledger.release(receipt, whole, list(drawing.stored.values()))
            if not others:
                break
            drawing.give(others, parts)
    except (ExecutionFailed, SourceFault) as error:
        # Who stops a statement and asks it again pays again: it may have been seen how long it ran.
        is_fact = bool(drawing.running) and not isinstance(error, ExecutionCancelled)
        stopped = isinstance(error, ExecutionStopped | SourceFault)
        _burn(ledger, receipt, Failure(drawing.running, stopped) if is_fact else None)
        raise
    except BaseException:
        _burn(ledger, receipt, None)
        raise
    return ChargedRun(found, {key: one.answer for key, one in drawing.stored.items()}, receipt)


def room(due: Sequence[CompiledRelease]) -> int:
    """Bytes that the answers of `due` take in the ledger, as far as their keys are listed."""
    cells = sum(number_of_cells(one.step.query) * (len(one.columns) + 1) for one in due)
    # The answer of all and each one's own, once in the log and once in the file.
    return MIN_BYTES + 4 * _CELL_BYTES * cells


@dataclass(slots=True)
class _Run:
    """What is drawn of a charge, by its keys; `running` is the key of what is being computed."""

    run: Run
    stored: dict[str, StoredAnswer] = field(default_factory=dict)
    running: str = ""

    def tables(self, part: PendingReleases) -> dict[str, pa.Table]:
        """The tables of `part`: what wasn't drawn yet is drawn now."""
        tables, kept = dict(part.tables), self.stored
        for release in part.due:
            if release.key not in kept:
                self.running = release.key
                answer = to_bytes(self.run(release, tables))
                self.running = ""
                kept[release.key] = StoredAnswer(release.key, answer, release.step.measurement.loss)
            tables[release.name] = from_bytes(kept[release.key].answer, release.columns)
        return tables

    def give(self, others: Mapping[str, bytes], parts: Sequence[PendingReleases]) -> None:
        """`others` are kept instead; what was drawn on those that they replace is to be redrawn."""
        changed = set(others)
        for part in parts:
            keys = {release.name: release.key for release in part.due}
            for release in part.due:
                if any(keys.get(name) in changed for name in release.step.reads):
                    changed.add(release.key)
        given = {key: replace(self.stored[key], answer=found) for key, found in others.items()}
        self.stored = {k: one for k, one in self.stored.items() if k not in changed} | given


def _burn(ledger: Ledger, receipt: Receipt, failure: Failure | None) -> None:
    # What went wrong first is what is told; whoever opens the ledger next buries the request.
    with suppress(LedgerFault):
        ledger.burn(receipt, failure)
