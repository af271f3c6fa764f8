"""JDBC, ODBC, SQLAlchemy, connectorx, pandas and polars against a server, where installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from pgwire.shop import Served

JDBC = Path("/usr/share/java/postgresql.jar")
BY_STATUS = "SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status"

PROGRAM = """
import java.sql.*;
public class Shop {
  public static void main(String[] args) throws Exception {
    try (Connection c = DriverManager.getConnection(args[0], "alice", "")) {
      DatabaseMetaData m = c.getMetaData();
      ResultSet r = m.getTables(null, "public", "%", new String[] {"TABLE"});
      while (r.next()) System.out.println("table " + r.getString("TABLE_NAME"));
      r = m.getColumns(null, "public", "orders", "amount");
      while (r.next())
        System.out.println("column " + r.getString("TYPE_NAME") + r.getInt("COLUMN_SIZE"));
      r = m.getPrimaryKeys(null, "public", "orders");
      System.out.println("keys " + r.next());
      r = m.getImportedKeys(null, "public", "orders");
      while (r.next()) System.out.println("to " + r.getString("PKTABLE_NAME"));
      r = m.getIndexInfo(null, "public", "regions", false, true);
      while (r.next()) System.out.println("index " + r.getString("INDEX_NAME"));
      m.getTypeInfo(); m.getSQLKeywords(); m.getSchemas(); m.getFunctions(null, null, "%");
      PreparedStatement p =
        c.prepareStatement("SELECT count(*) FROM orders WHERE qty > ? AND status = ?");
      String all = "";
      for (int i = 0; i < 10; i++) {
        p.setInt(1, 5); p.setString(2, "paid");
        ResultSet found = p.executeQuery(); found.next(); all += found.getLong(1) + " ";
      }
      System.out.println("same " + (all.trim().split(" ").length == 10));
      c.setAutoCommit(false);
      Statement s = c.createStatement(); s.setFetchSize(2);
      r = s.executeQuery("SELECT region_id, name FROM regions ORDER BY 1");
      int n = 0; while (r.next()) n++;
      System.out.println("rows " + n);
      try { s.executeQuery("SELECT * FROM orders"); }
      catch (SQLException e) { System.out.println("refused " + e.getSQLState()); }
      try { s.executeQuery("SELECT 1"); }
      catch (SQLException e) { System.out.println("failed " + e.getSQLState()); }
      c.rollback();
    }
  }
}
"""


@pytest.mark.skipif(
    not JDBC.exists() or shutil.which("java") is None, reason="JDBC's driver isn't installed"
)
def test_jdbc_works(server: Served, tmp_path: Path) -> None:
    if shutil.which("javac") is None:
        pytest.skip("there is no Java compiler")
    source = tmp_path / "Shop.java"
    source.write_text(PROGRAM)
    url = f"jdbc:postgresql://127.0.0.1:{server.port}/shop"
    ran = subprocess.run(
        ["java", "-cp", str(JDBC), str(source), url],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.stdout.splitlines() == [
        "table customers",
        "table orders",
        "table regions",
        "column numeric10",
        "keys false",
        "to regions",
        "index regions_pkey",
        "same true",
        "rows 4",
        "refused 42501",
        "failed 25P02",
    ], ran.stderr


@pytest.mark.parametrize("declares", [0, 1])
def test_odbc_works(server: Served, declares: int) -> None:
    pyodbc = pytest.importorskip("pyodbc")
    if "PostgreSQL Unicode" not in pyodbc.drivers():
        pytest.skip("psqlODBC isn't installed")
    connection = pyodbc.connect(
        f"DRIVER={{PostgreSQL Unicode}};SERVER=127.0.0.1;PORT={server.port};DATABASE=shop;"
        "UID=alice;"
        f"UseDeclareFetch={declares};Fetch=2"
    )
    try:
        cursor = connection.cursor()
        names = [row.table_name for row in cursor.tables(schema="public", tableType="TABLE")]
        assert names == ["customers", "orders", "regions"]
        assert [row.type_name for row in cursor.columns(table="orders", column="amount")] == [
            "numeric"
        ]
        assert cursor.primaryKeys("orders").fetchall() == []
        assert len(cursor.execute(BY_STATUS).fetchall()) >= 4
        sql = "SELECT count(*) FROM orders WHERE qty > ? AND status = ?"
        assert len(cursor.execute(sql, 10, "new").fetchall()) == 1
        with pytest.raises(pyodbc.Error, match="42501"):
            cursor.execute("SELECT * FROM orders").fetchall()
    finally:
        connection.close()


def test_sqlalchemy_reflects_and_asks(server: Served) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg2")
    url = f"postgresql+psycopg2://alice@127.0.0.1:{server.port}/shop"
    engine = sqlalchemy.create_engine(url)
    inspector = sqlalchemy.inspect(engine)
    assert sorted(inspector.get_table_names()) == ["customers", "orders", "regions"]
    columns = {c["name"]: str(c["type"]) for c in inspector.get_columns("orders")}
    assert columns["amount"] == "NUMERIC(10, 2)"
    assert inspector.get_pk_constraint("orders")["constrained_columns"] == []
    assert inspector.get_foreign_keys("orders")[0]["referred_table"] == "regions"
    with engine.connect() as connection:
        assert len(connection.execute(sqlalchemy.text(BY_STATUS)).fetchall()) >= 4
    engine.dispose()


def test_pandas_reads(server: Served) -> None:
    pandas = pytest.importorskip("pandas")
    sqlalchemy = pytest.importorskip("sqlalchemy")
    pytest.importorskip("psycopg2")
    engine = sqlalchemy.create_engine(f"postgresql+psycopg2://alice@127.0.0.1:{server.port}/shop")
    assert set(pandas.read_sql(BY_STATUS, engine).columns) == {"status", "n"}
    engine.dispose()


@pytest.mark.parametrize("protocol", ["binary", "csv", "cursor", "simple"])
def test_connectorx_and_polars_read(server: Served, protocol: str) -> None:
    connectorx = pytest.importorskip("connectorx")
    url = f"postgresql://alice@127.0.0.1:{server.port}/shop"
    table = connectorx.read_sql(url, BY_STATUS, protocol=protocol, return_type="arrow")
    assert table.num_rows >= 4
    polars = pytest.importorskip("polars")
    assert polars.read_database_uri(BY_STATUS, url, protocol=protocol).height >= 4
