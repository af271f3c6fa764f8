"""A release is bounded and planned once for all losses: what is proved follows from nothing else.

Whatever was proved before, a statement is compiled to what it is compiled to alone. Proofs are of
one version of the data and of one schema; two releases share one if all of these are the same:

    limits            of the session, of the statement, or chosen by ladders
    what is shown     the least number of units, whether keys are chosen by weights
    what it is for    an answer, or all cells of a table that is kept
    what is read      a kept table may be another one, whose rows may have to be paid for
    names of tables   of the answers that it reads, in its SQL
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached
from neighbor_search.public_rows import public_connection
from notes.compiler import asked, schema_of
from session.pinned import STATEMENTS

from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.bind.saved_release import NO_RELEASES
from dpsql.bind.statement import NO_PARAMETERS, bind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.operator import Release
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.schema.load.load import load_schema
from dpsql.session.compile import release_compiler
from dpsql.session.compile.compiled import CompiledStatement, compile_bound
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.compile.proofs.release_proofs import ReleaseProofs
from dpsql.session.compile.release_compiler import ReleaseCompiler
from dpsql.session.compile.request import binder_of
from dpsql.session.compile.source_facts import DataEdition
from dpsql.session.run.execution import Execution
from dpsql.session.run.finishing.finishing_text import FinishingText, FinishingTexts
from dpsql.session.saved.create import SaveRequest
from dpsql.session.saved.saved_releases import NotPaid
from dpsql.session.session import Session
from dpsql.structs import replace

COUNT = "SELECT ward, count(*), sum(cost) FROM visits GROUP BY ward"
AMONG = "SELECT count(*) FROM visits WHERE cost > ({})"
MEAN, ALL = "SELECT avg(cost) FROM visits", "SELECT count(*) FROM visits"
PER_SEX = "SELECT sex, count(*) FROM patients GROUP BY sex"


def compiled(
    sql: str, schema: str, proofs: ReleaseProofs, epsilon: Fraction = Fraction(1)
) -> CompiledStatement:
    """`sql` compiled where these `proofs` are known."""
    (one,) = at_each((epsilon,), sql, schema, proofs)
    return one


def at_each(
    epsilons: Iterable[Fraction], sql: str, schema: str, proofs: ReleaseProofs
) -> tuple[CompiledStatement, ...]:
    """`sql`, which is bound once, at each of `epsilons`."""
    own = schema_of(schema)
    facts = WorldFacts(own, public_connection(schema), frozenset())
    query, request, options = asked(sql, own)
    statement = binder_of(request, bind)(query, own, NO_PARAMETERS, NO_RELEASES)
    edition = DataEdition("data", proofs=proofs)
    losses = (query_loss(own, epsilon) for epsilon in epsilons)
    return tuple(
        compile_bound(statement, query, own, facts, loss, edition, request, options)
        for loss in losses
    )


def alone(sql: str, schema: str, epsilon: Fraction = Fraction(1)) -> CompiledStatement:
    return compiled(sql, schema, ReleaseProofs(), epsilon)


@pytest.mark.parametrize("schema", sorted({schema for schema, _ in STATEMENTS.values()}))
def test_a_statement_is_compiled_to_the_same_whatever_was_proved_before(schema: str) -> None:
    proofs = ReleaseProofs()
    texts = [sql for own, sql in STATEMENTS.values() if own == schema and "WITH (" not in sql]
    for sql in texts:
        compiled(sql, schema, proofs)
    for sql in texts:
        half = compiled(sql, schema, proofs, Fraction(1, 2))
        assert half == alone(sql, schema, Fraction(1, 2))


def _after(part: list[int], *more: int) -> tuple[int, ...]:
    return (*part, *more)


def _before(part: list[int], *more: int) -> tuple[int, ...]:
    return (*more, *part)


def test_what_follows_of_a_part_is_remembered_for_each_function_and_its_arguments() -> None:
    proofs = ReleaseProofs()
    parts = [[1], [1]]
    for _ in range(2):
        for part in parts:
            assert proofs.derived(part, _after) == (1,)
            assert proofs.derived(part, _after, 2) == (1, 2)
            assert proofs.derived(part, _after, 3) == (1, 3)
            assert proofs.derived(part, _before, 2) == (2, 1)
    first, second = (proofs.derived(part, _after, 2) for part in parts)
    assert first is not second
    assert proofs.derived(parts[0], _after, 2) is first


@pytest.mark.parametrize(
    "others",
    [
        [
            COUNT,
            f"{COUNT} OPTIONS (groups = 1)",
            f"{COUNT} OPTIONS (groups = 1, rows_per_group = 1)",
            f"{COUNT} OPTIONS (unit_sum = 100)",
            f"{COUNT} OPTIONS (groups = 2, over_groups = scale)",
        ],
        [COUNT, f"{COUNT} OPTIONS (min_units = 3)", f"{COUNT} OPTIONS (nonnegative = on)"],
        [
            PER_SEX,
            f"CREATE DASHBOARD d AS ({PER_SEX}) WITH (epsilon = 1)",
            f"CREATE SYNOPSIS s ON {PER_SEX.partition(' GROUP')[0]} WITH (epsilon = 1)".replace(
                ", count(*)", ", insured"
            ),
        ],
        [AMONG.format(MEAN), f"SELECT ({ALL}), ({AMONG.format(MEAN)})"],
        [f"SELECT ({ALL}), ({AMONG.format(MEAN)})", AMONG.format(MEAN)],
    ],
    ids=["limits", "shown", "for", "names", "other names"],
)
def test_what_differs_is_proved_for_itself(others: Iterable[str]) -> None:
    proofs = ReleaseProofs()
    for _ in range(2):
        for sql in others:
            assert compiled(sql, "clinic", proofs) == alone(sql, "clinic")


def test_another_loss_is_calibrated_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: defaultdict[str, int] = defaultdict(int)
    for name in ("bound_release", "sensitivity", "plan_release", "calibrate"):
        _count(name, calls, monkeypatch)
    proofs = ReleaseProofs()
    plans = [compiled(COUNT, "clinic", proofs, Fraction(1, n)) for n in (1, 2, 3)]
    assert calls == {"bound_release": 1, "sensitivity": 1, "plan_release": 1, "calibrate": 3}
    assert len({plan.releases[0].key for plan in plans}) == 3
    assert len({str(plan.releases[0].step.measurement) for plan in plans}) == 3


def test_at_another_loss_a_release_whose_keys_rows_choose_is_planned_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: defaultdict[str, int] = defaultdict(int)
    _count("plan_release", calls, monkeypatch)
    sql = "SELECT city, count(*) FROM patients GROUP BY city"
    one, half = at_each((Fraction(1), Fraction(1, 2)), sql, "clinic", ReleaseProofs())
    index = one.releases[0].step.bounded.partition_count_index
    assert index is not None
    assert one.releases[0].step.bounded.contributions.statistics[index].is_row_count
    assert one.releases[0].step.query is half.releases[0].step.query
    assert calls == {"plan_release": 1}


def test_at_another_loss_a_release_that_reads_an_answer_is_planned_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: defaultdict[str, int] = defaultdict(int)
    for name in ("bound_release", "sensitivity", "plan_release", "calibrate"):
        _count(name, calls, monkeypatch)
    at_each((Fraction(1), Fraction(1, 2)), AMONG.format(MEAN), "clinic", ReleaseProofs())
    assert calls == {"bound_release": 2, "sensitivity": 2, "plan_release": 2, "calibrate": 4}


@pytest.mark.parametrize(
    "sql",
    [
        f"{COUNT} HAVING count(*) > 3",
        "SELECT ward, avg(cost) FROM visits GROUP BY ward HAVING avg(cost) > 3",
        f"SELECT 'all', ({ALL}) / 2 UNION ALL SELECT 'mean', ({MEAN})",
    ],
    ids=["as they are", "numbered", "united"],
)
def test_at_another_loss_what_stands_above_is_the_same_text(sql: str) -> None:
    one, half = at_each((Fraction(1), Fraction(1, 2)), sql, "clinic", ReleaseProofs())
    texts = FinishingTexts()
    assert texts.of(half) is texts.of(one)
    assert texts.of(one).sql == FinishingText(half).sql


def test_tables_that_are_read_are_called_as_each_statement_calls_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compilers: list[tuple[ReleaseCompiler, Release, BoundedRelease, PrivacyLoss]] = []
    earlier: dict[str, CompiledRelease] = {}
    compile_one = ReleaseCompiler.compile

    def noting(
        compiler: ReleaseCompiler,
        release: Release,
        bounded: BoundedRelease,
        share: PrivacyLoss,
        before: dict[str, CompiledRelease],
    ) -> CompiledRelease:
        compilers.append((compiler, release, bounded, share))
        earlier.update(before)
        return compile_one(compiler, release, bounded, share, before)

    monkeypatch.setattr(ReleaseCompiler, "compile", noting)
    compiled(AMONG.format(MEAN), "clinic", ReleaseProofs())
    compiler, release, bounded, share = compilers[-1]
    (below,) = earlier.values()
    names = {below.release: "another", release: "own"}
    other = replace(compiler, names=names)
    again = compile_one(other, release, bounded, share, {"another": below})
    assert "FROM another" in again.step.query.sql
    assert below.name not in again.step.query.sql


SCHEMA = """\
dataset: people
source: people.duckdb
ledger: ledger.db
tables:
  people:
    unit: row
    columns: {dept: {type: varchar, values: [a, b]}}
budget: {epsilon: 9, delta: 1.0e-6, accounting: zcdp}
analysts: {bob: {epsilon: 2}}
"""
BY_KEPT = "SELECT k.n, count(*) FROM people p JOIN kept k ON p.dept = k.dept GROUP BY 1"


def test_rows_of_a_kept_table_are_in_the_proofs_of_who_paid_for_them(tmp_path: Path) -> None:
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 'a' dept FROM range(100)")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    schema = load_schema(tmp_path / "schema.yaml")
    execution = Execution(schema, lambda _: None)
    alice, bob = (Session(schema, analyst=n, execution=execution) for n in ("alice", "bob"))
    alice.save(SaveRequest("kept", "kept"), "SELECT dept, count(*) AS n FROM people GROUP BY dept")
    alice.query(BY_KEPT)
    with pytest.raises(NotPaid, match="haven't opened it"):
        bob.explain(BY_KEPT)
    alice.close()


def _count(name: str, calls: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(release_compiler, name)

    def counted(*arguments: object, **named: object) -> object:
        calls[name] += 1
        return function(*arguments, **named)

    monkeypatch.setattr(release_compiler, name, counted)
