"""Charge, run, keep: one entry for all that is drawn together, and one end for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dpsql.ledger.ledger import Ledger
from dpsql.ledger.request import Charge, Kept, Receipt
from dpsql.session.prepared import PreparedRelease
from dpsql.session.storage import from_bytes, to_bytes

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
    """All that is due of `parts`, charged before any of it runs; a failure burns it all."""
    receipt = ledger.charge(charge)
    try:
        kept: dict[str, Kept] = {}
        found: list[dict[str, pa.Table]] = []
        for part in parts:
            tables = dict(part.tables)
            for release in part.due:
                if release.key not in kept:
                    answer = to_bytes(run(release, tables))
                    kept[release.key] = Kept(release.key, answer, release.step.measurement.loss)
                tables[release.name] = from_bytes(kept[release.key].answer, release.columns)
            found.append(tables)
        # Recorded before anybody sees it: what was shown can't be drawn again.
        whole = b"".join(one.answer for one in kept.values())
        ledger.release(receipt, whole, list(kept.values()))
    except BaseException:
        ledger.burn(receipt)
        raise
    return Drawn(found, {key: one.answer for key, one in kept.items()}, receipt)
