"""The whole statement: SQL and schema in, a plan whose every answer is bounded out."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from dpsql.bind.context import Context, Parameters
from dpsql.bind.name import Names
from dpsql.bind.parse import parse_query, span
from dpsql.bind.query import bind_query
from dpsql.errors import Error, Span, WouldShowIndividuals
from dpsql.plan.columns import output_columns
from dpsql.plan.expression import Column
from dpsql.plan.operator import Plan
from dpsql.schema.model import Schema
from dpsql.stability.lineage import Visibility, private_scans, visibility


@dataclass(frozen=True, slots=True)
class Statement:
    """A bound query: `columns` are the answer's, `names` what its reader calls them."""

    plan: Plan
    columns: tuple[Column, ...]
    names: tuple[str, ...]


def bind(sql: str, schema: Schema, parameters: Parameters = MappingProxyType({})) -> Statement:
    """The plan of the one query that `sql` is.

    Raises an `dpsql.errors.Error` that points into `sql` for whatever has no rule.
    """
    tree = parse_query(sql)
    try:
        selected = bind_query(tree, Context(schema, Names(), parameters))
    except Error as error:
        if error.at is None:
            error.at = span(tree) or Span(0, len(sql))
        raise
    if visibility(selected.plan) is Visibility.PRIVATE:
        table = private_scans(selected.plan)[0].table.name
        raise WouldShowIndividuals(
            f"the answer would list rows of {table}, or its units one by one",
            at=span(tree),
            hint=f"aggregate over units: SELECT count(*) FROM {table}",
            note="select",
        )
    return Statement(selected.plan, output_columns(selected.plan), selected.names)
