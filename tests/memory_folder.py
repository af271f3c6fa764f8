"""Where tests' folders are in memory: each charge waits for the disk, and many tests charge.

Files are written, locked and synced there by the same calls, and a killed process loses as little.
What a power failure leaves is put together by `tests/ledger/test_ledger_power.py`, wherever files
lie.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

FOLDER: Final = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of the user's own in it
LEAST: Final = 8 * 2**30
"""Bytes that are left, beside what workers and servers take: half a run wrote 0.8 billion."""


def has_room() -> bool:
    """Whether a run's files have room in memory, and may be run: containers forbid it there."""
    try:
        status = os.statvfs(FOLDER)
        memory = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:  # another system than Linux
        return False
    available = re.search(r"^MemAvailable: +(\d+) kB$", memory, re.MULTILINE)
    return (
        available is not None
        and int(available[1]) * 1024 >= LEAST
        and status.f_bavail * status.f_frsize >= LEAST
        and not status.f_flag & os.ST_NOEXEC
    )
