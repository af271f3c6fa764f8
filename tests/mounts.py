"""Small file systems of a test's own: only root may mount, elsewhere the test says why it's off."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """`folder` is a disk of `size`, in memory."""
    folder.mkdir(mode=0o700)
    _mount("-t", "tmpfs", "-o", f"size={size},mode=0700", "none", str(folder))
    try:
        yield folder
    finally:
        _run("umount", "--lazy", str(folder))


def make_image(image: Path, megabytes: int = 8) -> None:
    """`image` is a file that holds an empty file system."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 isn't there")
    with image.open("wb") as file:
        file.truncate(megabytes * 1024 * 1024)
    _run("mkfs.ext4", "-q", str(image))


@contextmanager
def mounted(image: Path, folder: Path, *, read_only: bool = False) -> Iterator[None]:
    """What is in `image` is seen in `folder`."""
    folder.mkdir(exist_ok=True)
    _mount("-o", "loop,ro" if read_only else "loop", str(image), str(folder))
    try:
        yield
    finally:
        # Who reads from it would keep it.
        _run("umount", *(["--lazy"] if read_only else []), str(folder))


def remounted(image: Path, folder: Path) -> None:
    """Take `folder`, which was mounted to be read only, away from whoever reads it, and back."""
    _run("umount", "--lazy", str(folder))
    _mount("-o", "loop,ro", str(image), str(folder))


def fill(folder: Path) -> Path:
    """The file that takes what room there is in `folder`, to the last byte."""
    file = folder / "filler"
    with file.open("ab", buffering=0) as stream:
        for step in (65_536, 4_096, 1):
            try:
                while stream.write(b"\0" * step):
                    pass
            except OSError:
                continue
    return file


def _mount(*options: str) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    ended = subprocess.run(["mount", *options], capture_output=True, check=False)
    if ended.returncode:
        pytest.skip(f"no file system can be mounted: {ended.stderr.decode().strip()}")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
