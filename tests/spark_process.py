"""The process of a Spark server that `.ci/spark` has started."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir


def spark_pid(url: str) -> int:
    """The process that leads the group of the server at `url`."""
    folder = Path(gettempdir()) / f"dpsql-spark-{url.rpartition(':')[2]}"
    return int((folder / "pid").read_text(encoding="utf-8"))
