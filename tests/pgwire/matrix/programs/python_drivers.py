"""Drivers from PyPI."""

from __future__ import annotations

import asyncio
import importlib
from functools import partial

from pgwire.matrix.programs.python_script import (
    OWN_QUERY,
    Rows,
    Values,
    by_cursor,
    inlined,
    renamed,
    run,
    script,
    tried,
    tried_later,
    tried_of,
)


def psycopg(host: str, port: int, user: str, database: str, *, binary: bool = False) -> None:
    import psycopg as driver

    with driver.connect(
        f"host={host} port={port} user={user} dbname={database} sslmode=disable", autocommit=True
    ) as c:

        def ask(sql: str, values: Values) -> Rows | None:
            cursor = c.execute(
                renamed(sql, values, "%s"),
                values or None,
                binary=binary,
                prepare=binary,
            )
            if cursor.description is None:
                return None
            return [f"{d.name} {d.type_code}" for d in cursor.description], cursor.fetchall()

        for name, sql, values in script():
            tried(name, partial(ask, sql, values))

        def parts() -> Rows:
            with c.transaction(), c.cursor(name="parts") as cursor:
                cursor.itersize = 2
                return ("id", "name"), list(cursor.execute(OWN_QUERY))

        tried("own: a named cursor", parts)

        def copied() -> Rows:
            with c.cursor() as cursor, cursor.copy(f"COPY ({OWN_QUERY}) TO STDOUT") as copy:
                return ("id", "name"), list(copy.rows())

        tried("own: copy", copied)
        array = "SELECT id FROM t WHERE i = ANY(%s) ORDER BY 1"
        tried("own: an array", lambda: (("id",), c.execute(array, [[7, 10]]).fetchall()))


def psycopg_binary(host: str, port: int, user: str, database: str) -> None:
    psycopg(host, port, user, database, binary=True)


def psycopg2(host: str, port: int, user: str, database: str) -> None:
    import psycopg2 as driver

    c = driver.connect(host=host, port=port, user=user, dbname=database, sslmode="disable")
    c.autocommit = True
    by_cursor(c, "%s")
    array = "SELECT id FROM t WHERE i = ANY(%s) ORDER BY 1"

    def asked() -> Rows:
        with c.cursor() as cursor:
            cursor.execute(array, ([7, 10],))
            return ("id",), cursor.fetchall()

    tried("own: an array", asked)
    c.close()


def pg8000(host: str, port: int, user: str, database: str) -> None:
    import pg8000.dbapi as driver

    c = driver.connect(user, host=host, port=port, database=database)
    c.autocommit = True
    by_cursor(c, "%s")
    c.close()


def asyncpg(host: str, port: int, user: str, database: str) -> None:
    import asyncpg as driver

    async def use() -> None:
        c = await driver.connect(host=host, port=port, user=user, database=database, ssl=False)

        async def ask(sql: str, values: Values) -> Rows | None:
            prepared = await c.prepare(sql)
            names = [f"{a.name} {a.type.name}" for a in prepared.get_attributes()]
            if not names:
                await c.execute(sql)
                return None
            return names, [tuple(row) for row in await prepared.fetch(*values)]

        async def parts() -> Rows:
            async with c.transaction(readonly=True):
                return ("id", "name"), [tuple(r) async for r in c.cursor(OWN_QUERY, prefetch=2)]

        for name, sql, values in script():
            await tried_later(name, ask(sql, values))
        await tried_later("own: a cursor", parts())
        await tried_later(
            "own: an array", ask("SELECT id FROM t WHERE i = ANY($1) ORDER BY 1", [[7]])
        )
        await c.reset()
        await c.close()

    asyncio.run(use())


def aiopg(host: str, port: int, user: str, database: str) -> None:
    driver = importlib.import_module("aiopg")

    async def use() -> None:
        async with (
            driver.connect(host=host, port=port, user=user, dbname=database) as c,
            c.cursor() as cursor,
        ):

            async def ask(sql: str, values: Values) -> Rows | None:
                await cursor.execute(renamed(sql, values, "%s"), values or None)
                if cursor.description is None:
                    return None
                return [d[0] for d in cursor.description], await cursor.fetchall()

            for name, sql, values in script():
                await tried_later(name, ask(sql, values))

    asyncio.run(use())


def adbc(host: str, port: int, user: str, database: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(f"postgresql://{user}@{host}:{port}/{database}", autocommit=True) as c:

        def ask(sql: str, values: Values) -> Rows | None:
            with c.cursor() as cursor:
                cursor.execute(sql, values or None)
                table = cursor.fetch_arrow_table()
                names = [f"{f.name} {f.type}" for f in table.schema]
                return names, [list(row.values()) for row in table.to_pylist()]

        for name, sql, values in script():
            tried(name, partial(ask, sql, values))
        for table in ("regions", "orders", "t"):
            tried_of(
                f"own: schema of {table}",
                ("name", "type"),
                lambda t: [(f.name, f.type) for f in c.adbc_get_table_schema(t)],
                table,
            )

        def objects() -> Rows:
            (listed,) = (
                c.adbc_get_objects(catalog_filter=database, db_schema_filter="public")
                .read_all()
                .to_pylist()
            )
            (space,) = listed["catalog_db_schemas"]
            tables = sorted(space["db_schema_tables"], key=lambda t: t["table_name"])
            return ("table", "type", "columns", "constraints"), [
                (
                    t["table_name"],
                    t["table_type"],
                    sorted((k["column_name"], k["xdbc_type_name"]) for k in t["table_columns"]),
                    sorted(
                        (k["constraint_type"], k["constraint_column_names"])
                        for k in t["table_constraints"] or ()
                    ),
                )
                for t in tables
                if t["table_type"] == "table"
            ]

        tried("own: objects", objects)


def connectorx(host: str, port: int, user: str, database: str) -> None:
    driver = importlib.import_module("connectorx")

    def ask(sql: str, protocol: str) -> Rows:
        table = driver.read_sql(
            f"postgresql://{user}@{host}:{port}/{database}?sslmode=disable",
            sql,
            protocol=protocol,
            return_type="arrow",
        )
        names = [f"{f.name} {f.type}" for f in table.schema]
        return names, [list(row.values()) for row in table.to_pylist()]

    for name, sql, values in script():
        if sql.startswith(("SELECT", "WITH")):
            written = inlined(sql, values)
            for protocol in ("binary", "csv", "cursor"):
                tried(f"{name} by {protocol}", partial(ask, written, protocol))


if __name__ == "__main__":
    run(lambda name: globals()[name])
