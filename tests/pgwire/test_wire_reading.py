"""A text is read once for all connections; what decides its meaning is compared each time."""

from __future__ import annotations

from pathlib import Path

import pytest
from pgwire.asking import rows
from pgwire.shop import make

from dpsql.errors import Error, Refused, UnknownTable
from dpsql.pgwire.codec.oid import INT4, INT8, TEXT
from dpsql.pgwire.limits import Limits
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset
from dpsql.pgwire.sql.translation_cache import (
    MAX_CHARACTERS,
    MAX_QUERIES,
    ReadQuery,
    TranslationCache,
)

COUNT = "SELECT status, count(*) + 1 AS n FROM orders GROUP BY status"


def test_all_connections_share_what_one_has_read(alice: QueryService, bob: QueryService) -> None:
    sql = f"{COUNT} ORDER BY status"
    assert alice.reader.known(sql, ()) is None
    read = alice.reader.read(sql)
    assert bob.reader.read(sql) is read
    assert bob.reader.known(sql, ()) is read


def test_each_use_has_a_tree_of_its_own(alice: QueryService) -> None:
    query = alice.reader.read(COUNT).query
    first, second = query.tree, query.tree
    assert first is not None
    assert first is not second
    first.set("limit", None)
    first.expressions[0].replace(first.expressions[1].copy())
    assert alice.reader.read(COUNT).query.tree == second


def test_declared_types_of_parameters_are_another_text(alice: QueryService) -> None:
    sql = "SELECT count(*) FROM orders WHERE qty > $1"
    assert alice.reader.read(sql).types == (INT4,)
    assert alice.reader.read(sql, (INT8,)).types == (INT8,)
    assert alice.reader.read(sql, (TEXT,)).types == (TEXT,)
    assert alice.reader.read(sql).types == (INT4,)


def test_a_refusal_is_not_remembered(alice: QueryService) -> None:
    sql = "SELECT count(*) FROM orders WHERE (string_to_array(status, 'e'))[1] = 'n'"
    told = []
    for _ in range(2):
        with pytest.raises(Error) as refusal:
            alice.query(alice.translate(f"  {sql}"), {})
        told.append((refusal.value.message, refusal.value.at))
        assert alice.reader.known(f"  {sql}", ()) is None
    assert told[0] == told[1]
    both = "SELECT count(*) FROM orders, pg_class"
    for _ in range(2):
        with pytest.raises(Refused):
            alice.query(alice.translate(both), {})
        assert alice.reader.known(both, ()) is None


def test_a_name_means_the_table_that_is_kept_under_it_now(
    alice: QueryService, bob: QueryService
) -> None:
    sql, made = "SELECT max(n) / 2 AS half FROM kept_then", "CREATE {} RELEASE kept_then AS {}"
    with pytest.raises(UnknownTable):
        alice.query(alice.translate(sql), {})
    count = "SELECT count(*) AS n FROM orders"
    alice.query(alice.translate(made.format("", count)), {})
    # PostgreSQL divides integers without a rest, and others with it: the column's type decides.
    assert isinstance(rows(alice, sql)[0][0], int)
    whole = alice.reader.read(sql)
    assert bob.reader.read(sql) is whole
    real = "SELECT count(*)::float8 + 0.5::float8 AS n FROM orders"
    alice.query(alice.translate(made.format("OR REPLACE", real)), {})
    assert bob.reader.known(sql, ()) is None
    assert isinstance(rows(bob, sql)[0][0], float)
    alice.execute("DROP RELEASE kept_then")
    with pytest.raises(UnknownTable):
        alice.query(alice.translate(sql), {})


def test_a_kept_column_may_give_a_parameter_its_type(alice: QueryService) -> None:
    sql = "SELECT count(*) FROM orders WHERE qty = $1"
    before = alice.reader.read(sql)
    assert before.types == (INT4,)
    made = "CREATE RELEASE another AS SELECT count(*) AS qty FROM orders"
    alice.query(alice.translate(made), {})
    assert alice.reader.known(sql, ()) is None
    assert alice.reader.read(sql).types == (INT8,)
    alice.execute("DROP RELEASE another")
    assert alice.reader.read(sql).types == before.types


def test_another_schema_is_another_translation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    path = make(tmp_path, customers=20, orders=20)
    dataset = Dataset(path, Limits(workers=1, catalog_workers=1))
    asking = QueryService(dataset, "alice")
    try:
        read = asking.reader.read(COUNT)
        assert asking.reader.read(COUNT) is read
        path.write_text(path.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
        asking.reload()
        assert asking.reader.known(COUNT, ()) is None
    finally:
        asking.close()
        dataset.close()


def test_the_cache_is_bounded(alice: QueryService) -> None:
    cache, query = TranslationCache(()), alice.translate(COUNT)
    for number in range(MAX_QUERIES + 1):
        cache.add(f"{number}", (), ReadQuery(query, ()))
    assert len(cache) == MAX_QUERIES
    assert cache.get("0", ()) is None
    long = "x" * (MAX_CHARACTERS - 3)
    cache.add(long, (), ReadQuery(query, ()))
    assert len(cache) < 4
    cache.add(long + "xxxx", (), ReadQuery(query, ()))
    assert cache.get(long + "xxxx", ()) is None
