"""A process aside, in which statements run that analysts wrote: it can be ended at any time.

What it is asked comes from the process that started it, which it trusts; its replies are read as
Arrow tables, or as text, and nothing else.
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
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Final

import duckdb
import pyarrow as pa

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
"""Of the process as a whole: what it asks for beyond that isn't there."""

_START_SECONDS: Final = 60
"""For the process to start, and to load what it is sent."""

_ROWS, _LOADED, _LACKS, _TOO_LARGE, _UNANSWERED = b"R", b"O", b"N", b"L", b"U"
_LENGTH: Final = struct.Struct("!Q")
_MAX_READ: Final = 2**20


@dataclass(frozen=True, slots=True)
class _Load:
    contents: Contents


class SandboxProcess:
    """One such process, started when it is first asked; a statement has it to itself."""

    def __init__(self, seconds: float, limit: ReadLimit) -> None:
        self.limit = limit
        self.has_lists = False
        self._seconds = seconds
        self._one = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    def ask(self, contents: Contents, query: SandboxQuery) -> pa.Table:
        """The rows of `query` over `contents`.

        Raises Unanswered, TooLargeAnswer or Stopped, and ExecutionCancelled if it was interrupted.
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
        """End the process: the next statement has another."""
        self._cancelled = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process."""
        self.interrupt()
        with self._one:
            self._end()

    def _reply(self, task: SandboxQuery | _Load, seconds: float) -> bytes:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = _started()
            # Importing takes a moment, of which the statement has nothing.
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
            # Memory that isn't there may end a process as it likes.
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
    """So many bytes; TimeoutError if they aren't there by then."""
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
    """Do what is asked on standard input, until that ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    tasks: SimpleQueue[SandboxQuery | _Load] = SimpleQueue()
    threading.Thread(target=_work, args=(tasks,), daemon=True).start()
    # A statement that goes on must not keep the process when its parent is gone.
    asked = sys.stdin.buffer
    while head := asked.read(_LENGTH.size):
        (length,) = _LENGTH.unpack(head)
        tasks.put(pickle.loads(asked.read(length)))  # noqa: S301 - its parent's
    os._exit(0)


def _work(tasks: SimpleQueue[SandboxQuery | _Load]) -> None:
    enclosures = Sandboxes()
    while True:
        reply = _done(tasks.get(), enclosures)
        sys.stdout.buffer.write(_LENGTH.pack(len(reply)) + reply)
        sys.stdout.buffer.flush()


def _done(task: SandboxQuery | _Load, enclosures: Sandboxes) -> bytes:
    try:
        match task:
            case _Load(contents=contents):
                enclosures.load(contents)
                return _LOADED
            case SandboxQuery(name=name) if not enclosures.has(name):
                return _LACKS
            case SandboxQuery():
                return _ROWS + stream(enclosures.run(task))
    except (TooLargeAnswer, duckdb.OutOfMemoryException, MemoryError, pa.ArrowMemoryError):
        return _TOO_LARGE
    except duckdb.Error as error:
        return _UNANSWERED + reason_of(error).encode()
    except Exception:  # noqa: BLE001 - a statement that fails in a way of its own has no answer
        return _UNANSWERED
