"""The modules of a worker, imported once by the process that workers are forked from.

Importing them takes half a second of a processor, which each worker would take again. That process
has no data, no engine and no thread of ours; it ends with the server. It has no generator of random
numbers either, whose state forks would share: noise is made of bits that the system gives anew.

It is a module of its own for what importing it does: a signal that stops a whole group of processes
would end the fork server before its workers, and multiprocessing takes a worker for dead whose fork
server is: an answer that was paid for would be lost while the server drains.
"""

from __future__ import annotations

import signal

# Imported for the workers, which open servers' sources, too.
import dpsql.engine.postgres.engine  # noqa: F401
import dpsql.engine.spark.engine  # noqa: F401
import dpsql.pgwire.workers.worker  # noqa: F401

for _ignored in (signal.SIGHUP, signal.SIGTERM):
    signal.signal(_ignored, signal.SIG_IGN)
