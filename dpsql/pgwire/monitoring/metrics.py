"""Whether the server is well, in numbers without data: text that Prometheus reads."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

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
"""What failures are counted as: the first kind that fits."""


@dataclass(slots=True)
class Counts:
    """What was counted since the start."""

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
        found = next((kind for kind, classes in _KINDS.items() if isinstance(error, classes)), "")
        if not isinstance(error, Error):
            found = "internal"
        with self._guard:
            self.failures[found or "other"] += 1


def metrics(counts: Counts, *, refused: int, replaced: int, waiting: int) -> str:
    """All counts, in the text format of Prometheus."""
    told: dict[str, float] = {
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
    told |= {f'failures_total{{kind="{kind}"}}': counts.failures[kind] for kind in _KINDS}
    return _written(told)


def ledger_metrics(schema: Schema) -> str:
    """Charges, and what is left of the budget and of the disks; of a ledger that is in order.

    `ledger_up` is 0 where it can't be read: its own fault is told when somebody is charged.
    """
    told: dict[str, float] = {"ledger_up": 0}
    with suppress(Error), reading_ledger(schema) as ledger:
        told["ledger_up"] = 1
        if ledger is not None:
            balance = ledger.balance()
            spent = epsilon_of(schema, balance.spent.amount)
            told["charges_total"] = ledger.charges
            told["budget_spent_epsilon"] = float(spent)
            told["budget_left_epsilon"] = max(float(schema.budget.epsilon) - float(spent), 0.0)
    told |= dict(_disks(schema))
    return _written(told)


def _disks(schema: Schema) -> Iterator[tuple[str, float]]:
    """How many bytes can still be written beside the ledger and beside its anchor."""
    for name, path in (("ledger", ledger_location(schema)), ("anchor", anchor_path(schema))):
        folder = path if isinstance(path, Path) else None
        while folder is not None and not folder.is_dir() and folder != folder.parent:
            folder = folder.parent
        if folder is not None:
            with suppress(OSError):
                found = os.statvfs(folder)
                yield f'disk_free_bytes{{of="{name}"}}', found.f_bavail * found.f_frsize


def _written(metrics: Mapping[str, float]) -> str:
    return "".join(f"dpsql_{name} {value}\n" for name, value in metrics.items())
