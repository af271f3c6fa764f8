"""JDBC, ODBC, node-pg, SQLAlchemy, ADBC, connectorx, pandas and polars, where installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pgwire.reflecting import BY_STATUS, reflect
from pgwire.shop import Served

JDBC = Path("/usr/share/java/postgresql.jar")
NODE = os.environ.get("NODE_PATH", "/usr/share/nodejs")
OLDER = os.environ.get("DPSQL_SQLALCHEMY_1_4")
"""The folder that .ci/clients has put SQLAlchemy 1.4 into."""

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


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.skipif(
    not JDBC.exists() or shutil.which("java") is None, reason="JDBC's driver isn't installed"
)
def test_jdbc_works(server: Served, tmp_path: Path) -> None:
    compiler = shutil.which("javac") or shutil.which("ecj")
    if compiler is None:
        pytest.skip("there is no Java compiler")
    source = tmp_path / "Shop.java"
    source.write_text(PROGRAM)
    made = run(compiler, "-proc:none", "-source", "11", "-target", "11", "-d", tmp_path, source)
    assert made.returncode == 0, made.stderr
    url = f"jdbc:postgresql://127.0.0.1:{server.port}/shop"
    ran = run("java", "-cp", f"{JDBC}:{tmp_path}", "Shop", url)
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
    pyodbc = pytest.importorskip("pyodbc", exc_type=ImportError)  # where there is no unixODBC, too
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


NODE_PROGRAM = """
const { Client } = require("pg");
(async () => {
  const c = new Client({
    host: "127.0.0.1", port: +process.argv[2], user: "alice", database: "shop"
  });
  await c.connect();
  const notices = []; c.on("notice", n => notices.push(n.message));
  let r = await c.query("SELECT status, count(*) AS n FROM orders WHERE qty > $1 GROUP BY 1", [7]);
  console.log(r.fields.map(f => f.name + f.dataTypeID).join(), r.rows.length, notices.length);
  const named = {name: "s", text: "SELECT name FROM regions WHERE region_id > $1 ORDER BY 1"};
  for (const n of [2, 3]) {
    r = await c.query({...named, values: [n], rowMode: "array"});
    console.log(r.rows.join());
  }
  try { await c.query("SELECT * FROM orders"); }
  catch (e) { console.log(e.code, e.position, e.hint); }
  console.log((await c.query("SELECT 1 AS a; SELECT 2 AS a")).map(x => x.rows[0].a).join());
  await c.end();
})().catch(e => { console.error(e); process.exit(1); });
"""


@pytest.mark.skipif(
    shutil.which("node") is None or not Path(NODE, "pg").exists(), reason="node-pg isn't installed"
)
def test_node_pg_works(server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_PATH", NODE)
    program = tmp_path / "shop.js"
    program.write_text(NODE_PROGRAM)
    ran = run("node", program, str(server.port))
    assert ran.stdout.splitlines() == [
        "status25,n20 5 1",
        "region 3,region 4",
        "region 4",
        "42501 8 aggregate over units: SELECT count(*) FROM orders",
        "1,2",
    ], ran.stderr


@pytest.mark.parametrize("driver", ["psycopg2", "psycopg", "pg8000"])
def test_sqlalchemy_reflects_and_asks(server: Served, driver: str) -> None:
    pytest.importorskip("sqlalchemy")
    pytest.importorskip(driver)
    reflect(f"postgresql+{driver}://alice@127.0.0.1:{server.port}/shop")


@pytest.mark.skipif(OLDER is None, reason="DPSQL_SQLALCHEMY_1_4 names no folder")
@pytest.mark.parametrize("driver", ["psycopg2", "pg8000"])
def test_sqlalchemy_1_4_reflects_and_asks(
    server: Served, driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, where it hides SQLAlchemy 2."""
    folders = [OLDER, str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, folders)))
    url = f"postgresql+{driver}://alice@127.0.0.1:{server.port}/shop"
    ran = run(sys.executable, "-m", "pgwire.reflecting", url)
    assert ran.stdout.splitlines() == ["reflected by SQLAlchemy 1.4.54"], ran.stderr


def test_adbc_reads(server: Served) -> None:
    adbc: Any = pytest.importorskip("adbc_driver_postgresql.dbapi")
    polars = pytest.importorskip("polars")
    url = f"postgresql://alice@127.0.0.1:{server.port}/shop"
    with adbc.connect(url) as connection:
        listed = connection.adbc_get_objects(db_schema_filter="public").read_all().to_pylist()
        (space,) = listed[0]["catalog_db_schemas"]
        names = {table["table_name"] for table in space["db_schema_tables"]}
        assert {"customers", "orders", "regions"} <= names
        fields = connection.adbc_get_table_schema("orders")
        assert [str(fields.field(name).type) for name in ("id", "status", "paid", "ts")] == [
            "int64",
            "string",
            "bool",
            "timestamp[us]",
        ]
        with connection.cursor() as cursor:
            cursor.execute("SELECT region_id, name FROM regions WHERE region_id > $1", (2,))
            found = cursor.fetch_arrow_table().to_pydict()
            assert found == {"region_id": [3, 4], "name": ["region 3", "region 4"]}
            cursor.execute("SELECT status, sum(amount), avg(score) FROM orders GROUP BY status")
            assert cursor.fetch_arrow_table().num_rows == 5
            with pytest.raises(adbc.ProgrammingError, match="would") as raised:
                cursor.execute("SELECT * FROM orders")
            assert raised.value.sqlstate == "42501"
    assert polars.read_database_uri(BY_STATUS, url, engine="adbc").height == 5


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
