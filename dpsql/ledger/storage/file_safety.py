"""Where the ledger's files may lie, and who may read them."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from dpsql.ledger.fault import fault, translated_errors

# SQLite's log is shared memory, which two hosts don't share: each would spend the whole budget.
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ncpfs", "fuse.sshfs"})

_MOUNTS = Path("/proc/self/mountinfo")


def check_locations(ledger: Path, anchor: Path) -> None:
    """Raises LedgerFault unless the two differ, are private regular files, and the ledger is local.

    Files that don't exist yet are fine.
    """
    if ledger == anchor:
        raise fault(anchor, "is named as its own anchor", "name another file, on another disk")
    for path in (ledger, anchor):
        with translated_errors(path):
            _check_private(path)
    mounts = _MOUNTS.read_text(errors="replace") if _MOUNTS.exists() else ""
    kind = filesystem(ledger, mounts)
    if kind in NETWORK:
        raise fault(ledger, f"lies on a network file system ({kind})", "move it to a local disk")


def check_anchor(anchor: Path) -> None:
    """Raises LedgerFault if a server's anchor exists and isn't a private regular file."""
    with translated_errors(anchor):
        _check_private(anchor)


def create_private(path: Path) -> None:
    """Creates `path`, empty and for its owner alone; leaves a file that exists already as it is."""
    with translated_errors(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # umask may only take bits away, and NOFOLLOW keeps a planted link from choosing the file.
        flags = os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
        os.close(os.open(path, flags, 0o600))
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Syncs the names in `folder` to disk; Windows has no such call and needs none."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def filesystem(path: Path, mounts: str) -> str:
    """The type of `path`'s file system by Linux's mount table `mounts`; "" if that has none."""
    folder = path.parent.resolve()
    kind, depth = "", -1
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split()
        if not dash or len(fields) < 5 or not after:
            continue
        point = Path(fields[4].replace("\\040", " "))
        # Of two mounts on one point, the later one covers the earlier.
        if folder.is_relative_to(point) and len(point.parts) >= depth:
            kind, depth = after.split()[0], len(point.parts)
    return kind


def _check_private(path: Path) -> None:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(status.st_mode):
        raise fault(path, "is no regular file", "name the file itself, not a link to it")
    if status.st_nlink > 1:
        # SQLite names its log after the file: under two names, two logs.
        raise fault(path, "has another name too", "remove the other hard links")
    if sys.platform != "win32" and status.st_mode & 0o077:
        raise fault(path, "is open to other users", f"chmod 600 {path}")
