"""Whether the server is well, in numbers without data: text that Prometheus reads."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


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


def metrics(counts: Counts, *, refused: int, replaced: int, waiting: int) -> str:
    """All counts, in the text format of Prometheus."""
    told = {
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
    return "".join(f"dpsql_{name} {value}\n" for name, value in told.items())
