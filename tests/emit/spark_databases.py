"""Databases with all their neighbors in one session of Spark.

What a unit keeps under limits is counted there, too, in SQL that knows of units and groups alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from emit import spark_server
from neighbor_search.public_rows import public_connection
from neighbor_search.search import Pair, Search, search
from notes.compiler import asked, schema_of, whole
from sqlglot import exp, parse_one

from dpsql.audit.databases.database_batch import Histogram
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.bind.saved_release import NO_RELEASES
from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.plan.bounded_release.column_names import UNIT
from dpsql.plan.bounded_release.server_query import ServerStatement
from dpsql.schema.model import Hop, Table
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.compile.request import TableRequest, binder_of
from dpsql.session.compile.source_facts import DataEdition
from dpsql.structs import replace


def fast_sums(statement: ServerStatement) -> tuple[int, int]:
    """How many sums are in BIGINT, which have no value of too many rows; and of these, how many
    stand where rows of several units are summed.
    """
    found = [
        node.find_ancestor(exp.Select)
        for node in parse_one(statement.sql, dialect="spark").find_all(exp.Anonymous)
        if node.name.upper() == "TRY_SUM"
    ]
    groups = [None if select is None else select.args.get("group") for select in found]
    by_unit = sum(
        group is not None and UNIT in {key.name for key in group.expressions} for group in groups
    )
    return len(found), len(found) - by_unit


class NoKeys(WorldFacts, frozen=True):
    """Facts as they are of a source on Spark: no key is believed."""

    def verified(self, table: Table | Hop) -> bool:
        """False."""
        del table
        return False


@cache
def prepared(sql: str, schema: str, limits: ContributionLimits = AS_DECLARED) -> CompiledStatement:
    """`sql` up to the point where it would be charged, under `limits`, as it is over Spark."""
    own = schema_of(schema)
    facts = NoKeys(own, public_connection(schema), frozenset())
    query, request, options = asked(sql, own, limits)
    statement = binder_of(request, whole(schema).bound)(query, own, NO_PARAMETERS, NO_RELEASES)
    epsilon = request.epsilon if isinstance(request, TableRequest) else options.epsilon
    loss = query_loss(own, Fraction(1) if epsilon is None else epsilon)
    return compile_bound(statement, query, own, facts, loss, DataEdition("data"), request, options)


def numbered(sql: str, tables: Collection[str], number: int) -> str:
    """A statement over the tables whose names have `number` behind them."""
    alike = "|".join(re.escape(f"`{table}`") for table in tables)
    return re.sub(
        f"\\b(FROM|JOIN) ({alike})", lambda match: f"{match[1]} {match[2][:-1]} {number}`", sql
    )


@dataclass(frozen=True)
class Neighbors:
    """Databases with all their neighbors, which are in the session `name`.

    Of database n, `tables` have n behind their names. `create` has the session have one of them:
    a test asks few.
    """

    name: str
    count: int
    tables: frozenset[str]
    pairs: tuple[Pair, ...]
    create: Callable[[int], object]

    def of(self, statement: ServerStatement, number: int) -> ServerStatement:
        """`statement` of one of the databases."""
        return replace(statement, sql=numbered(statement.sql, self.tables, number))

    def run(self, statement: ServerStatement, number: int, salt: str) -> list[tuple[object, ...]]:
        """The rows of `statement` in one of the databases."""
        self.create(number)
        return spark_server.tuples(spark_server.run(self.of(statement, number), self.name, salt))


_OF_FEW_ROWS = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""A statement of ten rows takes a third of the time: Java is compiled in all other tests."""


@cache
def neighbors(schema: str, seed: int = 0) -> Neighbors:
    """Two random databases of the fixture `schema` with all their neighbors; no key holds."""
    found = _search(schema, seed)
    name = f"neighbors {schema} {seed}"
    for setting, value in _OF_FEW_ROWS.items():
        spark_server.session(name).conf.set(setting, value)
    names = frozenset(table.name for table in found.worlds.schema.tables.values())

    def create(number: int) -> None:
        with _CREATING:
            _create(name, schema, seed, number)

    return Neighbors(name, found.worlds.count, names, tuple(found.pairs), create)


