from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy import case, cast, func, select

Select = Any


@pytest.fixture
def people(engine: sa.engine.Engine) -> sa.Table:
    return sa.Table("people", sa.MetaData(), autoload_with=engine)


@pytest.fixture
def towns(engine: sa.engine.Engine) -> sa.Table:
    return sa.Table("towns", sa.MetaData(), autoload_with=engine)


def rows(engine: sa.engine.Engine, query: Select) -> list[tuple[Any, ...]]:
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(query)]


def test_the_url_says_who_pays_and_what(engine: sa.engine.Engine) -> None:
    with engine.connect() as connection:
        found: Any = connection.connection.dbapi_connection
        assert (found.analyst, found.epsilon) == ("alice", 2)


@pytest.mark.parametrize("url", ["dpsql://", "dpsql://host/schema.yaml", "dpsql:///x?user=alice"])
def test_a_wrong_url_says_what_is_right(url: str) -> None:
    with pytest.raises(sa.exc.ArgumentError, match="dpsql"):
        sa.create_engine(url).connect()


def test_a_ping_is_free_and_works(url: str) -> None:
    engine = sa.create_engine(url, pool_pre_ping=True)
    for _ in range(2):
        with engine.connect() as connection:
            assert connection.execute(sa.text("SELECT 1")).scalar() == 1
    engine.dispose()


def test_groups_and_aggregates_are_answered(engine: sa.engine.Engine, people: sa.Table) -> None:
    query = (
        select(people.c.town, func.count().label("n"), func.sum(people.c.cost).label("cost"))
        .where(people.c.age > 18, people.c.town.in_(["Aachen", "Bonn"]))
        .group_by(people.c.town)
        .order_by(people.c.town)
    )
    found = rows(engine, query)
    assert [row[0] for row in found] == ["Aachen", "Bonn"]
    assert all(isinstance(row[1], int) for row in found)


@pytest.mark.parametrize("grain", ["month", "quarter", "week", "year"])
def test_time_grains_are_groups(engine: sa.engine.Engine, people: sa.Table, grain: str) -> None:
    day = func.date_trunc(grain, people.c.joined)
    found = rows(engine, select(day.label("t"), func.count()).group_by(day).order_by("t"))
    assert len(found) == {"month": 12, "quarter": 4, "week": 53, "year": 1}[grain]


def forms(people: sa.Table, towns: sa.Table) -> dict[str, Select]:
    count = func.count()
    inner = select(people.c.town, count.label("n")).group_by(people.c.town).subquery()
    cte = select(people.c.town, count.label("n")).group_by(people.c.town).cte("per_town")
    decade = cast(func.floor(people.c.age / 10), sa.Integer)
    part = func.substr(people.c.town, 1, 2)
    return {
        "limit": select(people.c.town, count).group_by(people.c.town).limit(1),
        "offset": select(people.c.town, count).group_by(people.c.town).limit(1).offset(1),
        "alias": select(count).select_from(people.alias("p")),
        "subquery": select(func.max(inner.c.n)),
        "cte": select(cte.c.n).order_by(cte.c.n.desc()),
        "case": select(func.sum(case((people.c.smokes, 1), else_=0))),
        "filter": select(count.filter(people.c.smokes)),
        "having": select(people.c.town).group_by(people.c.town).having(count > 10),
        "distinct": select(people.c.town).distinct(),
        "extract": select(sa.extract("month", people.c.joined).label("m"), count).group_by("m"),
        "date_part": select(func.date_part("year", people.c.joined).label("y"), count).group_by(
            "y"
        ),
        "cast": select(decade.label("d"), count).group_by(decade),
        "parameter in a key": select(part, count).group_by(part),
        "ilike": select(count).select_from(people).where(people.c.town.ilike("a%")),
        "not ilike": select(count).select_from(people).where(people.c.town.notilike("b%")),
        "like": select(count).select_from(people).where(people.c.town.like("a%")),
        "between": select(count).select_from(people).where(people.c.age.between(18, 65)),
        "is null": select(count).select_from(people).where(people.c.weight.is_(None)),
        "nothing in": select(count).select_from(people).where(people.c.age.in_([])),
        "join": select(towns.c.n, count)
        .select_from(people.join(towns, people.c.town == towns.c.town))
        .group_by(towns.c.n),
        "union": sa.union_all(select(count).select_from(people), select(count).select_from(towns)),
        "constants": select(sa.literal("a"), sa.literal(1), sa.literal(1.5), sa.true(), sa.null()),
        "ratio": select(func.sum(people.c.cost) / count),
        "schema": select(count).select_from(sa.table("people", schema="main")),
        "nothing": select(people).limit(0),
        "text": sa.text("SELECT count(*) FROM people WHERE age > :age").bindparams(age=18),
    }


def test_core_expressions_are_understood(
    engine: sa.engine.Engine, people: sa.Table, towns: sa.Table
) -> None:
    for name, query in forms(people, towns).items():
        found = rows(engine, query)
        assert found or name == "nothing", name


def test_values_have_the_types_that_were_reflected(
    engine: sa.engine.Engine, people: sa.Table
) -> None:
    query = select(people.c.smokes, people.c.town, func.sum(people.c.much).label("n"))
    for smokes, town, total in rows(engine, query.group_by(people.c.smokes, people.c.town)):
        assert smokes is None or isinstance(smokes, bool)
        assert town is None or isinstance(town, str)
        assert isinstance(total, int)


def test_the_same_statement_twice_is_answered_from_the_store(
    engine: sa.engine.Engine, people: sa.Table
) -> None:
    query = select(func.count()).select_from(people).where(people.c.age > 20)
    other = select(func.count()).select_from(people).where(people.c.age > 30)
    assert rows(engine, query) == rows(engine, query)
    assert rows(engine, query.limit(1)) == rows(engine, query)
    assert rows(engine, other) != [(None,)]


def test_a_refusal_has_its_hint_and_its_class(engine: sa.engine.Engine, people: sa.Table) -> None:
    with pytest.raises(sa.exc.ProgrammingError) as caught:
        rows(engine, select(people.c.id, people.c.age))
    assert caught.value.orig is not None
    assert caught.value.orig.sqlstate == "42501"  # type: ignore[attr-defined]
    assert "hint: " in str(caught.value)
    assert not caught.value.connection_invalidated


def test_pandas_reads_without_a_warning(engine: sa.engine.Engine) -> None:
    with engine.connect() as connection:
        frame = pd.read_sql(
            sa.text("SELECT town, count(*) AS n FROM people GROUP BY town ORDER BY town"),
            connection,
        )
    assert frame["town"].tolist()[:2] == ["Aachen", "Bonn"]
