"""The engine spec inside Superset, where that is installed; its own pins keep it out of CI."""

from __future__ import annotations

import datetime as dt
from importlib.metadata import entry_points

import pytest
import sqlalchemy as sa


def test_superset_can_find_the_spec() -> None:
    (found,) = entry_points(group="superset.db_engine_specs", name="dpsql")
    assert found.value == "dpsql.sqlalchemy.superset:DpsqlEngineSpec"


def test_every_time_grain_is_answered(engine: sa.engine.Engine) -> None:
    pytest.importorskip("superset")
    from dpsql.sqlalchemy.superset import DpsqlEngineSpec as Spec

    with engine.connect() as connection:
        for grain in Spec.get_time_grains():
            moment = grain.function.format(col="joined")
            sql = f"SELECT {moment} AS t, count(*) FROM people GROUP BY 1 LIMIT 1"
            assert connection.execute(sa.text(sql)).fetchall()


def test_moments_are_constants_and_errors_keep_their_hint(engine: sa.engine.Engine) -> None:
    pytest.importorskip("superset")
    from dpsql.sqlalchemy.superset import DpsqlEngineSpec as Spec

    day = Spec.convert_dttm("DATE", dt.datetime(2024, 3, 2))  # noqa: DTZ001
    assert day == "DATE '2024-03-02'"
    with engine.connect() as connection:
        sql = f"SELECT count(*) FROM people WHERE joined >= {day}"
        assert connection.execute(sa.text(sql)).fetchall()
        with pytest.raises(sa.exc.ProgrammingError) as caught:
            connection.execute(sa.text("SELECT id FROM people"))
    assert "hint: " in Spec._extract_error_message(caught.value)
