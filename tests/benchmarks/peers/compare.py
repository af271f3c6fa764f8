"""dpsql, smartnoise-sql, pyqrlew, DPSQL+ and plain SQL in turns: the tables and the plot of docs.

    PYTHONPATH=.:tests python -m benchmarks.peers.compare FOLDER [--runs 3] [--json FILE]
        [--place P] [--update-docs | --update-errors]

FOLDER holds the Parquet files of TPC-H. Run by hand: each library gets an environment of its own
under P, with the versions below, in which its script runs; DPSQL+, which no index has, is left out
where its environment hasn't been made by hand, with pyspark. Seven shapes, each at (1, 10^-6) and
on the same rows, once in each of `--runs` rounds; in a round one library follows the other, so that
all see the same drift of the machine, and figures are medians of the rounds. Each time is that of a
whole answer, and is compared with what the same question takes without privacy on the library's
own engine and tables; of DPSQL+ both are processors' time. Units are customers, of each of which at
most 30 orders or 120 lines are counted. All libraries are told the same bounds, values and limits,
as far as each can be, and spend the same on a whole query. `--update-docs` writes the tables into
docs/performance.md, and the plot beside them; `--update-errors` that of errors alone, which other
work on the machine doesn't change.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.joined import joined
from benchmarks.picture import picture
from documentation.pages import put

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent

PEERS: Mapping[str, tuple[str, ...]] = {
    "smartnoise": ("smartnoise-sql==1.0.10", "duckdb==1.5.6", "psycopg2-binary"),
    "qrlew": ("pyqrlew==0.9.27", "duckdb==1.5.6"),
}

BY_HAND: Final = "dpsql_plus"
HEADS: Final = {
    "dpsql": "dpsql",
    **{name: packages[0].replace("==", " ") for name, packages in PEERS.items()},
    BY_HAND: "DPSQL+",
}
COLOURS: Final = {
    "dpsql": "#2f9172",
    "smartnoise": "#8795a3",
    "qrlew": "#b58a3c",
    BY_HAND: "#7a6fb0",
}
PLOT: Final = ROOT / "docs" / "assets" / "peers.svg"
TIMES, ERRORS = "peer-times-table", "peer-errors-table"

ASKED: Final = {
    "count": "count of lines",
    "flags": "count, two sums and a mean by flag and status",
    "segment": "count and sum of orders by segment",
    "month": "revenue by month",
    "clerk": "orders by clerk",
    "clerk, told": "the same, `OPTIONS (groups = 8, rows_per_group = 2, over_groups = scale)`",
    "distinct": "distinct customers by priority",
    "median": "median price by priority",
}

Found = list[dict[str, Any]]


def main() -> None:
    """Make what is missing, run all in turns, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--place", type=Path, default=Path.home() / ".cache" / "dpsql-peers")
    parser.add_argument("--update-docs", action="store_true")
    parser.add_argument("--update-errors", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.absolute()
    asked = {"dpsql": (Path(sys.executable), "own", str(folder))}
    for name, packages in PEERS.items():
        asked[name] = environment(arguments.place / name, packages), name, str(folder)
    with ExitStack() as until:
        by_hand = arguments.place / BY_HAND / "bin" / "python"
        if runs_on_spark(by_hand):
            asked[BY_HAND] = by_hand, BY_HAND, until.enter_context(joined(folder))
        rounds: dict[str, list[Found]] = {name: [] for name in asked}
        for _ in range(arguments.runs):
            for name, (python, script, source) in asked.items():
                rounds[name].append(run_script(python, script, source, 1))
    found = {name: medians(each) for name, each in rounds.items()}
    sys.stdout.write(f"{times_table(found)}\n{errors_table(found)}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if arguments.update_docs or arguments.update_errors:
        put(ERRORS, errors_table(found))
    if arguments.update_docs:
        put(TIMES, times_table(found))
        PLOT.write_text(plot(found), encoding="utf-8")


def runs_on_spark(python: Path) -> bool:
    """Whether there is such an environment, whose DPSQL+ has its backend for Spark."""
    command = [str(python), "-c", "from dpsql.backend import SparkSQLBackend"]
    if not python.exists():
        return False
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def medians(rounds: Sequence[Found]) -> Found:
    """Of each shape the medians of the rounds; refused where a round was."""
    found: Found = []
    for ones in zip(*rounds, strict=True):
        refused = [one for one in ones if "refused" in one]
        if refused:
            found.append(refused[0])
            continue
        columns = zip(*(one["errors"] for one in ones), strict=True)
        times = {
            name: statistics.median(one[name] for one in ones)
            for name in ("plain", "private", "ratio")
        }
        errors = [statistics.median(column) for column in columns]
        found.append({"shape": ones[0]["shape"], **times, "errors": errors})
    return found


def plot(found: Mapping[str, Found]) -> str:
    """How many times as long as its plain question each library takes, shape by shape, as SVG."""
    bars = {name: {one["shape"]: one for one in each} for name, each in found.items()}
    colours = {name: COLOURS[name] for name in found}
    return picture(bars, colours, "a whole answer ÷ without privacy, TPC-H", highest=1024)


def environment(place: Path, packages: Sequence[str]) -> Path:
    """The Python of an environment with `packages`; made where there is none yet."""
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        subprocess.run([*install, *packages], check=True)
    return python


def times_table(found: Mapping[str, Found]) -> str:
    """Of each shape ms, and how many times as long as without privacy, in Markdown."""
    return _table(found, lambda one: f"{one['private']:,.0f} ms, {one['ratio']:.1f}×")


def errors_table(found: Mapping[str, Found]) -> str:
    """Of each shape the errors of its columns, in Markdown."""
    return _table(found, lambda one: " / ".join(map(_percent, one["errors"])) + " %")


def _percent(error: float) -> str:
    return f"{error:.2g}" if error < 100 else f"{error:,.0f}"


def _table(found: Mapping[str, Found], say: Callable[[Mapping[str, Any]], str]) -> str:
    heads = " | ".join(HEADS[name] for name in found)
    lines = [f"| shape | {heads} |", "| --- |" + " ---: |" * len(found)]
    by_name = {name: {one["shape"]: one for one in each} for name, each in found.items()}
    for shape in ASKED:
        asked = [by_name[name].get(shape) for name in found]
        if any(asked):
            cells = (
                "" if one is None else "refused" if "refused" in one else say(one) for one in asked
            )
            lines.append(f"| {ASKED[shape]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(one: Mapping[str, Any] | None, say: Callable[[Mapping[str, Any]], str]) -> str:
    if one is None:
        return ""
    return "refused" if "refused" in one else say(one)


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
