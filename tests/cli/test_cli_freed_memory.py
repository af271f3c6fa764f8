"""What `dpsql prepare` frees, it doesn't ask the system for again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

FAULTS = """
from resource import RUSAGE_SELF, getrusage

from dpsql.cli.prepare.allocator import keep_freed_memory

{first}
for _ in range(2):
    before = getrusage(RUSAGE_SELF).ru_minflt
    b"x" * 80_000_000
    faults = getrusage(RUSAGE_SELF).ru_minflt - before
print(faults)
"""
"""Prints how many pages were new to the process when it wrote 80 MB for the second time."""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do as they did")
def test_freed_memory_is_used_again() -> None:
    assert faults("") > 10 * faults("keep_freed_memory()")


def faults(first: str) -> int:
    command = [sys.executable, "-c", FAULTS.format(first=first)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)
