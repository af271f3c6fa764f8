"""Room for deep statements: parser and analyses recurse, once or more for each level of nesting.

Python's own stack of 1,000 calls ends at some 40 nested parentheses. Here the work runs on a
thread with a large stack, and what is deeper still is refused, not crashed on.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from dpsql.errors import TooComplex
from dpsql.ledger.storage.waiting import check_may_wait

STACK_BYTES = 512 * 1024 * 1024
CALLS = 60_000

Result = TypeVar("Result")

_guard = threading.Lock()


def with_deep_stack(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises, run where it can recurse deeply."""
    check_may_wait()
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except (RecursionError, MemoryError):
            errors.append(
                TooComplex("the statement nests too deeply", hint="split it with a WITH clause")
            )
        except BaseException as error:  # noqa: BLE001 - raised again on the caller's thread
            errors.append(error)

    with _guard:
        before = threading.stack_size(STACK_BYTES)
        sys.setrecursionlimit(max(sys.getrecursionlimit(), CALLS))
        try:
            thread = threading.Thread(target=run, name="dpsql bind", daemon=True)
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
