"""The C library's allocator, which keeps what is freed for what is allocated next.

Rows are prepared in arrays of some 24 MB, hundreds of them one after the other. By itself, glibc
gives most of them back to the system, which clears each page that it hands out again.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_MAX: Final = -4
_ARENA_MAX: Final = -8
"""Parameters of mallopt(3)."""

_NEVER: Final = 2**31 - 1
"""More bytes than are free at the heap's end."""


def keep_freed_memory() -> None:
    """Until the process ends, what is freed stays in one heap; other C libraries do as they did.

    It has to come first: threads that have heaps of their own keep them. What one of them has freed
    would be of no use to the others, and more memory be taken.
    """
    with suppress(OSError, TypeError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _NEVER), (_ARENA_MAX, 1)):
            mallopt(parameter, value)
