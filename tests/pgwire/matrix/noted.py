"""What clients may print otherwise than of PostgreSQL, and why."""

from __future__ import annotations

import re

_NOTED = {
    ("ecpg", "a (table|column|function) that is not there"): (
        "PREPARE looks names up there, and the first OPEN does here"
    ),
    ("sequelize", "own: foreign keys of orders"): (
        "it reads them as constraints of a user who owns the table"
    ),
    ("peewee", "own: foreign keys of orders"): "the same",
    ("django", "own: tables"): "they are listed in the order of the catalogue's rows",
    ("sqlalchemy", "own: an expression"): "quotients of numerics have fewer digits",
    (".*pgjdbc.*", "extract|columns|own: types|own: user types"): (
        "precisions of extract(), and types of tables' rows"
    ),
    ("libpq|LuaSQL", "extract|columns"): "modifiers of types of expressions",
}
"""Reasons by patterns of the client's name and of the statement's."""


def noted(client: str, statement: str) -> bool:
    """Whether a difference in that statement has a reason."""
    return any(
        re.fullmatch(clients, client) and re.fullmatch(statements, statement)
        for clients, statements in _NOTED
    )
