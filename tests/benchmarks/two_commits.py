"""Private ÷ plain of two commits side by side, measured in turns: what a change has cost.

    PYTHONPATH=tests python -m benchmarks.two_commits FOLDER BASELINE [LAST] [--runs 5]
        [--only flags,clerk] [--json FILE] [--svg FILE]

FOLDER holds the Parquet files of TPC-H; LAST is HEAD unless it is named. Each commit is checked out
into a folder of its own, and its own `benchmarks.speed` measures it, once in each of `--runs`
rounds: one commit follows the other, so that both see the same drift of the machine. What is
compared are medians of ratios within one process. `benchmarks.work` shows the same of counts, where
both commits have it; these don't drift at all. Nothing is asserted: who reads it decides.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from benchmarks.picture import picture

ROOT: Final = Path(__file__).parent.parent.parent
MODES: Final = ("as it is", "prepared")
COLOURS: Final = {"baseline": "#8795a3", "last": "#2f9172"}
MORE: Final = 1.1
"""From here on a ratio is marked."""

UNNAMED: Final = {name: name for name in COLOURS}

Ratios = Mapping[str, Mapping[str, float]]
"""By mode and query."""


class Commits(NamedTuple):
    """Ratios of both: of times, and of what operators hand on where both commits count it."""

    names: Mapping[str, str]
    times: Mapping[str, Ratios]
    counts: Mapping[str, Ratios]

    def tables(self) -> str:
        """Both side by side, in Markdown."""
        found = side_by_side("time, private ÷ plain", self.times, self.names)
        if len(self.counts) < len(self.times):
            return found
        return f"{found}\n{side_by_side('rows, private ÷ plain', self.counts, self.names)}"

    def plot(self) -> str:
        """Both as bars, as SVG."""
        return plot(self.times)


def main() -> None:
    """Measure both in turns, and show what was found."""
    arguments = _arguments()
    found = compared_commits(
        arguments.folder.absolute(),
        arguments.baseline,
        arguments.last,
        arguments.runs,
        arguments.only,
    )
    sys.stdout.write(found.tables())
    if arguments.json is not None:
        both = {"time": found.times, "rows": found.counts}
        arguments.json.write_text(json.dumps(both, indent=1) + "\n", encoding="utf-8")
    if arguments.svg is not None:
        arguments.svg.write_text(found.plot(), encoding="utf-8")


def compared_commits(
    folder: Path, baseline: str, last: str, runs: int, only: str | None = None
) -> Commits:
    """Both measured in turns."""
    commits = {"baseline": baseline, "last": last}
    rounds: dict[str, list[Ratios]] = {name: [] for name in commits}
    counts: dict[str, Ratios] = {}
    with checked_out(list(commits.values())) as trees:
        names = {
            name: f"{name}, {_git('rev-parse', '--short=8', commit)}"
            for name, commit in commits.items()
        }
        for number in range(runs):
            for name, tree in zip(commits, trees, strict=True):
                rounds[name].append(_speed(tree, folder, only))
                sys.stderr.write(f"round {number + 1} of {runs}, {name}\n")
        for name, tree in zip(commits, trees, strict=True):
            if (tree / "tests" / "benchmarks" / "work.py").exists():
                counts[name] = _counts(tree, folder)
    return Commits(names, {name: medians(each) for name, each in rounds.items()}, counts)


@contextmanager
def checked_out(commits: Sequence[str]) -> Iterator[list[Path]]:
    """A folder for each commit, with its files."""
    with TemporaryDirectory() as name:
        trees = [Path(name) / str(number) for number in range(len(commits))]
        try:
            for tree, commit in zip(trees, commits, strict=True):
                _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
            yield trees
        finally:
            for tree in trees:
                if tree.exists():
                    _git("worktree", "remove", "--force", str(tree))


def medians(rounds: Sequence[Ratios]) -> Ratios:
    """Of each mode and query, over the rounds."""
    return {
        mode: {
            query: statistics.median(one[mode][query] for one in rounds)
            for query in rounds[0][mode]
        }
        for mode in rounds[0]
    }


def side_by_side(
    title: str, found: Mapping[str, Ratios], names: Mapping[str, str] = UNNAMED
) -> str:
    """Both commits' ratios, and the last's over the baseline's, in Markdown; more are marked."""
    lines = [
        f"| {title} | | {names['baseline']} | {names['last']} | last ÷ baseline |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    before, after = found["baseline"], found["last"]
    for mode in MODES:
        for query in (query for query in after[mode] if query in before[mode]):
            was, now = before[mode][query], after[mode][query]
            mark = " **more**" if now > MORE * was else ""
            lines.append(f"| {query} | {mode} | {was:.2f} | {now:.2f} | {now / was:.2f}{mark} |")
    return "\n".join([*lines, ""])


def plot(found: Mapping[str, Ratios]) -> str:
    """Both commits' ratios as bars, each query as it is and prepared, as SVG."""
    bars = {
        name: {
            query if mode == MODES[0] else f"{query}, p.": {"ratio": ratio}
            for query in ratios[MODES[0]]
            for mode in MODES
            for ratio in (ratios[mode][query],)
        }
        for name, ratios in found.items()
    }
    return picture(bars, COLOURS, "private ÷ plain of two commits; p.: prepared")


def _speed(tree: Path, folder: Path, only: str | None) -> Ratios:
    with TemporaryDirectory() as name:
        file = Path(name) / "found.json"
        chosen = [] if only is None else ["--only", only]
        _run(tree, "speed", str(folder), "--runs", "1", "--json", str(file), *chosen)
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return {mode: {name: one["ratio"] for name, one in found[mode].items()} for mode in MODES}


def _counts(tree: Path, folder: Path) -> Ratios:
    found: dict[str, dict[str, int]] = json.loads(_run(tree, "work", str(folder)))
    queries = {name: one for name, one in found.items() if "plain" in one}
    return {
        mode: {name: one[mode] / one["plain"] for name, one in queries.items()} for mode in MODES
    }


def _run(tree: Path, module: str, *arguments: str) -> str:
    """What a benchmark of the commit in `tree` prints."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tree), str(tree / "tests")))}
    command = [sys.executable, "-m", f"benchmarks.{module}", *arguments]
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=environ, cwd=tree
    )
    return done.stdout


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], check=True, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("baseline")
    parser.add_argument("last", nargs="?", default="HEAD")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", help="names of queries, as in Q1,clerk")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    return parser.parse_args(sys.argv[1:])


if __name__ == "__main__":
    main()
