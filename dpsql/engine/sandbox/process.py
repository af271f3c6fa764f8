"""A separate process in which analysts' own statements run, and which can be killed at any time.

It trusts its requests, which come from the process that started it; that process reads replies as
Arrow tables or as text, and as nothing else.
"""

from __future__ import annotations

import os
import pickle
import resource
import selectors
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Final

import duckdb
import pyarrow as pa
from msgspec import Struct

from dpsql.engine.arrow_result import stream
from dpsql.engine.read_limit import ReadLimit
from dpsql.engine.sandbox.database import (
    Contents,
    NoAnswer,
    Sandboxes,
    SandboxQuery,
    Stopped,
    TooLargeAnswer,
    reason_of,
)
from dpsql.errors import ExecutionCancelled

MEMORY_BYTES: Final = 1024 * 1024 * 1024
"""The limit for the process as a whole; allocations beyond it fail."""

_START_SECONDS: Final = 60
"""The time for the process to start, and to load contents."""

_ROWS, _LOADED, _LACKS, _TOO_LARGE, _UNANSWERED = b"R", b"O", b"N", b"L", b"U"
_LENGTH: Final = struct.Struct("!Q")
_MAX_READ: Final = 2**20


class _Load(Struct, frozen=True):
    contents: Contents


class SandboxProcess:
    """One such process, started when it is first used; it runs one statement at a time.

    `seconds` is the time for one statement.
    """

    def __init__(self, seconds: float, limit: ReadLimit) -> None:
        self.limit = limit
        self.has_lists = False
        self._seconds = seconds
        self._one = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def ask(self, contents: Contents, query: SandboxQuery) -> pa.Table:
        """The rows of `query` over `contents`.

        Raises NoAnswer if it fails, TooLargeAnswer, Stopped if it takes too long, and
        ExecutionCancelled if it was interrupted.
        """
        with self._one:
            self._cancelled = False
            reply = self._reply(query, self._seconds)
            if reply[:1] == _LACKS:
                reply = self._reply(_Load(contents), _START_SECONDS)
                if reply == _LOADED:
                    reply = self._reply(query, self._seconds)
        match reply[:1]:
            case b"R":
                with pa.ipc.open_stream(reply[1:]) as reader:
                    table = reader.read_all()
                table.validate(full=True)
                return table
            case b"U":
                raise NoAnswer(reply[1:].decode(errors="replace"))
            case _:
                raise TooLargeAnswer

    def interrupt(self) -> None:
        """Kill the process; the next statement starts another."""
        self._cancelled = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Kill the process and wait for its end."""
        self.interrupt()
        with self._one:
            self._end()

    def _reply(self, task: SandboxQuery | _Load, seconds: float) -> bytes:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = _started()
            # The time to import modules isn't the statement's.
            seconds += _START_SECONDS
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        sent = pickle.dumps(task)
        deadline = time.monotonic() + seconds
        try:
            process.stdin.write(_LENGTH.pack(len(sent)) + sent)
            process.stdin.flush()
            (length,) = _LENGTH.unpack(_read(process.stdout, _LENGTH.size, deadline))
            return _read(process.stdout, length, deadline)
        except TimeoutError:
            self._end()
            raise Stopped from None
        except (OSError, EOFError):
            self._end()
            if self._cancelled:
                raise ExecutionCancelled from None
            # A process may end in any way when it has no memory left.
            raise TooLargeAnswer from None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


def _started() -> subprocess.Popen[bytes]:
    # The process knows where packages are, and nothing else of its parent's environment.
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-c", "from dpsql.engine.sandbox.process import serve; serve()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PYTHONPATH": paths},
        cwd="/",
        start_new_session=True,  # Ctrl-C is its parent's
    )


def _read(pipe: IO[bytes], size: int, deadline: float) -> bytes:
    """Reads `size` bytes; TimeoutError after the `deadline`, EOFError if `pipe` has ended."""
    parts: list[bytes] = []
    with selectors.DefaultSelector() as waiting:
        waiting.register(pipe, selectors.EVENT_READ)
        while size:
            if not waiting.select(max(0.0, deadline - time.monotonic())):
                raise TimeoutError
            part = os.read(pipe.fileno(), min(size, _MAX_READ))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
    return b"".join(parts)


def serve() -> None:
    """Run the requests on standard input, until it ends, and exit."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tasks: SimpleQueue[SandboxQuery | _Load] = SimpleQueue()
    threading.Thread(target=_work, args=(tasks,), daemon=True).start()
    # The thread is a daemon: a running statement must not keep the process when its parent is gone.
    requests = sys.stdin.buffer
    while head := requests.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        tasks.put(pickle.loads(requests.read(length)))  # noqa: S301 - its parent's
    os._exit(0)


def _work(tasks: SimpleQueue[SandboxQuery | _Load]) -> None:
    sandboxes = Sandboxes()
    while True:
        reply = _done(tasks.get(), sandboxes)
        sys.stdout.buffer.write(_LENGTH.pack(len(reply)) + reply)
        sys.stdout.buffer.flush()


def _done(task: SandboxQuery | _Load, sandboxes: Sandboxes) -> bytes:
    try:
        match task:
            case _Load(contents=contents):
                sandboxes.load(contents)
                return _LOADED
            case SandboxQuery(name=name) if not sandboxes.has(name):
                return _LACKS
            case SandboxQuery():
                return _ROWS + stream(sandboxes.run(task))
    except (TooLargeAnswer, duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError):
        return _TOO_LARGE
    except duckdb.Error as error:
        return _UNANSWERED + reason_of(error).encode()
    except Exception:  # noqa: BLE001 - a statement that fails in a way of its own has no answer
        return _UNANSWERED
