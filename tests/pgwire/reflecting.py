"""What SQLAlchemy reads from a server; run as a program, by another SQLAlchemy than the tests'."""

from __future__ import annotations

import sys

BY_STATUS = "SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY status"


def reflect(url: str) -> None:
    import sqlalchemy as sa

    engine = sa.create_engine(url)
    inspector = sa.inspect(engine)
    assert inspector.get_schema_names() == ["information_schema", "public"]
    assert sorted(inspector.get_table_names()) == ["customers", "orders", "regions"]
    assert inspector.get_view_names() == []
    columns = {c["name"]: str(c["type"]) for c in inspector.get_columns("orders")}
    assert columns["amount"] == "NUMERIC(10, 2)"
    assert columns["ts"] == "TIMESTAMP"
    assert [c["name"] for c in inspector.get_columns("regions") if not c["nullable"]] == [
        "region_id"
    ]
    assert inspector.get_pk_constraint("orders")["constrained_columns"] == []
    assert inspector.get_pk_constraint("regions")["constrained_columns"] == ["region_id"]
    assert inspector.get_foreign_keys("orders")[0]["referred_table"] == "regions"
    assert inspector.get_indexes("orders") == []
    assert inspector.get_unique_constraints("orders") == []
    assert inspector.get_check_constraints("orders") == []
    assert inspector.get_table_comment("orders") == {"text": None}
    metadata = sa.MetaData()
    metadata.reflect(engine)
    orders, regions = metadata.tables["orders"], metadata.tables["regions"]
    asked = sa.select(orders.c.status, sa.func.count()).where(orders.c.qty > 5)
    with engine.connect() as connection:
        assert len(connection.execute(sa.text(BY_STATUS)).fetchall()) >= 4
        assert len(connection.execute(asked.group_by(orders.c.status)).fetchall()) >= 4
        names = connection.execute(sa.select(regions.c.name).order_by(regions.c.name))
        assert [row[0] for row in names] == [f"region {n}" for n in range(1, 5)]
    engine.dispose()


if __name__ == "__main__":
    import sqlalchemy

    reflect(sys.argv[1])
    sys.stdout.write(f"reflected by SQLAlchemy {sqlalchemy.__version__}\n")
