"""Values of functions of constants, computed by a locked database without a single row.

No data is in reach here, so whether a function of constants fails is nobody's secret.
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
    """The values of one argument as text (None: NULL), and the type that they are cast to."""

    texts: Sequence[str | None]
    type: str


class EngineFunction(NamedTuple):
    """One overload of a function of the engine: `types` are its parameters' and its result's."""

    name: str
    schema: str
    kind: str
    stability: str | None
    types: frozenset[str | None]


Template = tuple["str | Template | int", ...]
"""A call: a function's name, then its operands: indexes of arguments, or calls.

("cast", operand, type) is a cast, ("constant", text, type) a constant.
"""


class EvaluationRaised(ValueError):
    """The call fails for some of its arguments."""


class EvaluationUnavailable(EvaluationRaised):
    """The engine has no such function of these types."""


def evaluate(call: Template, arguments: Sequence[Argument], rows: int) -> list[str | None]:
    """The call's value as text for each row of arguments; EvaluationRaised if one row fails.

    Each argument has `rows` texts. Raises EvaluationUnavailable if there is no such function.
    """
    table: dict[str, pa.Array] = {_ROW: pa.array(range(rows), pa.int64())}
    values: list[exp.Expr] = []
    for index, argument in enumerate(arguments):
        texts = set(argument.texts)
        if len(texts) == 1:
            # A pattern or a number of digits has to be a constant.
            values.append(_constant(texts.pop(), argument.type))
        else:
            table[f"a{index}"] = pa.array(argument.texts, pa.string())
            values.append(_cast(exp.column(f"a{index}"), argument.type))
    select = exp.select(_cast(_built(call, values), "VARCHAR")).from_(_TABLE).order_by(_ROW)
    cursor = _Databases.current().cursor()
    try:
        cursor.register(_TABLE, pa.table(table))
        evaluated = cursor.execute(select.sql(dialect="duckdb", copy=False)).fetchall()
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise EvaluationUnavailable(call[0]) from error
    except duckdb.Error as error:
        raise EvaluationRaised(call[0]) from error
    finally:
        cursor.close()
    return [text for (text,) in evaluated]


def engine_functions() -> list[EngineFunction]:
    """The engine's functions, each overload by itself."""
    cursor = _Databases.current().cursor()
    try:
        listed = cursor.execute(
            "SELECT DISTINCT function_name, schema_name, function_type, stability::VARCHAR,"
            " parameter_types, return_type FROM duckdb_functions()"
        ).fetchall()
    finally:
        cursor.close()
    return [
        EngineFunction(name, space, kind, stability, frozenset((*(parameters or ()), result)))
        for name, space, kind, stability, parameters, result in listed
    ]


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
    """One database for each process, by its id: a forked child must not use its parent's."""

    _lock: Final = threading.Lock()
    _opened: Final[dict[int, duckdb.DuckDBPyConnection]] = {}

    @classmethod
    def current(cls) -> duckdb.DuckDBPyConnection:
        """The database of this process, opened and locked when it is first used."""
        with cls._lock:
            connection = cls._opened.get(os.getpid())
            if connection is None:
                connection = duckdb.connect(config={"threads": 1, "memory_limit": "256MB"})
                configure(connection)
                lock(connection, ())
                cls._opened[os.getpid()] = connection
            return connection
