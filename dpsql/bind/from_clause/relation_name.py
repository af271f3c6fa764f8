"""The sources of FROM that aren't subqueries: listed rows, CTEs, tables of the schema, views."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.from_clause.common_table_expression import named_query
from dpsql.bind.from_clause.join import source_words
from dpsql.bind.from_clause.table import find_relation, scanned
from dpsql.bind.from_clause.values_clause import constant_rows
from dpsql.bind.from_clause.view import viewed
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.schema.model import Table
from dpsql.schema.qualified_name import bare, schema_of


class NamedSource(NamedTuple):
    """Rows, and the name that they have without an alias.

    `schema` are the catalog and schema of a table or view, casefolded; None of other rows.
    """

    name: str
    rows: BoundQuery
    schema: tuple[str, str] | None = None


def bind_source(node: exp.Expr, unnamed: str, context: Context) -> NamedSource:
    """The source that `node` names; `unnamed` is the name of VALUES without an alias."""
    constant = constant_rows(node, context)
    if constant is not None:
        return NamedSource(unnamed if isinstance(node, exp.Values) else constant.names[0], constant)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise unsupported(node, source_words(node), hint="name a table of the schema")
    require_args(node, "this", "alias", "joins", "db", "catalog")
    cte = context.ctes.get(node.name.casefold())
    if cte is not None and not node.db:
        return NamedSource(node.name, named_query(cte, node, context))
    relation = find_relation(context, node)
    rows = (
        scanned(relation, context)
        if isinstance(relation, Table)
        else viewed(relation, node, context)
    )
    space = schema_of(relation.name).casefold()
    return NamedSource(bare(relation.name), rows, (context.schema.dataset.casefold(), space))