_CREATING = threading.Lock()
"""Tests ask databases from several threads; all of them are read from one connection."""


@cache
def _create(name: str, schema: str, seed: int, number: int) -> None:
    worlds = _search(schema, seed).worlds
    worlds.load(number)
    tables = spark_server.like(worlds.schema, worlds.connection)
    spark_server.create(name, {f"{table} {number}": rows for table, rows in tables.items()})


def _search(schema: str, seed: int) -> Search:
    return search(schema, frozenset(), seed, databases=2)


def cells(rows: list[tuple[object, ...]]) -> Histogram:
    """The counts of cells of one selection."""
    counts: Histogram = {}
    for *key, cell, number in rows:
        counts.setdefault(tuple(key), {})[int(str(cell))] = int(str(number))
    return counts


_RANKED = re.compile(r" WHERE `(rank \d+)` <= (\d+)")
_WINDOW = re.compile(
    r"(ROW_NUMBER|DENSE_RANK)\(\) OVER \(PARTITION BY ((?:`\w+`(?:, )?)+) ORDER BY (.*)\)"
)


@dataclass(frozen=True)
class Kept:
    """A unit's groups, or its values in a group: all of them, those that a rank `left`, a limit."""

    rank: str
    every: int
    left: int
    limit: int


def kept(
    statement: ServerStatement, databases: Neighbors, number: int, salt: str
) -> Iterator[Kept]:
    """What the ranks of a statement leave of each unit in one of the databases.

    All are counted in the very rows that the statement ranks, without looking at their ranks. Of
    ranks by unit those are groups; of ranks by unit and group, values.
    """
    text = statement.sql
    for limit in _RANKED.finditer(text):
        inner = _before(text, limit.start())
        rank, partition, order = _own_window(inner, limit[1]).groups()
        # By a hash and the groups' names, or by a number that is computed of them.
        ordered = re.findall(r"(`\w+`) ASC NULLS LAST", order) or re.findall(r"`g\d+`", order)
        counted = ", ".join(dict.fromkeys(ordered))
        each = (
            f"SELECT {partition}, COUNT(*) AS n FROM (SELECT DISTINCT {partition}, {counted}"
            f" FROM {{}} AS x) AS y GROUP BY {partition}"
        )
        same = " AND ".join(f"a.{name} <=> k.{name}" for name in partition.split(", "))
        some = f"(SELECT * FROM {inner} AS t WHERE `{limit[1]}` <= {limit[2]})"
        sql = (
            f"{_shared(text)}SELECT a.n, COALESCE(k.n, 0) FROM ({each.format(inner)}) AS a"
            f" LEFT JOIN ({each.format(some)}) AS k ON {same}"
        )
        for every, left in databases.run(replace(statement, sql=sql), number, salt):
            yield Kept(rank, int(str(every)), int(str(left)), int(limit[2]))


def _own_window(inner: str, rank: str) -> re.Match[str]:
    """The window that a rank is computed by."""
    end = inner.index(f" AS `{rank}`")
    start = max(inner.rfind(f"{name}() OVER (", 0, end) for name in ("ROW_NUMBER", "DENSE_RANK"))
    window = _WINDOW.fullmatch(inner[start:end])
    assert window is not None, inner[start:end]
    return window


def _shared(text: str) -> str:
    """The tables of its WITH, where a statement has one."""
    if not text.startswith("WITH "):
        return ""
    depth = 0
    for index, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and letter == ")" and not text.startswith(", ", index + 1):
            return text[: index + 2]
    raise AssertionError("WITH has no end")


def _before(text: str, mark: int) -> str:
    """The derived table in parentheses that stands before its alias, at `mark`."""
    end = text.rindex(" AS ", 0, mark)
    depth = 0
    for start in range(end - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(text[start], 0)
        if depth == 0:
            return text[start:end]
    raise AssertionError("no derived table is there")
