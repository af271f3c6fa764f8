"""Column ids: given out once in a statement, in the order of its text."""

from __future__ import annotations

from msgspec import Struct

from dpsql.plan.expression import Column
from dpsql.schema.sql_type import SqlType


class Names(Struct):
    """Makes the columns of one statement: ids tell them apart, names are for people.

    `last` is the id of the newest column.
    """

    last: int = 0

    def column(self, name: str, kind: SqlType) -> Column:
        """A new column."""
        self.last += 1
        return Column(self.last, name, kind)

    def like(self, column: Column) -> Column:
        """A new column with the name and the type of `column`."""
        return self.column(column.name, column.type)
