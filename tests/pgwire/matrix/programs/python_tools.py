"""Drivers with a catalogue of their own, and what reads frames."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from pgwire.matrix.programs.python_script import (
    Rows,
    Values,
    by_cursor,
    by_frames,
    run,
    script,
    tried,
    tried_of,
)


def pygresql(host: str, port: int, user: str, database: str) -> None:
    driver = importlib.import_module("pgdb")
    c = driver.connect(host=f"{host}:{port}", user=user, database=database)
    c.autocommit = True
    by_cursor(c, "%s")
    plain = importlib.import_module("pg").DB(host=host, port=port, user=user, dbname=database)
    tried("own: tables", lambda: (("table",), [[t] for t in plain.get_tables()]))
    for table in ("regions", "orders", "t"):
        tried_of(
            f"own: columns of {table}",
            ("name", "type"),
            lambda t: plain.get_attnames(t).items(),
            table,
        )
    tried("own: key", lambda: (("key",), [[plain.pkey("regions")]]))
    tried("own: privilege", lambda: (("may",), [[plain.has_table_privilege("regions")]]))
    plain.close()
    c.close()


def pyodbc(host: str, port: int, user: str, database: str) -> None:
    import pyodbc as driver

    c = driver.connect(
        f"DRIVER={{PostgreSQL Unicode}};SERVER={host};PORT={port};DATABASE={database};UID={user};"
        "SSLmode=disable",
        autocommit=True,
    )
    by_cursor(c, "?")

    def listed(*names: str, of: Callable[..., Any], table: str = "") -> Callable[[], Rows]:
        def ask() -> Rows:
            found = (of(c.cursor(), table) if table else of(c.cursor())).fetchall()
            return names, [[getattr(row, name) for name in names] for row in found]

        return ask

    tried("own: tables", listed("table_schem", "table_name", "table_type", of=lambda cursor: (
        cursor.tables(schema="public", tableType="TABLE"))))  # fmt: skip
    for table in ("regions", "orders", "t"):
        names = ("column_name", "data_type", "type_name", "column_size", "nullable")
        tried(f"own: columns of {table}", listed(*names, table=table, of=lambda cursor, t: (
            cursor.columns(table=t))))  # fmt: skip
        tried(f"own: key of {table}", listed("column_name", "key_seq", table=table, of=lambda
            cursor, t: cursor.primaryKeys(t)))  # fmt: skip
        tried(f"own: indexes of {table}", listed("index_name", "column_name", table=table,
            of=lambda cursor, t: cursor.statistics(t, unique=True)))  # fmt: skip
        tried(f"own: row of {table}", listed("column_name", table=table, of=lambda cursor, t: (
            cursor.rowIdColumns(t))))  # fmt: skip
    names = ("pktable_name", "pkcolumn_name", "fktable_name", "fkcolumn_name", "fk_name")
    tried("own: foreign keys", listed(*names, of=lambda cursor: (
        cursor.foreignKeys(foreignTable="orders"))))  # fmt: skip
    tried("own: types", listed("type_name", "data_type", of=lambda cursor: cursor.getTypeInfo()))
    c.close()


def sqlalchemy(host: str, port: int, user: str, database: str) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(f"postgresql+psycopg2://{user}@{host}:{port}/{database}")
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:

        def ask(sql: str, values: Values) -> Rows | None:
            written = sql.replace(":", r"\:")
            for n in range(len(values)):
                written = written.replace(f"${n + 1}", f":p{n + 1}")
            found = c.execute(sa.text(written), {f"p{n}": v for n, v in enumerate(values, 1)})
            return (list(found.keys()), found.fetchall()) if found.returns_rows else None

        for name, sql, values in script():
            tried(name, partial(ask, sql, values))
        inspector: Any = sa.inspect(engine)
        tried("own: schemas", lambda: (("name",), [[n] for n in inspector.get_schema_names()]))
        tried("own: tables", lambda: (("n",), [[n] for n in sorted(inspector.get_table_names())]))
        tried("own: views", lambda: (("n",), [[n] for n in inspector.get_view_names()]))
        of = {
            "columns": lambda t: [(k["name"], k["type"], k["nullable"], k["default"], k["comment"])
                                  for k in inspector.get_columns(t)],
            "key": lambda t: sorted(inspector.get_pk_constraint(t).items(), key=str),
            "foreign keys": lambda t: [sorted(k.items(), key=str)
                                       for k in inspector.get_foreign_keys(t)],
            "indexes": lambda t: [sorted(k.items(), key=str) for k in inspector.get_indexes(t)],
            "unique": lambda t: [sorted(k.items()) for k in inspector.get_unique_constraints(t)],
            "checks": lambda t: [sorted(k.items()) for k in inspector.get_check_constraints(t)],
            "comment": lambda t: [inspector.get_table_comment(t).items()],
        }  # fmt: skip
        for table in ("regions", "orders", "t"):
            for what, find in of.items():
                tried_of(f"own: {what} of {table}", ("",), find, table)
        metadata = sa.MetaData()
        metadata.reflect(engine)
        t, regions = metadata.tables["t"], metadata.tables["regions"]
        asked = (
            sa.select(t.c.id, regions.c.name, sa.func.coalesce(t.c.i, 0) / 2)
            .join(regions, regions.c.region_id == t.c.id)
            .where(t.c.t.in_(["a_b", "axb"]), t.c.day >= sa.func.date("2020-01-01"))
            .order_by(t.c.id.desc())
            .limit(3)
        )
        tried("own: an expression", lambda: (("id", "name", "half"), c.execute(asked).fetchall()))
    engine.dispose()


def pandas(host: str, port: int, user: str, database: str) -> None:
    import pandas as pd
    import sqlalchemy as sa

    engine = sa.create_engine(f"postgresql+psycopg2://{user}@{host}:{port}/{database}")

    def read(sql: str) -> Rows:
        frame = pd.read_sql(sa.text(sql.replace(":", r"\:")), engine)
        return [f"{n} {k}" for n, k in frame.dtypes.items()], frame.to_numpy().tolist()

    by_frames(read)

    def table() -> Rows:
        frame = pd.read_sql_table("t", engine).sort_values("id")
        return list(frame.columns), frame.to_numpy().tolist()

    tried("own: a table", table)
    engine.dispose()


def polars(host: str, port: int, user: str, database: str) -> None:
    import polars as pl

    url = f"postgresql://{user}@{host}:{port}/{database}"

    def read(sql: str) -> Rows:
        frame = pl.read_database_uri(sql, url, engine="adbc")
        return [f"{n} {k}" for n, k in frame.schema.items()], frame.rows()

    by_frames(read)


if __name__ == "__main__":
    run(lambda name: globals()[name])
