"""Stored rows that are counted before they meet others give the integers that are counted after."""

from __future__ import annotations

import duckdb
import pytest
from neighbor_search.sidecar import ReadyWorlds, own_database, private, proved

from dpsql.bounding.options import AS_DECLARED
from dpsql.emit.relation.counts_below_join import CountsBelowJoin
from dpsql.engine.sidecar.contents import SIDECAR
from dpsql.release.columns.group_keys import domain_table
from dpsql.session.compile.compiled_release import CompiledRelease

_OF_EACH = "patients p LEFT JOIN visits v ON p.patient_id = v.patient_id"

COUNTED = [
    f"SELECT p.patient_id AS i, count(v.visit_id) AS n FROM {_OF_EACH} GROUP BY 1",
    f"""SELECT p.patient_id AS i, count(v.visit_id) AS n FROM {_OF_EACH} AND v.cost > 10
    GROUP BY 1""",
    f"""SELECT p.patient_id AS i, count(v.cost) AS n FROM {_OF_EACH} AND v.ward = 'ER'
    AND v.visit_id <> 3 GROUP BY 1""",
    f"SELECT p.patient_id AS i, p.age > 40 AS o, count(v.ward) AS n FROM {_OF_EACH} GROUP BY 1, 2",
    f"""SELECT p.patient_id AS i, count(v.cost) + count(v.ward) AS n FROM {_OF_EACH}
    GROUP BY 1""",
    """SELECT v.visit_id AS i, count(t.score) AS n FROM visits v
    LEFT JOIN tests t ON v.visit_id = t.visit_id AND t.score > 2 GROUP BY 1""",
]

JOINED = [
    # A row without a partner is one of these rows.
    f"SELECT p.patient_id AS i, count(*) AS n FROM {_OF_EACH} GROUP BY 1",
    f"SELECT p.patient_id AS i, count(DISTINCT v.ward) AS n FROM {_OF_EACH} GROUP BY 1",
    f"""SELECT p.patient_id AS i, count(v.cost) FILTER (WHERE p.age > 40) AS n FROM {_OF_EACH}
    GROUP BY 1""",
    f"SELECT p.patient_id AS i, v.ward AS w, count(v.cost) AS n FROM {_OF_EACH} GROUP BY 1, 2",
    f"""SELECT p.patient_id AS i, count(v.visit_id) AS n FROM {_OF_EACH} AND v.cost > p.age
    GROUP BY 1""",
    f"SELECT p.patient_id AS i, count(p.age) AS n FROM {_OF_EACH} GROUP BY 1",
    # Few visits may meet those of one sex.
    """SELECT p.patient_id AS i, count(v.cost) AS n FROM
    (SELECT patient_id FROM patients WHERE sex = 'f') p LEFT JOIN visits v
    ON p.patient_id = v.patient_id GROUP BY 1""",
]


def release(counted: str, *, ready: bool = True) -> CompiledRelease:
    sql = f"SELECT n, count(*) FROM ({counted}) GROUP BY 1"
    (found,) = proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=ready).releases
    return found


def _rows(database: duckdb.DuckDBPyConnection, one: CompiledRelease) -> list[tuple[object, ...]]:
    for domain in one.step.query.domains:
        database.register(domain.name, domain_table(domain))
    query = one.step.query
    return database.execute(query.sql, ["1"] * query.salted).fetchall()


def _joined_first(counted: str, monkeypatch: pytest.MonkeyPatch) -> CompiledRelease:
    with monkeypatch.context() as patched:
        patched.setattr(CountsBelowJoin, "of", lambda _: None)
        return release(counted)


@pytest.mark.parametrize("counted", COUNTED)
def test_the_integers_are_those_of_joined_rows(
    counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    below, after = release(counted), _joined_first(counted, monkeypatch)
    assert below.step.query.sql != after.step.query.sql
    assert below.key == after.key
    worlds = ReadyWorlds("clinic", private("clinic"), 12)
    found = [worlds.totals(n, below, "1") for n in range(12)]
    assert found == [worlds.totals(n, after, "1") for n in range(12)]
    as_it_is = release(counted, ready=False)
    assert found == [worlds.totals(n, as_it_is, "1") for n in range(12)]
    assert any(found)


@pytest.mark.parametrize("world", range(6))
def test_no_key_has_to_hold(world: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are there twice, have no key, or say that they are another unit's."""
    database = own_database("clinic", private("clinic"), world)
    for table in ("patients", "visits", "tests"):
        own = f'"{SIDECAR}"."{table}"'
        ((stored,),) = database.execute(
            "SELECT string_agg('\"' || column_name || '\"', ', ') FROM duckdb_columns()"
            f" WHERE (database_name, table_name) = ('{SIDECAR}', '{table}')"
            " AND schema_name = 'main' AND column_default IS NULL"  # else it is computed
        ).fetchall()
        database.execute(f"INSERT INTO {own} BY NAME SELECT {stored} FROM {own} LIMIT 2")
    for table, key in (("visits", "patient_id"), ("tests", "visit_id")):
        own = f'"{SIDECAR}"."{table}"'
        for value, rows in (
            ("NULL", "rowid % 5 = 1"),
            (f"(SELECT max({key}) FROM {own})", "rowid % 2 = 0"),
        ):
            database.execute(f"UPDATE {own} SET {key} = {value} WHERE {rows}")
    found = []
    for counted in COUNTED:
        below, after = release(counted), _joined_first(counted, monkeypatch)
        one, other = (sorted(_rows(database, each)) for each in (below, after))
        assert one == other, counted
        found += one
    assert found


@pytest.mark.parametrize("counted", JOINED)
def test_what_pairs_of_rows_decide_is_counted_of_pairs(
    counted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = _joined_first(counted, monkeypatch)
    assert release(counted).step.query.sql == after.step.query.sql


def test_only_stored_rows_are_counted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    as_it_is = release(COUNTED[0], ready=False).step.query.sql
    monkeypatch.setattr(CountsBelowJoin, "of", lambda _: None)
    assert as_it_is == release(COUNTED[0], ready=False).step.query.sql
