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
from duckdb import ColumnExpression, ConstantExpression, Expression, FunctionExpression

from dpsql.engine.lockdown import lock, prepare

_CAST: Final = "cast"
_CONSTANT: Final = "constant"
_TEXT: Final = duckdb.sqltype("VARCHAR")


class Argument(NamedTuple):
    """The values of one argument as text, None for NULL, and the type they are read as."""

    texts: Sequence[str | None]
    type: str


Template = tuple["str | Template | int", ...]
"""A call: a function's name, then the places of arguments, or calls.

("cast", …, type) is a cast, ("constant", text, type) a constant.
"""


class Undefined(ValueError):
    """The call has no value for some of its arguments."""


class Unanswered(Undefined):
    """There is no such call of these types."""


def evaluate(call: Template, arguments: Sequence[Argument], rows: int) -> list[str | None]:
    """The call's values as text, row by row of the arguments; raises Undefined if one has none."""
    order = "row"
    table: dict[str, pa.Array] = {order: pa.array(range(rows), pa.int64())}
    columns: list[Expression] = []
    for place, argument in enumerate(arguments):
        texts = set(argument.texts)
        if len(texts) == 1:
            # A pattern or a number of digits has to be a constant.
            column = ConstantExpression(texts.pop())
        else:
            table[f"a{place}"] = pa.array(argument.texts, pa.string())
            column = ColumnExpression(f"a{place}")
        columns.append(column.cast(duckdb.sqltype(argument.type)))
    cursor = _Databases.current().cursor()
    try:
        found = (
            cursor.from_arrow(pa.table(table))
            .select(ColumnExpression(order), _built(call, columns).cast(_TEXT))
            .order(order)
            .fetchall()
        )
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        raise Unanswered(call[0]) from error
    except duckdb.Error as error:
        raise Undefined(call[0]) from error
    finally:
        cursor.close()
    return [text for _, text in found]


def _built(part: Template | str | int, columns: list[Expression]) -> Expression:
    if isinstance(part, int):
        return columns[part]
    if isinstance(part, str):
        raise TypeError(f"{part} is no argument")
    name, *rest = part
    if name == _CAST:
        operand, target = rest
        return _built(operand, columns).cast(duckdb.sqltype(str(target)))
    if name == _CONSTANT:
        text, target = rest
        return ConstantExpression(text).cast(duckdb.sqltype(str(target)))
    return FunctionExpression(str(name), *(_built(each, columns) for each in rest))


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
                prepare(found)
                lock(found, ())
                cls._opened[os.getpid()] = found
            return found
