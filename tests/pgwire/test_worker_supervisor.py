"""One worker seen from the server."""

from __future__ import annotations

import threading

from dpsql.pgwire.workers.supervisor import WorkerSupervisor
from dpsql.pgwire.workers.tasks import LACKED, NOT_LOADED, LoadCatalog

TASK = LoadCatalog("none", None)


def test_a_worker_that_was_closed_is_not_replaced() -> None:
    # A task that ran when the server was closed would start a process that nobody ends: it ignores
    # SIGTERM, and the server waits for it as long as it waits for the server.
    supervisor = WorkerSupervisor(2**30, threads=1)
    assert supervisor.run(TASK, 60, threading.Event()) == NOT_LOADED
    supervisor.close()
    assert supervisor.run(TASK, 60, threading.Event()) == LACKED
    assert supervisor.replaced == 0
