"""dpsql beside smartnoise-sql and pyqrlew: seven shapes, each at (1, 10^-6) and on the same rows.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare FOLDER [--runs 3] [--json FILE]
        [--place P]

FOLDER holds the Parquet files of TPC-H. Run by hand: each library gets an environment of its own
under P, with the versions below, in which its script runs. Each time is that of a whole answer, and
is compared with what the same question takes without privacy on the library's own DuckDB and
tables.
Units are customers, of each of which at most 30 orders or 120 lines are counted. All libraries are
told the same bounds, values and limits, as far as each can be, and spend the same on a whole query.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.measured import SHAPES

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent

PEERS: Mapping[str, tuple[str, ...]] = {
    "smartnoise": ("smartnoise-sql==1.0.10", "duckdb==1.5.6", "psycopg2-binary"),
    "qrlew": ("pyqrlew==0.9.27", "duckdb==1.5.6"),
}

Found = list[dict[str, Any]]


def main() -> None:
    """Make what is missing, run each, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    arguments = parser.parse_args()
    found: dict[str, Found] = {"dpsql": _run(Path(sys.executable), "own", arguments)}
    for name, packages in PEERS.items():
        python = environment(arguments.place / name, packages)
        found[name] = _run(python, name, arguments)
    sys.stdout.write(table(found))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def environment(place: Path, packages: Sequence[str]) -> Path:
    """The Python of an environment with `packages`; made where there is none yet."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*install, *packages], check=True)
    return python


def table(found: Mapping[str, Found]) -> str:
    """Time ÷ plain, ms, and the errors of each shape, in Markdown."""
    lines = [f"| shape | {' | '.join(found)} |", "| --- |" + " --- |" * len(found)]
    by_name = {name: {one["shape"]: one for one in each} for name, each in found.items()}
    for shape in SHAPES:
        cells = [_cell(by_name[name][shape]) for name in found]
        lines.append(f"| {shape} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(one: Mapping[str, Any]) -> str:
    if "refused" in one:
        return "refused"
    errors = " / ".join(f"{error:.2g}" for error in one["errors"])
    return f"{one['private']:,.0f} ms, {one['ratio']:.1f}×, {errors} %"


def _run(python: Path, name: str, arguments: argparse.Namespace) -> Found:
    return run_script(python, name, str(arguments.folder), arguments.runs)


def run_script(python: Path, name: str, source: str, runs: int) -> Found:
    """What the script `name` of this folder found in the environment of `python`."""
    paths = (ROOT, ROOT / "tests") if name == "own" else (ROOT / "tests",)
    command = [str(python), str(HERE / f"{name}.py"), source, str(runs)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environ)
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
