"""The compliance tests of PEP 249, `dbapi20` of dbapi-compliance.

They were written for databases that are written to. 26 of the 36 pass as they are, with the helpers
overridden that the suite leaves to drivers. Those that INSERT are done over on tables that lie
there already; they are public, for this is about cursors, not about noise.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import dbapi20
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpsql

SCHEMA = """\
dataset: compliance
source: data
tables:
  dbapi20test_booze: {public: true}
  dbapi20test_barflys: {public: true}
  beer: {public: true}
  samples: {public: true}
  nothing: {public: true}
budget: {epsilon: 1}
"""
TROUBLE = "thi%s :may ca%(u)se? troub:1e"  # codespell:ignore thi
NAMES = pa.schema([("name", pa.string())])
OVERRIDDEN = {
    "test_cursor_isolation",
    "test_rowcount",
    "test_executemany",
    "test_fetchone",
    "test_fetchmany",
    "test_fetchall",
    "test_mixedfetch",
    "test_None",
    "test_nextset",
    "test_setoutputsize",
}


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc]
    driver = dpsql
    connect_kw_args: ClassVar[dict[str, object]] = {}

    @pytest.fixture(autouse=True)
    def schema(self, tmp_path: Path) -> None:
        """Tables lie there before a test begins: no statement of dpsql makes any."""
        data = tmp_path / "data"
        data.mkdir()
        beer = {"name": ["Victoria Bitter"]}
        for name, table in {
            "dbapi20test_booze": pa.table({"name": self.samples}),
            "dbapi20test_barflys": pa.table({"name": ["a"], "drink": pa.array([None], "string")}),
            "beer": pa.table(beer),
            "samples": pa.table({"name": self.samples}),
            "nothing": NAMES.empty_table(),
        }.items():
            pq.write_table(table, data / f"{name}.parquet")
        path = tmp_path / "schema.yaml"
        path.write_text(SCHEMA)
        self.connect_args = (path,)

    def executeDDL1(self, cursor: dpsql.Cursor) -> None:  # noqa: N802
        """The suite's hook for CREATE TABLE: our statement that has no answer."""
        cursor.execute("SET dpsql.epsilon = 0.1")

    executeDDL2 = executeDDL1  # noqa: N815

    def _paraminsert(self, cursor: dpsql.Cursor) -> None:
        """The suite's helper that inserts two rows with a parameter: they are selected instead."""
        sql = f"SELECT ? AS name, '{TROUBLE}' AS drink UNION ALL SELECT 'Victoria Bitter', ?"
        cursor.execute(f"{sql} ORDER BY name", ("Cooper's", TROUBLE))
        assert cursor.rowcount == 2
        assert cursor.fetchall() == [("Cooper's", TROUBLE), ("Victoria Bitter", TROUBLE)]

    def tearDown(self) -> None:
        """The suite drops its tables here; these go with their folder."""

    def test_cursor_isolation(self) -> None:
        """Inserts on one cursor, reads on another: here both read, and neither's rows move."""
        with self._connect() as connection:
            one, other = connection.cursor(), connection.cursor()
            one.execute("select name from samples order by name")
            assert one.fetchone() == (self.samples[0],)
            other.execute("select name from beer")
            assert other.fetchall() == [("Victoria Bitter",)]
            assert one.fetchone() == (self.samples[1],)

    def test_rowcount(self) -> None:
        """Inserts the row that it counts: here the row lies there."""
        with self._connect() as connection:
            cursor = connection.cursor()
            self.executeDDL1(cursor)
            assert cursor.rowcount in {-1, 0}
            cursor.execute("select name from beer")
            assert cursor.rowcount == 1
            self.executeDDL2(cursor)
            assert cursor.rowcount in {-1, 0}

    def test_executemany(self) -> None:
        """Exists for statements that write, which there are none of; queries go to execute."""
        with self._connect() as connection:
            cursor = connection.cursor()
            with pytest.raises(dpsql.NotSupportedError):
                cursor.executemany("select name from samples where name = ?", [("XXXX",)])
            assert cursor.description is None

    def test_fetchone(self) -> None:
        """Inserts between its reads: here an empty table and a table with a row lie there."""
        with self._connect() as connection:
            cursor = connection.cursor()
            with pytest.raises(dpsql.Error):
                cursor.fetchone()
            self.executeDDL1(cursor)
            with pytest.raises(dpsql.Error):
                cursor.fetchone()
            cursor.execute("select name from nothing")
            assert cursor.fetchone() is None
            assert cursor.rowcount == 0
            cursor.execute("select name from beer")
            assert cursor.fetchone() == ("Victoria Bitter",)
            assert cursor.fetchone() is None
            assert cursor.rowcount == 1

    def test_fetchmany(self) -> None:
        """Inserts six rows: here they lie there. The steps are the suite's."""
        with self._connect() as connection:
            cursor = connection.cursor()
            with pytest.raises(dpsql.Error):
                cursor.fetchmany(4)
            cursor.execute("select name from samples")
            assert len(cursor.fetchmany()) == 1
            cursor.arraysize = 10
            assert [len(cursor.fetchmany(size)) for size in (3, 4, 4)] == [3, 2, 0]
            assert cursor.rowcount == 6
            cursor.arraysize = 4
            cursor.execute("select name from samples")
            assert [len(cursor.fetchmany()) for _ in range(3)] == [4, 2, 0]
            cursor.arraysize = 6
            cursor.execute("select name from samples")
            assert sorted(cursor.fetchmany()) == [(name,) for name in self.samples]
            assert cursor.fetchmany() == []
            cursor.execute("select name from nothing")
            assert cursor.fetchmany() == []
            assert cursor.rowcount == 0

    def test_fetchall(self) -> None:
        """Inserts six rows: here they lie there. The steps are the suite's."""
        with self._connect() as connection:
            cursor = connection.cursor()
            with pytest.raises(dpsql.Error):
                cursor.fetchall()
            self.executeDDL1(cursor)
            with pytest.raises(dpsql.Error):
                cursor.fetchall()
            cursor.execute("select name from samples")
            assert sorted(cursor.fetchall()) == [(name,) for name in self.samples]
            assert cursor.rowcount == len(self.samples)
            assert cursor.fetchall() == []
            cursor.execute("select name from nothing")
            assert cursor.fetchall() == []
            assert cursor.rowcount == 0

    def test_mixedfetch(self) -> None:
        """Inserts six rows: here they lie there. The steps are the suite's."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.execute("select name from samples")
            rows = [
                cursor.fetchone(),
                *cursor.fetchmany(2),
                cursor.fetchone(),
                *cursor.fetchall(),
            ]
            assert sorted(rows) == [(name,) for name in self.samples]

    def test_None(self) -> None:  # noqa: N802
        """Inserts a NULL: here it lies there."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.execute("select drink from dbapi20test_barflys")
            assert cursor.fetchall() == [(None,)]

    def test_nextset(self) -> None:
        """Optional, and the suite wants it overridden: a statement has one answer, so it is not."""
        assert not hasattr(dpsql.Cursor, "nextset")

    def test_setoutputsize(self) -> None:
        """Left to drivers by the suite: it changes nothing, also of long values."""
        with self._connect() as connection:
            cursor = connection.cursor()
            cursor.setoutputsize(1, 0)
            cursor.execute("select name from beer")
            assert cursor.fetchone() == ("Victoria Bitter",)


def test_no_other_test_of_the_suite_is_overridden() -> None:
    ours = {name for name in vars(TestCompliance) if name.startswith("test_")}
    suite = {name for name in vars(dbapi20.DatabaseAPI20Test) if name.startswith("test_")}
    assert ours == OVERRIDDEN
    assert len(suite - ours) == 26
