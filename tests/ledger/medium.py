"""Disks as they are at times: mounted read-only, where tests may mount."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """`folder` is on a medium that nobody writes, root neither."""
    bound = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
    if bound.returncode:
        pytest.skip("only root can mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        yield
    finally:
        subprocess.run(["umount", folder], check=True)
