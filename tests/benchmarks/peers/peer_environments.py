"""The environments of other libraries: made where there is none yet, or told why there can't be.

Each has the versions below, and none is this project's: DPSQL+ even has the same name.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent.parent

Found = list[dict[str, Any]]


class Peer(NamedTuple):
    """Its head in tables, what is installed, the module that has to be there, and its script."""

    head: str
    packages: tuple[str, ...]
    module: str
    script: str


DUCKDB: Final = "duckdb==1.5.6"
PEERS: Final[Mapping[str, Peer]] = {
    "smartnoise": Peer(
        "smartnoise-sql 1.0.10",
        ("smartnoise-sql==1.0.10", DUCKDB, "psycopg2-binary"),
        "snsql",
        "smartnoise",
    ),
    "qrlew": Peer("pyqrlew 0.9.27", ("pyqrlew==0.9.27", DUCKDB), "pyqrlew", "qrlew"),
    # No index has it, and its backend for DuckDB needs scipy, which it doesn't declare.
    "dpsql_plus": Peer(
        "DPSQL+ 0.1.0",
        (
            "git+https://github.com/lycorp-jp/DPSQL_Plus@7b5bc4891d5bf02138adbb25400509615402307b",
            DUCKDB,
            "scipy",
        ),
        "dpsql.backend",
        "dpsql_plus_duckdb",
    ),
}


_QUIETLY: Final = ("--quiet", "--disable-pip-version-check")


class NoEnvironment(Exception):
    """A library couldn't be installed; it says why."""


def peer_environments(place: Path, names: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """The Python of each peer that has an environment under `place`; of others, why it hasn't."""
    for name in names:
        peer = PEERS[name]
        try:
            yield name, environment(place / name, peer.packages, peer.module)
        except NoEnvironment as error:
            sys.stderr.write(f"{peer.head} isn't measured, and its old figures stay: {error}\n")


def environment(place: Path, packages: Sequence[str], module: str | None = None) -> Path:
    """The Python of an environment with `packages`, and with `module` where it is named.

    It is made where there is none yet, or where one has other versions; what was made by hand stays
    as it is. Raises NoEnvironment.
    """
    python = place / "bin" / "python"
    if _has(python, packages, module):
        return python
    if place.exists():
        if module is None:
            return python
        raise NoEnvironment(
            f"{place} has other versions than {', '.join(packages)}, or can't import {module};"
            " remove the folder, and it is made again"
        )
    made = _run(sys.executable, "-m", "venv", "--without-pip", str(place))
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", *_QUIETLY]
    done = made if made.returncode else _run(*install, *packages)
    if done.returncode:
        shutil.rmtree(place, ignore_errors=True)
        lines = done.stderr.splitlines()
        told = [line.strip() for line in lines if "error" in line.lower() or "fatal" in line]
        why = "; ".join(dict.fromkeys(told)) or "it doesn't say why"
        raise NoEnvironment(f"pip can't install {', '.join(packages)}: {why}")
    if not _has(python, packages, module):
        raise NoEnvironment(f"{place} was made, but can't import {module}")
    return python


class ScriptFailed(Exception):
    """A library's script failed; it has the end of what was said."""


def run_script(python: Path, name: str, source: str, *arguments: str | int) -> Found:
    """What the script `name` of this folder found in the environment of `python`.

    Raises ScriptFailed.
    """
    paths = (ROOT, ROOT / "tests") if name == "own" else (ROOT / "tests",)
    command = [str(python), str(HERE / f"{name}.py"), source, *map(str, arguments)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ)
    if done.returncode:
        raise ScriptFailed(f"{name} failed:\n{done.stderr[-2000:]}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def _has(python: Path, packages: Sequence[str], module: str | None) -> bool:
    """Whether it imports the module, and has the versions; who has built one by hand has none."""
    if not python.exists():
        return False
    pinned = dict(package.split("==") for package in packages if "==" in package)
    checks = [f"assert version({name!r}) == {number!r}" for name, number in pinned.items()]
    imports = [] if module is None else [f"import {module}"]
    code = "\n".join(["from importlib.metadata import version", *checks, *imports])
    return _run(str(python), "-I", "-c", code).returncode == 0


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True)
