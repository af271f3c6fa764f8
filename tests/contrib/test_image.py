"""The image: built and started by its own commands, unprivileged, on a read-only file system."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from contrib.builder import ROOT, builder
from contrib.image import instructions
from pgwire.shop import make

SCRIPT = Path(__file__).parent / "image.py"


@pytest.mark.in_turn
def test_it_starts_unprivileged_on_a_read_only_file_system(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    if subprocess.run(["unshare", "-mn", "true"], check=False, capture_output=True).returncode:
        pytest.skip("only root has namespaces of its own")
    hatch = subprocess.run(
        [
            builder(tmp_path / "build"),
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    data, folder = tmp_path / "data", tmp_path / "image"
    make(data, customers=20, orders=40)
    for path in (data, *data.iterdir()):
        path.chmod(0o755)
    folder.mkdir()
    inside = ["unshare", "-mn", "--propagation", "private", sys.executable, str(SCRIPT)]
    words = map(str, (ROOT, hatch, folder, data))
    ran = subprocess.run(
        [*inside, *words], check=False, capture_output=True, text=True, timeout=180
    )
    if "overlay" in ran.stderr and "mount" in ran.stderr:
        pytest.skip("file systems can't be laid over each other here")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["added"].startswith("added alice"), found
    assert "listening on 0.0.0.0:5433, in plaintext; 1 user of /state/" in "".join(found["told"])
    assert found["uid"] == 10001
    assert found["refused"].count("Read-only file system") == 2
    assert found["rows"] >= 4
    assert found["code"] == 0
    assert found["state"] == ["anchors", "shop"]


def test_its_user_is_a_number() -> None:
    """By which volumes are given away, and by which an orchestrator knows that it isn't root."""
    said = dict(instructions(ROOT / "packaging" / "Dockerfile"))
    assert said["USER"] == "10001:10001"
