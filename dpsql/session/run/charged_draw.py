"""Charge, draw, store: one entry for all that is drawn together, and one end for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

import pyarrow as pa
from msgspec import Struct, field

from dpsql.errors import (
    ExecutionCancelled,
    ExecutionFailed,
    ExecutionStopped,
    LedgerFault,
    SourceFault,
)
from dpsql.ledger.caps import Balances
from dpsql.ledger.charge import Charge, Failure, Receipt, StoredAnswer
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.storage.disk_reservation import MIN_BYTES
from dpsql.release.columns.group_keys import number_of_cells
from dpsql.release.synopsis.factored.margin_choice import stored_rows
from dpsql.session.answer.stored_answer import from_bytes, named, to_bytes
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.run.pending_releases import PendingReleases, unique_releases
from dpsql.structs import replace

_CELL_BYTES = 16


class ChargedDraw(Struct, frozen=True):
    """Each part's released tables by name, and the bytes of what was drawn, by its key."""

    tables: list[dict[str, pa.Table]]
    stored: Mapping[str, bytes]
    receipt: Receipt


Run = Callable[[CompiledRelease, Mapping[str, pa.Table]], pa.Table]


def draw_charged(
    ledger: Ledger,
    charge: Charge,
    parts: Sequence[PendingReleases],
    run: Run,
    charged: Callable[[Callable[[], Balances]], None],
) -> ChargedDraw:
    """All that is due of `parts`, charged before any of it is drawn; a failure burns it all.

    Another session may have drawn the same meanwhile. What it kept is given then, and not a second
    draw, of which nobody learns: the dataset has paid for both, and this analyst for the one that
    they see. What was drawn on a noisy answer that isn't given is drawn again, on the one that is.
    What couldn't be computed before isn't charged again: all that its failure tells was paid then.
    `charged` is told what the charge has left, before anything is drawn.
    """
    receipt = ledger.charge(charge, room(unique_releases(part.due for part in parts)))
    drawing = _Run(run)
    with burning(ledger, receipt, lambda: drawing.running):
        if receipt.left is not None:
            charged(receipt.left)
        while True:
            tables = [drawing.tables(part) for part in parts]
            # Recorded before anybody sees it: what was shown can't be drawn again.
            all_answers = b"".join(one.answer for one in drawing.stored.values())
            others = ledger.release(receipt, all_answers, list(drawing.stored.values()))
            if not others:
                break
            drawing.give(others, parts)
    return ChargedDraw(tables, {key: one.answer for key, one in drawing.stored.items()}, receipt)


@contextmanager
def burning(ledger: Ledger, receipt: Receipt, running: Callable[[], str]) -> Iterator[None]:
    """Whatever fails within burns the request of `receipt`, whose charge stands.

    `running` tells the key of what is being computed, "" if nothing is.
    """
    try:
        yield
    except (ExecutionFailed, SourceFault) as error:
        # Who stops a statement and asks it again pays again: it may have been seen how long it ran.
        is_fact = bool(running()) and not isinstance(error, ExecutionCancelled)
        stopped = isinstance(error, ExecutionStopped | SourceFault)
        _burn(ledger, receipt, Failure(running(), stopped) if is_fact else None)
        raise
    except BaseException:
        _burn(ledger, receipt, None)
        raise


def room(due: Sequence[CompiledRelease]) -> int:
    """Bytes that the answers of `due` take in the ledger, as far as their keys are listed."""
    cells = sum(_listed_rows(one) * (len(one.columns) + 1) for one in due)
    # The answer of all and each one's own, once in the log and once in the file.
    return MIN_BYTES + 4 * _CELL_BYTES * cells


def _listed_rows(release: CompiledRelease) -> int:
    """How many rows a release has, as far as its keys are listed."""
    step = release.step
    return stored_rows(len(release.columns)) if step.is_factored else number_of_cells(step.query)


class _Run(Struct):
    """What is drawn of a charge, by its keys; `running` is the key of what is being computed.

    `drawn` are the tables of what is `stored`.
    """

    run: Run
    stored: dict[str, StoredAnswer] = field(default_factory=dict)
    drawn: dict[str, pa.Table] = field(default_factory=dict)
    running: str = ""

    def tables(self, part: PendingReleases) -> dict[str, pa.Table]:
        """The tables of `part`: what wasn't drawn yet is drawn now."""
        tables, stored = dict(part.tables), self.stored
        for release in part.due:
            key = release.key
            if key not in stored:
                self.running = key
                # Its columns have the names that they have in this statement.
                tables[release.name] = self.drawn[key] = self.run(release, tables)
                answer = to_bytes(self.drawn[key])
                self.running = ""
                stored[key] = StoredAnswer(key, answer, release.step.measurement.loss)
                continue
            if key not in self.drawn:
                self.drawn[key] = from_bytes(stored[key].answer, release.columns)
            tables[release.name] = named(self.drawn[key], release.columns)
        return tables

    def give(self, others: Mapping[str, bytes], parts: Sequence[PendingReleases]) -> None:
        """`others` are kept instead; what was drawn on those that they replace is to be redrawn."""
        changed = set(others)
        for part in parts:
            keys = {release.name: release.key for release in part.due}
            for release in part.due:
                if any(keys.get(name) in changed for name in release.step.reads):
                    changed.add(release.key)
        theirs = {key: replace(self.stored[key], answer=answer) for key, answer in others.items()}
        self.stored = {k: one for k, one in self.stored.items() if k not in changed} | theirs
        self.drawn = {k: table for k, table in self.drawn.items() if k not in changed}


def _burn(ledger: Ledger, receipt: Receipt, failure: Failure | None) -> None:
    # That it failed is told only of a charge that is in both files.
    ledger.await_disk(receipt)
    # What went wrong first is what is told; whoever opens the ledger next buries the request.
    with suppress(LedgerFault):
        ledger.burn(receipt, failure)
