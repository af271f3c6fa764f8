"""A reboot gives a file system another device number, and its files stay what they are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from engine.people import source
from mounts import make_image, mounted

import dpsql.engine.fingerprint as module
from dpsql.engine.fingerprint import fingerprint


def test_a_remounted_large_file_is_the_same_version(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BY_CONTENT_UP_TO_BYTES", 10)
    image, other, folder = tmp_path / "image", tmp_path / "other", tmp_path / "data"
    for made in (image, other):
        make_image(made)
    with mounted(image, folder):
        shutil.copy2(files / "people.parquet", folder)
        device, before = folder.stat().st_dev, fingerprint(source(folder, "parquet"))
    # The other one takes the loop device that was free.
    with mounted(other, tmp_path / "elsewhere"), mounted(image, folder):
        assert folder.stat().st_dev != device
        assert fingerprint(source(folder, "parquet")) == before


def test_of_a_large_file_both_ends_count(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BY_CONTENT_UP_TO_BYTES", 10)
    file = tmp_path / "people.parquet"
    shutil.copy2(files / "people.parquet", file)
    before, status = fingerprint(source(tmp_path, "parquet")), file.stat()
    assert before == fingerprint(source(tmp_path, "parquet"))
    content = bytearray(file.read_bytes())
    content[-9] ^= 1
    with file.open("r+b") as stream:  # in place
        stream.write(content)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fingerprint(source(tmp_path, "parquet")) != before
