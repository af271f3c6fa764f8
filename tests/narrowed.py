"""Values narrowed to the type that a test expects of them; another type fails the test."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dpsql.schema.model import Schema


def integer(value: object) -> int:
    """A cell of an answer that must be a whole number."""
    assert isinstance(value, int), value
    return value


def number(value: object) -> Fraction:
    """A cell of an answer that must be a number of any type, exactly."""
    assert isinstance(value, int | float | Decimal), value
    return Fraction(value)


def ledger_file(schema: Schema) -> Path:
    """The ledger of a schema that keeps it in a file, not on a server."""
    assert isinstance(schema.ledger, Path), schema.ledger
    return schema.ledger
