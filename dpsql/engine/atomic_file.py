"""Files that are being written, in a folder of their own beside the file that they will replace.

A process that is killed leaves its folder behind, perhaps with a copy of private rows. Each folder
has a file that its process holds a lock on, which the system releases however the process ends. The
next process that sees the lock free removes the folder.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_MARK: Final = ".unfinished-"
_LOCK: Final = "lock"


@contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """A new folder for the file that will replace `target`: private, and removed in the end."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder, lock = _locked(target)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextmanager
def alone(folder: Path, wait: Callable[[], None]) -> Iterator[None]:
    """No other process is in here for `folder`; `wait` is called again and again while one is.

    The system releases the folder however the process ends. On Windows, nobody waits.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        while not _lock(descriptor):
            wait()
        yield
    finally:
        os.close(descriptor)


def remove_left_behind(target: Path) -> tuple[Path, ...]:
    """Remove the folders that killed processes left beside `target`; returns those removed."""
    removed = []
    for folder in sorted(siblings(target, _MARK)):
        if _is_ours(folder) and _is_dead(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return tuple(removed)


def siblings(path: Path, mark: str) -> list[Path]:
    """What is named like `path` and `mark` together, or longer; nothing where no folder is read.

    No pattern is compiled for it, which takes a millisecond, and in which `path` may be one, too.
    """
    try:
        every = [*path.parent.iterdir()]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
    return [sibling for sibling in every if sibling.name.startswith(path.name + mark)]


def _locked(target: Path) -> tuple[Path, int]:
    """A new folder and its lock's descriptor; tries again if a cleanup removed the folder."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=f"{target.name}{_MARK}"))
        with suppress(FileNotFoundError):
            lock = os.open(folder / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            if _lock(lock) and (folder / _LOCK).exists():
                return folder, lock
            os.close(lock)


def _is_ours(folder: Path) -> bool:
    with suppress(OSError):
        return folder.lstat().st_uid == os.geteuid() and not folder.is_symlink()
    return False


def _is_dead(folder: Path) -> bool:
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        # Just created, or its process ended before it had a lock: then the folder is empty.
        with suppress(OSError):
            folder.rmdir()
        return False
    except OSError:
        return False
    try:
        return _lock(lock)
    finally:
        os.close(lock)


def _lock(descriptor: int) -> bool:
    """Takes the lock; False if another process holds it, or on Windows."""
    if sys.platform == "win32":
        return False
    import fcntl  # noqa: PLC0415 - not everywhere

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
