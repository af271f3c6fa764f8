"""Where the files of a ledger may lie, and who may read them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ledger.ledger_world import Place, charge

from dpsql.errors import LedgerFault
from dpsql.ledger.storage.file_safety import filesystem


def link(path: Path) -> None:
    moved = path.rename(path.with_name("moved"))
    path.symlink_to(moved)


def link_hard(path: Path) -> None:
    os.link(path, path.with_name("second name"))


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.skipif(os.name == "nt", reason="modes and links are POSIX's")
@pytest.mark.parametrize("which", ["path", "anchor"])
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda path: path.chmod(0o640), "is open to other users"),
        (link, "is no regular file"),
        (become_a_folder, "is no regular file"),
        (link_hard, "has another name too"),
    ],
    ids=["mode", "symbolic link", "folder", "hard link"],
)
def test_files_lie_where_nobody_else_reaches_them(
    place: Place, which: str, change: Callable[[Path], None], what: str
) -> None:
    place.open().close()
    change(getattr(place, which))
    with pytest.raises(LedgerFault, match=what):
        place.open()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX's")
def test_files_are_made_for_their_owner_alone(place: Place) -> None:
    old = os.umask(0)
    try:
        with place.open() as ledger:
            ledger.charge(charge(1))
            files = [*place.files(), *place.path.parent.glob("*-live/*")]
            assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
            folders = [place.path.parent, place.anchor.parent]
            assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}
    finally:
        os.umask(old)


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw,relatime shared:2 - nfs4 server:/home rw
31 30 8:2 / /home/me/local\\040disk rw,relatime - xfs /dev/sdb1 rw
32 22 0:41 / /mnt rw - tmpfs tmpfs rw
33 22 0:42 / /mnt rw - cifs //server/share rw
nonsense
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/var/lib/ledger.db", "ext4"),
        ("/home/me/ledger.db", "nfs4"),
        ("/home/me/local disk/ledger.db", "xfs"),
        ("/homes/ledger.db", "ext4"),
        ("/mnt/ledger.db", "cifs"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(path: str, kind: str) -> None:
    assert filesystem(Path(path), MOUNTS) == kind
