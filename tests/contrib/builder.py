"""A Python that builds the project's archives."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def builder(folder: Path) -> Path:
    """An interpreter with hatchling: this one, or one in `folder`, if there is an index."""
    if importlib.util.find_spec("hatchling") is not None:
        return Path(sys.executable)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    words = [str(python), "-m", "pip", "--quiet", "install", "hatchling>=1.27"]
    if subprocess.run(words, check=False, capture_output=True, timeout=120).returncode:
        pytest.skip("there is no hatchling, and no index to install it from")
    return python
