"""What goes wrong meanwhile, one thing after the other; each is put right before the next."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import psycopg
from mounts import fill
from soak.world import Pair, World

_LOOSER: Final = "limits: {groups: 8, rows_per_group: 40, rows: 160}"
_LIMITS: Final = "limits: {groups: 8, rows_per_group: 4, rows: 16}"


class Trouble:
    """Makes it until `stop`; `done` counts what was made, `failed` what couldn't be put right."""

    def __init__(self, world: World, stop: threading.Event) -> None:
        self._world = world
        self._stop = stop
        self._chance = random.Random(26)
        self.done: Counter[str] = Counter()
        self.failed: list[str] = []

    def make(self) -> None:
        """One after the other, at random."""
        kinds: Sequence[Callable[[], Any]] = (
            *[self.worker_killed] * 4,
            self.worker_stopped,
            self.server_killed,
            self.server_drained,
            self.disk_full,
            self.source_remounted,
            self.schema_edited,
            self.clock_jumped,
            self.database_cut_off,
        )
        while not self._stop.wait(self._chance.uniform(0.5, 3)):
            kind = self._chance.choice(kinds)
            try:
                kind()
            except Exception as error:  # noqa: BLE001 - whatever it is, the soak has failed
                self.failed.append(f"{kind.__name__}: {error!r}")
                self._stop.set()
            self.done[kind.__name__.replace("_", " ")] += 1

    def worker_killed(self) -> None:
        if workers := self._chance.choice(self._world.servers).workers:
            with suppress(ProcessLookupError):
                os.kill(self._chance.choice(workers), signal.SIGKILL)

    def worker_stopped(self) -> None:
        """It hangs for a while."""
        if workers := self._chance.choice(self._world.servers).workers:
            worker = self._chance.choice(workers)
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGSTOP)
                self._stop.wait(self._chance.uniform(1, 6))
                os.kill(worker, signal.SIGCONT)

    def server_killed(self) -> None:
        server = self._pair().killed
        server.end(signal.SIGKILL)
        self._stop.wait(self._chance.uniform(0, 3))
        server.start()

    def server_drained(self) -> None:
        server = self._pair().killed
        server.end(signal.SIGTERM)
        server.start()

    def disk_full(self) -> None:
        filler = fill(self._world.disk)
        self._stop.wait(self._chance.uniform(1, 6))
        filler.unlink()

    def source_remounted(self) -> None:
        self._world.remount()

    def schema_edited(self) -> None:
        """Into another text, a broken one, a looser one, and back."""
        schema = self._pair().schema
        before = schema.read_text()
        looser = before.replace(_LIMITS, _LOOSER)
        assert looser != before
        for text in (f"# edited\n{before}", f"{before}\nbroken: [", looser):
            schema.write_text(text)
            self._stop.wait(self._chance.uniform(0.5, 2))
        schema.write_text(before)

    def clock_jumped(self) -> None:
        clock = self._pair().steady.clock
        clock.write_text(str(self._chance.choice([-86_400, -3_600, -60, 60, 3_600])))
        self._stop.wait(self._chance.uniform(1, 6))
        clock.write_text("0")

    def database_cut_off(self) -> None:
        """PostgreSQL ends all connections of its ledger's."""
        with psycopg.connect(self._world.postgres, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND datname = current_database()"
            )

    def _pair(self) -> Pair:
        return self._chance.choice(self._world.pairs)
