"""All 22 queries of TPC-H, at scale 0.01: which are answered, and what that costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from differential.classes import EXACT, LISTS_INDIVIDUALS
from differential.statement import FIXTURES, tpch
from documentation.pages import check_table
from privacy.seeded import SeededRandomness

from dpsql.errors import WouldShowIndividuals
from dpsql.session.compile.compiled import CompiledRelease, CompiledStatement
from dpsql.session.compile.loss_conversion import epsilon_of
from dpsql.session.session import Session

ANSWERED = (*range(4, 10), *range(12, 16), 1, 17, 19, 20, 21, 22)


@pytest.fixture
def session(tpch_folder: Path, tmp_path: Path) -> Iterator[Session]:
    text = (FIXTURES / "tpch" / "schema.yaml").read_text(encoding="utf-8")
    path = tmp_path / "schema.yaml"
    path.write_text(text.replace("source: data", f"source: {tpch_folder}"), encoding="utf-8")
    found = Session(path, epsilon=1, randomness=SeededRandomness("tpch"))
    yield found
    found.close()


def test_all_queries_are_classified() -> None:
    assert sorted((*ANSWERED, *EXACT, *LISTS_INDIVIDUALS)) == sorted(tpch()) == [*range(1, 23)]


@pytest.mark.parametrize("number", ANSWERED)
def test_a_query_whose_answer_aggregates_over_units_is_answered(
    session: Session, number: int
) -> None:
    answer = session.query(tpch()[number].sql)
    assert answer.privacy.loss is not None
    assert 0 < answer.privacy.epsilon <= 1


@pytest.mark.parametrize("number", EXACT)
def test_a_query_over_public_tables_is_exact_and_free(session: Session, number: int) -> None:
    answer = session.query(tpch()[number].sql)
    assert answer.privacy.loss is None
    assert not answer.privacy.columns


@pytest.mark.parametrize("number", LISTS_INDIVIDUALS)
def test_a_query_that_lists_individuals_is_refused(session: Session, number: int) -> None:
    with pytest.raises(WouldShowIndividuals) as caught:
        session.query(tpch()[number].sql)
    assert caught.value.sqlstate == "42501"
    assert not session.balance().spent.amount


def test_the_readme_has_the_table(session: Session, request: pytest.FixtureRequest) -> None:
    check_table(request, "tpch-table", _table(session))


def _table(session: Session) -> str:
    lines = ["| query | answer | releases | groups | charged |", "| --- | --- | --- | --- | --- |"]
    lines += [f"| Q{n} | {' | '.join(_cells(session, n))} |" for n in sorted(tpch())]
    return "\n".join(lines) + "\n"


def _cells(session: Session, number: int) -> tuple[str, str, str, str]:
    try:
        ready = session.compile(tpch()[number].sql)
    except WouldShowIndividuals:
        return "refused: it would list individuals", "", "", "nothing"
    if not ready.releases:
        return "exact: it reads public tables only", "", "", "nothing"
    groups = ", ".join(map(_groups, ready.releases))
    return "answered", str(len(ready.releases)), groups, _charge(session, ready)


def _groups(release: CompiledRelease) -> str:
    bounded = release.step.bounded
    if not bounded.contributions.keys:
        return "1"
    if bounded.partition_count_index is not None:
        return "those of enough units"
    return f"{math.prod(len(found.cells) for found in bounded.contributions.domains):,}"


def _charge(session: Session, ready: CompiledStatement) -> str:
    loss = ready.loss
    assert loss is not None
    spent = epsilon_of(session.schema, loss.amount)
    # A charge never passes what was asked for; what is left of it by rounding isn't spent.
    assert Fraction(99, 100) < spent <= 1
    delta = f", δ {float(loss.delta):g}" if loss.delta else ""
    return f"ε {float(spent):.3f} (ρ {float(loss.amount):.4f}{delta})"
