"""The rows that PostgreSQL 15 has in every database, of its own functions, types and relations.

`system_rows_15.zip` has a Parquet file for each relation, which tests/pgwire/record_system_rows.py
recorded. The rows hold nothing of a dataset.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dpsql.pgwire.catalog.objects import STANDARD
from dpsql.pgwire.catalog.relations import types_by_oid

SIGNATURES: Final = "signatures"
"""The name of the file that has the arguments and the result of each function, by its OID."""
WRITTEN: Final = "written_objects"
"""The name of the file that has how functions, operators and the like are written, by OID."""
WORD_TYPES: Final = "ts_token_type"
"""The name of the file that has the rows of that function, for the parser of every database."""
DATABASE: Final = "\x01"
"""What the recorded rows have for the name of the database."""
KEYWORDS: Final = "pg_get_keywords"
"""The name of the file that has the rows of that function."""
_BTREE: Final = 403
"""The OID of the access method by which keys are indexed."""


@cache
def system_oids() -> Mapping[str, int]:
    """The OIDs of relations and indexes by their names, which are unique."""
    return {row["relname"]: row["oid"] for row in recorded_rows("pg_class", "relname", "oid")}


@cache
def system_indexes() -> Mapping[int, str]:
    """The statements that would make the indexes of pg_catalog, by OID."""
    rows = recorded_rows("pg_indexes", "indexname", "indexdef")
    return {system_oids()[row["indexname"]]: row["indexdef"] for row in rows}


@cache
def system_types() -> Mapping[int, str]:
    """Names of the types that aren't base types, as of a relation's rows and of ranges, by OID."""
    base = types_by_oid()
    rows = recorded_rows("pg_type", "oid", "typname", "typelem", "typnamespace")
    rows = [row for row in rows if row["oid"] not in base]
    names = {
        row["oid"]: ("information_schema." if row["typnamespace"] == STANDARD else "")
        + row["typname"]
        for row in rows
    }
    return names | {
        row["oid"]: f"{names[row['typelem']]}[]" for row in rows if row["typelem"] in names
    }


@cache
def operator_classes() -> Mapping[int, int]:
    """The OID of the class of operators by which an index orders a type, by the type's OID."""
    rows = recorded_rows("pg_opclass", "oid", "opcintype", "opcmethod", "opcdefault")
    return {r["opcintype"]: r["oid"] for r in rows if r["opcdefault"] and r["opcmethod"] == _BTREE}


@cache
def procedures() -> Mapping[int, str]:
    """How PostgreSQL writes each function by its OID: one that is overloaded, with its schema."""
    rows = recorded_rows("pg_proc", "oid", "proname", "pronamespace")
    visible = Counter(row["proname"] for row in rows if row["pronamespace"] != STANDARD)
    names = {0: "-"}
    for row in rows:
        space = "information_schema." if row["pronamespace"] == STANDARD else "pg_catalog."
        is_unique = row["pronamespace"] != STANDARD and visible[row["proname"]] == 1
        names[row["oid"]] = row["proname"] if is_unique else space + row["proname"]
    return names


@cache
def procedure_oids() -> Mapping[str, tuple[int, ...]]:
    """OIDs of the functions of each name, as those of information_schema with their schema."""
    oids: dict[str, tuple[int, ...]] = {"-": (0,)}
    for oid, name in procedures().items():
        plain = name.removeprefix("pg_catalog.")
        oids[plain] = (*oids.get(plain, ()), oid) if oid else (0,)
    return oids


@cache
def keywords() -> Mapping[str, list[Any]]:
    """The columns of pg_get_keywords()."""
    columns: Mapping[str, list[Any]] = _file(KEYWORDS).to_pydict()
    return columns


@cache
def signatures() -> Mapping[str, Mapping[int, str | None]]:
    """What each function gives that writes down functions, by the OID of those."""
    columns = _file(SIGNATURES).to_pydict()
    oids = columns.pop("oid")
    return {name: dict(zip(oids, texts, strict=True)) for name, texts in columns.items()}


@cache
def written_objects() -> Mapping[str, Mapping[int, str]]:
    """How PostgreSQL writes each object, by its OID, by the type of OIDs that it is written as."""
    texts: dict[str, dict[int, str]] = {}
    for row in _file(WRITTEN).to_pylist():
        texts.setdefault(row["kind"], {0: "0" if row["kind"] == "regoperator" else "-"})
        texts[row["kind"]][row["oid"]] = row["text"]
    return texts


@cache
def token_types() -> Mapping[str, list[Any]]:
    """The columns of ts_token_type()."""
    columns: Mapping[str, list[Any]] = _file(WORD_TYPES).to_pydict()
    return columns


def recorded_rows(name: str, *columns: str) -> list[dict[str, Any]]:
    """The rows that a relation of pg_catalog has in every database, with these columns."""
    rows: list[dict[str, Any]] = _file(f"pg_catalog__{name}").select(columns).to_pylist()
    return rows


def system_tables(dataset: str) -> Mapping[str, pa.Table]:
    """The rows by the relation's stored name; columns that are NULL in all rows are left out."""
    return {
        name: _of_dataset(table, dataset)
        for name, table in _recorded().items()
        if name not in {KEYWORDS, SIGNATURES, WRITTEN, WORD_TYPES}
    }


def _of_dataset(table: pa.Table, dataset: str) -> pa.Table:
    for n, field in enumerate(table.schema):
        if field.name.endswith("_catalog"):
            column = table.column(n)
            own = pc.if_else(pc.equal(column, DATABASE), dataset, column)
            table = table.set_column(n, field, own)
    return table


@cache
def _recorded() -> Mapping[str, pa.Table]:
    with _opened() as archive:
        names = [name.removesuffix(".parquet") for name in archive.namelist()]
    return {name: _file(name) for name in names}


@cache
def _file(name: str) -> pa.Table:
    with _opened() as archive:
        return pq.read_table(pa.BufferReader(archive.read(f"{name}.parquet")))


@contextmanager
def _opened() -> Iterator[zipfile.ZipFile]:
    file = resources.files("dpsql.pgwire.catalog.rows").joinpath("system_rows_15.zip")
    with file.open("rb") as opened, zipfile.ZipFile(opened) as archive:
        yield archive
