"""Which statements a batch has."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.dbapi.statements.parse import Query, read_statement
from dpsql.errors import BadParameter


def check_queries(statements: Sequence[str]) -> None:
    """BadParameter for what isn't a query, or has OPTIONS of its own."""
    for sql in statements:
        statement = read_statement(sql)
        if not isinstance(statement, Query) or statement.options:
            raise BadParameter(
                "a batch has queries only, without OPTIONS of their own",
                hint="write SELECT …, and SET dpsql.epsilon before the batch",
            )
