"""Metrics of the server and of its ledger, without data, in Prometheus's text format."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from dpsql.errors import (
    BudgetSpent,
    Error,
    ExecutionFailed,
    InternalError,
    LedgerFault,
    NotSupportedError,
    ProgrammingError,
    SchemaFault,
    SourceFault,
)
from dpsql.pgwire.error_response import Cancelled
from dpsql.schema.model import Schema
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.ledger_access import anchor_path, ledger_location, reading_ledger

_KINDS: Final[Mapping[str, tuple[type[Error], ...]]] = {
    "cancelled": (Cancelled,),
    "execution": (ExecutionFailed,),
    "budget": (BudgetSpent,),
    "ledger": (LedgerFault,),
    "schema": (SchemaFault,),
    "source": (SourceFault,),
    "internal": (InternalError,),
    "refused": (NotSupportedError,),
    "statement": (ProgrammingError,),
    "other": (),
}
"""The label that an error is counted under: the first whose classes it is an instance of."""


class Counts(Struct):
    """Counts since the server's start, but `connections`, which are those open now.

    `started` is in seconds of time.monotonic(); `failures` are counted by `_KINDS`.
    """

    started: float = field(default_factory=time.monotonic)
    connections: int = 0
    accepted: int = 0
    logins: int = 0
    messages: int = 0
    cancels: int = 0
    faults: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, error: BaseException) -> None:
        """Count a statement that failed; called from any thread."""
        label = next((kind for kind, classes in _KINDS.items() if isinstance(error, classes)), "")
        if not isinstance(error, Error):
            label = "internal"
        with self._guard:
            self.failures[label or "other"] += 1


def metrics(counts: Counts, *, refused: int, replaced: int, waiting: int) -> str:
    """The server's metrics in Prometheus's text format.

    `refused` are failed logins, `replaced` workers that were replaced, `waiting` tasks that wait.
    """
    values: dict[str, float] = {
        "uptime_seconds": round(time.monotonic() - counts.started, 1),
        "connections": counts.connections,
        "connections_accepted_total": counts.accepted,
        "logins_total": counts.logins,
        "logins_refused_total": refused,
        "messages_total": counts.messages,
        "cancels_total": counts.cancels,
        "protocol_faults_total": counts.faults,
        "workers_replaced_total": replaced,
        "tasks_waiting": waiting,
    }
    values |= {f'failures_total{{kind="{kind}"}}': counts.failures[kind] for kind in _KINDS}
    return _written(values)


def ledger_metrics(schema: Schema) -> str:
    """The ledger's metrics: charges, spent and remaining budget, and free bytes of its disks.

    `ledger_up` is 0 where the ledger can't be read; the cause is reported with the next charge.
    """
    values: dict[str, float] = {"ledger_up": 0}
    with suppress(Error), reading_ledger(schema) as ledger:
        values["ledger_up"] = 1
        if ledger is not None:
            balance = ledger.balance()
            spent = epsilon_of(schema, balance.spent.amount)
            values["charges_total"] = ledger.charges
            values["budget_spent_epsilon"] = float(spent)
            values["budget_left_epsilon"] = max(float(schema.budget.epsilon) - float(spent), 0.0)
    values |= dict(_disks(schema))
    return _written(values)


def _disks(schema: Schema) -> Iterator[tuple[str, float]]:
    """How many bytes are free on the disks of the ledger and of its anchor."""
    for name, path in (("ledger", ledger_location(schema)), ("anchor", anchor_path(schema))):
        folder = path if isinstance(path, Path) else None
        while folder is not None and not folder.is_dir() and folder != folder.parent:
            folder = folder.parent
        if folder is not None:
            with suppress(OSError):
                disk = os.statvfs(folder)
                yield f'disk_free_bytes{{of="{name}"}}', disk.f_bavail * disk.f_frsize


def _written(metrics: Mapping[str, float]) -> str:
    return "".join(f"dpsql_{name} {value}\n" for name, value in metrics.items())
