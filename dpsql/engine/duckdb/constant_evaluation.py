"""What the engine makes of constants: a locked database without a single row answers.

No data is in reach here, so that a function of constants fails is nobody's secret.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa
from sqlglot import exp

from dpsql.engine.duckdb.lockdown import configure, lock

_TABLE: Final = "arguments"
_ROW: Final = "row_number"


class Argument(NamedTuple):
    """The values of one argument as text, None for NULL, and the type they are read as."""

    texts: Sequence[str | None]
    type: str


Template = tuple["str | Template | int", ...]
"""A call: a function's name, then the places of arguments, or calls.

("cast", …, type) is a cast, ("constant", text, type) a constant.
"""


class EvaluationRaised(ValueError):
    """The call has no value for some of its arguments."""


class EvaluationUnavailable(EvaluationRaised):
    """There is no such call of these types."""


def evaluate(call: Template, arguments: Sequence[Argument], rows: int) -> list[str | None]:
    """The call's values as text, row by row of the arguments; raises Undefined if one has none."""
    table: dict[str, pa.Array] = {_ROW: pa.array(range(rows), pa.int64())}
    values: list[exp.Expr] = []
    for place, argument in enumerate(arguments):
        texts = set(argument.texts)
        if len(texts) == 1:
            # A pattern or a number of digits has to be a constant.
            values.append(_constant(texts.pop(), argument.type))
        else:
            table[f"a{place}"] = pa.array(argument.texts, pa.string())
            values.append(_cast(exp.column(f"a{place}"), argument.type))
    asked = exp.select(_cast(_built(call, values), "VARCHAR")).from_(_TABLE).order_by(_ROW)
    cursor = _Databases.current().cursor()
    try:
        cursor.register(_TABLE, pa.table(table))
        found = cursor.execute(asked.sql(dialect="duckdb", copy=False)).fetchall()
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise EvaluationUnavailable(call[0]) from error
    except duckdb.Error as error:
        raise EvaluationRaised(call[0]) from error
    finally:
        cursor.close()
    return [text for (text,) in found]


def ask_of_functions() -> list[tuple[str, str, str, str | None]]:
    """The engine's functions: name, schema, kind, and how stable their values are."""
    cursor = _Databases.current().cursor()
    try:
        return cursor.execute(
            "SELECT DISTINCT function_name, schema_name, function_type, stability::VARCHAR"
            " FROM duckdb_functions()"
        ).fetchall()
    finally:
        cursor.close()


def _built(part: Template | str | int, values: list[exp.Expr]) -> exp.Expr:
    if isinstance(part, int):
        return values[part].copy()
    if isinstance(part, str):
        raise TypeError(f"{part} is no argument")
    name, *rest = part
    match name, rest:
        case "cast", [operand, target]:
            return _cast(_built(operand, values), str(target))
        case "constant", [str(text), target]:
            return _constant(text, str(target))
        case _:
            # Operators are functions whose names are quoted.
            called = exp.to_identifier(str(name), quoted=True)
            return exp.Anonymous(this=called, expressions=[_built(each, values) for each in rest])


def _constant(text: str | None, kind: str) -> exp.Expr:
    return _cast(exp.null() if text is None else exp.Literal.string(text), kind)


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind, dialect="duckdb"))


class _Databases:
    """One database a process: a forked child must not use its parent's."""

    _lock: Final = threading.Lock()
    _opened: Final[dict[int, duckdb.DuckDBPyConnection]] = {}

    @classmethod
    def current(cls) -> duckdb.DuckDBPyConnection:
        """Opened and locked the first time that a process asks."""
        with cls._lock:
            found = cls._opened.get(os.getpid())
            if found is None:
                found = duckdb.connect(config={"threads": 1, "memory_limit": "256MB"})
                configure(found)
                lock(found, ())
                cls._opened[os.getpid()] = found
            return found
