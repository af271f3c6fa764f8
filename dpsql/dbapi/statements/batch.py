"""Which statements a batch has."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.dbapi.statements.parse import Query, read_statement
from dpsql.errors import BadParameter
from dpsql.session.batch.statement_number import of_statement


def check_queries(statements: Sequence[str]) -> None:
    """BadParameter for what isn't a query, or has OPTIONS of its own."""
    for number, sql in enumerate(statements, 1):
        with of_statement(number):
            statement = read_statement(sql)
            if not isinstance(statement, Query) or statement.options:
                raise BadParameter(
                    "a batch has queries only, without OPTIONS of their own",
                    hint="write SELECT …, and an epsilon for the whole batch",
                )
