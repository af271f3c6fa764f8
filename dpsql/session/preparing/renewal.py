"""Keeps a sidecar's file as new as the data, in a process of its own that nobody waits for.

A server and a console read the source as it is while the file is made, and the file from the next
statement on. The process runs `dpsql prepare --if-new`, at low priority: it waits for others that
prepare in the same folder, makes nothing if they have, and puts the file in its place whole.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from dpsql.engine.fingerprint import Identity, identity
from dpsql.errors import Error
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.schema.source_location import ServerSource
from dpsql.session.sidecar import sidecar_path

_LOOK_SECONDS: Final = 30.0
"""How often the files are looked at: as long, at most, new data wait to be prepared."""


def is_renewed(schema: Schema, wanted: bool | None) -> bool:  # noqa: FBT001 - None: as it was
    """Whether the sidecar is to be made of new data: as `wanted`, else where there is one.

    Where there is one, the owner has had rows copied before. A server's tables are written as a
    role that only its owner names, and a sample has no sidecar.
    """
    if isinstance(schema.source, ServerSource) or schema.budget.sample is not None:
        return False
    return sidecar_path(schema).exists() if wanted is None else wanted


class Renewal:
    """Has the sidecar made when it begins and whenever the data have changed, until it is closed.

    `schema` is read from `path`. `log` hears each line of the process, which say nothing of rows.
    """

    def __init__(
        self,
        path: Path,
        schema: Callable[[], Schema],
        wanted: bool | None,  # noqa: FBT001 - None: as it was
        log: Callable[[str], None],
    ) -> None:
        self._path, self._schema, self._wanted, self._log = path, schema, wanted, log
        self._stopped = threading.Event()
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, name="dpsql renewal", daemon=True)

    def start(self) -> None:
        """Begin to look at the data."""
        self._thread.start()

    def close(self) -> None:
        """End it, and the process if one runs: what that has made by then is removed later."""
        self._stopped.set()
        with self._guard:
            if self._process is not None:
                self._process.kill()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        seen: Identity | None = None
        while not self._stopped.is_set():
            # No schema, a file that is gone, no room for a process: statements or the log say it.
            with suppress(Error, OSError):
                schema = self._schema()
                now = identity(engine_source(schema))
                if now != seen and is_renewed(schema, self._wanted):
                    seen = now
                    self._prepare()
            self._stopped.wait(_LOOK_SECONDS)

    def _prepare(self) -> None:
        # -P: a folder named dpsql where the server was started is not this package.
        python = [sys.executable, "-P", "-m", "dpsql.cli"]
        command = [*python, "prepare", "--if-new", str(self._path)]
        with self._guard:
            if self._stopped.is_set():
                return
            # A session of its own: Ctrl-C at a console is meant for the statement that runs.
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="backslashreplace",
                start_new_session=True,
            )
        with self._process as process:
            for line in process.stdout or ():
                self._log(line.rstrip())
