"""The closed list of syntax nodes, functions and tables that a query of the catalogue may use.

`check` walks the tree that was rewritten for DuckDB, from which DuckDB's text is generated. A query
is sent only if each of its tables is a relation of the catalogue or a query named in WITH, and each
of its functions is on the list.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from sqlglot import exp

from dpsql.errors import Refused, UnknownFunction, UnknownTable
from dpsql.pgwire.catalog.relations import relations

NAMED: Final = "with__"
"""The prefix of names of WITH queries, so that none of them is the name of a DuckDB table."""

_SYNTAX: Final = (
    "Select From Where Join Group Having Order Ordered Limit Offset Fetch Distinct With CTE "
    "Union Intersect Except Values Tuple Subquery Table TableAlias Lateral Alias Aliases Column "
    "Identifier Star Dot Paren Literal ByteString Null Boolean Cast TryCast DataType "
    "DataTypeParam Case If In Is Exists Any All Between Like ILike Escape RegexpLike RegexpILike "
    "And Or Not EQ NEQ GT GTE LT LTE NullSafeEQ NullSafeNEQ Add Sub Mul Div Mod Neg BitwiseAnd "
    "BitwiseOr DPipe Bracket Slice Array Struct PropertyEQ Lambda Window WindowSpec Filter "
    "WithinGroup Unnest Explode Interval Var"
)
_CALLS: Final = (
    "Abs ArrayAgg ArrayContains ArraySize ArrayToString Avg Coalesce Concat ConcatWs Count "
    "CurrentDate CurrentSchemas CurrentTimestamp CurrentVersion DenseRank "
    "ExplodingGenerateSeries Extract GenerateSeries Greatest GroupConcat Initcap Least Left "
    "Length LogicalAnd LogicalOr Lower Max Min Nullif Rank RegexpReplace Replace Right Round "
    "RowNumber SplitPart StrPosition StringToArray Substring Sum Transform Trim Upper"
)
_NODES: Final = frozenset(getattr(exp, name) for name in f"{_SYNTAX} {_CALLS}".split())
_OTHERS: Final = (
    "all any array_length array_position array_to_string cardinality char_length "
    "generate_subscripts list_contains list_position ltrim rtrim "
    "quote_ident regexp_extract string_split_regex strpos"
)
_FUNCTIONS: Final = frozenset(_OTHERS.split())
_STORED: Final = frozenset(relation.stored for relation in relations().values())
_WITHOUT_ROWS: Final = (
    "pg_stats pg_statistic pg_locks pg_shadow pg_cursors pg_prepared_statements pg_config "
    "pg_stat_archiver pg_stat_bgwriter pg_stat_wal pg_stat_slru pg_stat_recovery_prefetch "
    "pg_shmem_allocations pg_backend_memory_contexts pg_file_settings pg_hba_file_rules "
    "pg_ident_file_mappings"
)
"""Relations in which PostgreSQL has rows about a server, a connection or a table's values."""
_REFUSED: Final = frozenset(f"pg_catalog__{name}" for name in _WITHOUT_ROWS.split())
_DECIMAL_DIGITS: Final = 38
_PLAIN: Final = re.compile(r"[\w .]*")
_ESCAPED: Final = (exp.Literal, exp.ByteString)
"""Nodes whose text is written between quotes."""


def check(tree: exp.Expr, macros: AbstractSet[str]) -> None:
    """Raise if `tree` has a node that isn't on the list.

    `macros` are the names of PostgreSQL's functions that the catalogue defines as macros.
    """
    for node in tree.walk():
        match node:
            case exp.Anonymous():
                name = node.name.lower()
                if name not in _FUNCTIONS and name not in macros:
                    raise _unknown(name)
            case exp.Literal() if not node.is_string and _digits(node.this) > _DECIMAL_DIGITS:
                raise Refused(
                    "a numeric has 38 digits at most here", hint="write a float: '1e40'::float8"
                )
            case exp.Func() if type(node) not in _NODES:
                raise _unknown(node.sql_name().lower())
            case exp.Table():
                _check_table(node)
            case _ if type(node) not in _NODES:
                raise Refused(
                    f"a question of the catalogue can't have {type(node).__name__.upper()}",
                    hint="ask with SELECT, joins, aggregates and the catalogue's functions",
                )
            case _:
                pass
        _check_text(node)


def _check_table(table: exp.Table) -> None:
    called = table.this
    if isinstance(called, exp.Func):
        return  # `check` visits the function as a node of its own
    name = called.name if isinstance(called, exp.Identifier) else ""
    if table.args.get("db") or not (name in _STORED or name.startswith(NAMED)):
        raise UnknownTable(
            f"the catalogue has no relation {table.name[:60]}",
            hint="SELECT relname FROM pg_class lists tables",
        )
    if name in _REFUSED:
        raise Refused(
            f"{name.partition('__')[2]} has rows in PostgreSQL, and none here",
            hint="the catalogue has names and types, and nothing of values or of how a server runs",
        )


def _digits(number: str) -> int:
    return len(number.partition("e")[0].replace(".", "").lstrip("0"))


def _check_text(node: exp.Expr) -> None:
    """The generator writes unquoted text as it is, so that such text has to be words alone."""
    if isinstance(node, _ESCAPED) or (isinstance(node, exp.Identifier) and node.args.get("quoted")):
        return
    for value in node.args.values():
        if isinstance(value, str) and not _PLAIN.fullmatch(value):
            raise Refused("a question of the catalogue has a name that can't be read")


def _unknown(name: str) -> UnknownFunction:
    return UnknownFunction(f"the catalogue has no function {name[:60]}")
