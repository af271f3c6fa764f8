"""Mappers of objects to tables."""

from __future__ import annotations

import asyncio
import importlib
import sys
from functools import partial
from typing import Any

from pgwire.matrix.programs.python_script import (
    Rows,
    Values,
    by_cursor,
    renamed,
    run,
    script,
    tried,
    tried_later,
    tried_of,
)


def peewee(host: str, port: int, user: str, database: str) -> None:
    orm = importlib.import_module("peewee")
    reflection = importlib.import_module("playhouse.reflection")
    c = orm.PostgresqlDatabase(database, host=host, port=port, user=user, autoconnect=True)

    def ask(sql: str, values: Values) -> Rows | None:
        cursor = c.execute_sql(renamed(sql, values, "%s"), values or None)
        if cursor.description is None:
            return None
        return [d[0] for d in cursor.description], cursor.fetchall()

    for name, sql, values in script():
        tried(name, partial(ask, sql, values))
    tried("own: tables", lambda: (("n",), [[n] for n in c.get_tables()]))
    for table in ("regions", "orders", "t"):
        tried_of(f"own: columns of {table}", ("",), c.get_columns, table)
        tried_of(f"own: key of {table}", ("",), lambda t: [c.get_primary_keys(t)], table)
        tried_of(f"own: foreign keys of {table}", ("",), c.get_foreign_keys, table)
        tried_of(f"own: indexes of {table}", ("",), c.get_indexes, table)
    models = reflection.Introspector.from_database(c).generate_models()
    t = models["t"]
    tried("own: a model", lambda: (("i", "t"), t.select(t.i, t.t).where(t.b).tuples()))
    tried("own: counted", lambda: (("n",), [[t.select().where(t.i > 1).count()]]))
    c.close()


def django(host: str, port: int, user: str, database: str) -> None:
    conf = importlib.import_module("django.conf")
    engine = {"ENGINE": "django.db.backends.postgresql", "HOST": host, "PORT": port}
    engine |= {"USER": user, "NAME": database}
    conf.settings.configure(DATABASES={"default": engine}, INSTALLED_APPS=[], USE_TZ=True)
    importlib.import_module("django").setup()
    c = importlib.import_module("django.db").connection
    by_cursor(c, "%s", kinds=False)
    with c.cursor() as cursor:
        look = c.introspection
        tried("own: tables", lambda: (("",), look.get_table_list(cursor)))
        for table in ("regions", "orders", "t"):
            by = {
                "columns": look.get_table_description,
                "relations": lambda *at: look.get_relations(*at).items(),
                "key": lambda *at: [[look.get_primary_key_column(*at)]],
                "constraints": lambda *at: sorted(look.get_constraints(*at).items()),
            }
            for what, read in by.items():
                tried_of(f"own: {what} of {table}", ("",), read, cursor, table)
    call = importlib.import_module("django.core.management").call_command
    sys.stdout.write("== own: inspectdb\n")
    call("inspectdb", stdout=sys.stdout)
    models = importlib.import_module("django.db.models")
    fields = {"id": models.BigIntegerField(primary_key=True), "i": models.IntegerField()}
    meta = type("Meta", (), {"app_label": "matrix", "db_table": "t", "managed": False})
    model: Any = type("T", (models.Model,), {**fields, "Meta": meta, "__module__": "matrix"})
    rows = model.objects
    tried("own: filtered", lambda: (("i",), rows.filter(i__gt=1).order_by("-i").values_list("i")))
    tried("own: counted", lambda: (("n",), [[rows.filter(i__in=[7, 10]).count()]]))
    tried("own: aggregate", lambda: (("n",), [[rows.aggregate(models.Sum("i"))]]))
    tried("own: sliced", lambda: (("n",), rows.order_by("id").values_list("id")[1:3]))


def tortoise(host: str, port: int, user: str, database: str) -> None:
    orm = importlib.import_module("tortoise")

    async def use() -> None:
        await orm.Tortoise.init(
            db_url=f"asyncpg://{user}:x@{host}:{port}/{database}", modules={"models": [__name__]}
        )
        c = orm.Tortoise.get_connection("default")

        async def ask(sql: str, values: Values) -> Rows | None:
            rows = await c.execute_query_dict(sql, values)
            return (list(rows[0]) if rows else []), [row.values() for row in rows]

        for name, sql, values in script():
            if sql.startswith(("SELECT", "WITH")):
                await tried_later(name, ask(sql, values))
        await orm.Tortoise.close_connections()

    asyncio.run(use())


if __name__ == "__main__":
    run(lambda name: globals()[name])
