"""An hour of everything at once: two pairs of servers, many clients, and all that goes wrong.

    DPSQL_POSTGRES=$(.ci/postgres start) DPSQL_SOAK_SECONDS=3600 pytest -m soak -s tests/soak

With `--update-docs` its figures go into docs/server.md. Of 15 % to 30 % of the time, the most
memory that a server had is compared with that of the last 15 %.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

psycopg = pytest.importorskip("psycopg")

from pgwire.pressure import question  # noqa: E402 - where there is no psycopg, nothing is asked
from soak.asking import (  # noqa: E402
    CUT_OFF,
    Journal,
    ask_until,
    copy_until,
    half_open_until,
    idle_until,
    in_order,
)
from soak.figures import write_figures  # noqa: E402
from soak.trouble import Trouble  # noqa: E402
from soak.world import Pair, World, world  # noqa: E402

SECONDS: Final = float(os.environ.get("DPSQL_SOAK_SECONDS", "3600"))
CLIENTS, READERS, CONNECTIONS, HALF_OPEN = 5, 1, 300, 24
MOST_GROWN: Final = 1.2


@dataclass(slots=True)
class Memory:
    """Megabytes of the servers that nobody kills, over time."""

    begun: float = field(default_factory=time.monotonic)
    samples: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def sample(self, found: World) -> None:
        now = (time.monotonic() - self.begun) / SECONDS
        for pair in found.pairs:
            self.samples.setdefault(pair.name, []).append((now, pair.steady.memory))

    def most(self, name: str, begin: float, end: float) -> int:
        return max(size for at, size in self.samples[name] if begin <= at <= end)


@pytest.mark.soak
def test_nothing_is_lost_and_nothing_is_burnt(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with world(tmp_path) as found:
        first = {pair.name: pair.steady.process for pair in found.pairs}
        journals = {pair.name: Journal() for pair in found.pairs}
        memory = Memory()
        trouble = _soak(found, journals, memory)
        assert not trouble.failed, trouble.failed
        figures = [("troubles", ", ".join(f"{n} {what}" for what, n in trouble.done.items()))]
        for pair in found.pairs:
            process = pair.steady.process
            assert process is first[pair.name]
            assert process is not None
            assert process.poll() is None, pair.steady.log.read_text()[-3000:]
            begin, end = memory.most(pair.name, 0.15, 0.3), memory.most(pair.name, 0.85, 1)
            for server in pair.servers:
                server.end(signal.SIGTERM)
                server.start()
            told = _replayed(pair, journals[pair.name])
            figures.append((pair.name, f"{told}; memory {end} : {begin} MB, {end / begin:.2f}×"))
            sys.stdout.write("\n".join(map(": ".join, figures)) + "\n")
            sys.stdout.write(f"{dict(journals[pair.name].others)}\n")
            sizes = [size for _, size in memory.samples[pair.name][::10]]
            sys.stdout.write(f"MB, each ten seconds: {sizes}\n")
            assert end <= MOST_GROWN * begin
        if request.config.getoption("--update-docs"):
            write_figures(SECONDS, figures)


def _soak(found: World, journals: Mapping[str, Journal], memory: Memory) -> Trouble:
    stop, calm = threading.Event(), threading.Event()
    trouble = Trouble(found, calm)
    each = CONNECTIONS // len(found.servers)
    work: list[tuple[Any, tuple[Any, ...]]] = [
        (trouble.make, ()),
        (idle_until, (stop, found.servers, each)),
        (half_open_until, (stop, found.servers, HALF_OPEN)),
    ]
    for number, pair in enumerate(found.pairs):
        mine, own = journals[pair.name], 100 * (number + 1)
        work += [(ask_until, (stop, pair, mine, own + n)) for n in range(CLIENTS)]
        work += [(copy_until, (stop, pair, mine, own + 50 + n)) for n in range(READERS)]

    def run(do: Any, given: tuple[Any, ...]) -> None:
        try:
            do(*given)
        except Exception as error:  # noqa: BLE001 - whatever it is, the soak has failed
            trouble.failed.append(f"{do.__name__}: {error!r}")
            calm.set()

    threads = [threading.Thread(target=run, args=each_of) for each_of in work]
    for thread in threads:
        thread.start()
    try:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and not calm.wait(1):
            memory.sample(found)
    finally:
        calm.set()
        threads[0].join()
        time.sleep(2)
        stop.set()
        for thread in threads[1:]:
            thread.join()
    return trouble


def _replayed(pair: Pair, journal: Journal) -> str:
    """The ledger is in order, has what was told and no more, and answers it again for nothing."""
    assert not journal.wrong, journal.wrong[:3]
    pair.command("ledger", "verify", str(pair.schema))
    before, outcomes = _charges(pair)
    twice = [number for number, count in before.items() if count != 1]
    assert not twice, twice[:5]
    answered, failed = set(journal.answers), set(journal.failures)
    assert answered
    assert answered <= set(before), sorted(answered - set(before))[:5]
    assert set(before) <= answered | failed, sorted(set(before) - answered - failed)[:5]
    with psycopg.connect(pair.killed.dsn("auditor"), autocommit=True) as connection:
        connection.execute("SET dpsql.epsilon = 0.001")
        for number, told in journal.answers.items():
            rows = in_order(connection.execute(question(number)).fetchall())
            assert rows == told, f"question {number} was answered {told}, and at the end {rows}"
    after, _ = _charges(pair)
    assert after == before
    cut = sum(1 for state in journal.failures.values() if state == CUT_OFF)
    charged = len(failed & set(before))
    sys.stdout.write(f"{pair.name}: {Counter(journal.failures.values())}, {outcomes}\n")
    others = journal.others
    return (
        f"{len(before):,} charges for {len(answered):,} answers, all replayed, and {charged:,} of"
        f" {len(failed):,} failures ({cut:,} of them the end of a connection);"
        f" {others['answers again']:,} answers again, {others['rows copied']:,} rows copied slowly,"
        f" {others['COPY interrupted']:,} COPY interrupted"
    )


def _charges(pair: Pair) -> tuple[Counter[int], Counter[str]]:
    """How often each question was charged, and how charges ended."""
    numbers: Counter[int] = Counter()
    outcomes: Counter[str] = Counter()
    for entry in json.loads(pair.command("budget", str(pair.schema), "--format", "json")):
        if found := re.search(r"qty <> (\d+)", entry["statement"]):
            numbers[int(found[1])] += 1
            outcomes[entry["outcome"]] += 1
    return numbers, outcomes
