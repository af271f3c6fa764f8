"""The tools' descriptions for clients: arguments, results, and whether a call spends budget."""

from __future__ import annotations

from typing import Final

from mcp.types import Tool, ToolAnnotations
from msgspec import Struct

from dpsql.mcp.tool_arguments import (
    DescribeTable,
    Explain,
    ExplainBatch,
    ListTables,
    Nothing,
    Query,
    QueryBatch,
    json_schema,
)
from dpsql.mcp.tool_results import (
    Answer,
    BatchAnswer,
    BatchExplanation,
    BudgetReply,
    Explanation,
    TableFacts,
    Tables,
)

INSTRUCTIONS: Final = """\
Answers SQL about people with differential privacy: statements aggregate over many people, answers \
have noise, and each new answer spends a part of a budget that never comes back.
1. list_tables and describe_table say what may be named. Nothing there depends on people's rows.
2. explain tells what a statement costs and how noisy it is, for free. Use it before query.
3. query spends. "n ±" beside "n" is how far noise may have moved it, with 95 %: a difference \
within that is no finding; "n bias" is what limits leave out of it. The same statement again is \
free and gives the same answer: noise can't be averaged away. One statement with GROUP BY costs \
less than many with WHERE.
4. Several queries that you know beforehand go into query_batch: together they cost less, or have \
less noise. explain_batch tells the price.
Errors have a hint, and where a correction is known a fix: arguments to call the same tool with."""


class Kind(Struct, frozen=True):
    """A tool: the types of its arguments and result, and whether a call may spend budget."""

    name: str
    title: str
    text: str
    takes: type[Struct]
    gives: type[Struct]
    spends: bool = False

    def description(self) -> Tool:
        """The tool as the SDK describes it to clients."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.text,
            input_schema=json_schema(self.takes),
            output_schema=json_schema(self.gives),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=not self.spends,
                # Spent budget doesn't come back, though no row changes; the same call is then free.
                destructive_hint=self.spends,
                idempotent_hint=True,
                open_world_hint=False,
            ),
        )


LIST_TABLES: Final = Kind(
    "list_tables",
    "List tables",
    "The tables that statements may name, whose rows they have, and what is said of them. Free."
    " Comes from the schema alone: no row counts, no sizes.",
    ListTables,
    Tables,
)
DESCRIBE_TABLE: Final = Kind(
    "describe_table",
    "Describe a table",
    "A table's columns with their types and declared domains, its key, and how much of one unit"
    " (a person, or what the owner protects) an answer takes. Free.",
    DescribeTable,
    TableFacts,
)
EXPLAIN: Final = Kind(
    "explain",
    "Explain a statement's privacy",
    "What a statement would cost, how far noise would move each column, what its limits leave out,"
    " and what would make it cheaper. Free: it runs nothing and charges nothing.",
    Explain,
    Explanation,
)
QUERY: Final = Kind(
    "query",
    "Run a query (spends privacy budget)",
    "Answer a statement. SPENDS privacy budget, which doesn't come back, unless the same was asked"
    " before or only public tables are read. A refusal costs nothing. Returns rows, 95 % errors,"
    " the cost with a receipt, and what is left. CREATE RELEASE name AS SELECT … keeps the answer"
    " as a table that may then be asked for free; OPTIONS (reuse = on) at a statement's end sums it"
    " from answers that were given before, where that is possible, free and noisier.",
    Query,
    Answer,
    spends=True,
)
EXPLAIN_BATCH: Final = Kind(
    "explain_batch",
    "Explain a batch's privacy",
    "What several queries would cost that are declared together, which of them would be planned as"
    " one, and how far noise would move each column. Free: it runs nothing and charges nothing.",
    ExplainBatch,
    BatchExplanation,
)
QUERY_BATCH: Final = Kind(
    "query_batch",
    "Run several queries as one (spends privacy budget)",
    "Answer several queries that are declared together. SPENDS privacy budget, in one charge, or"
    " refuses all of them, which costs nothing. Queries that count and sum the same rows by listed"
    " keys have less noise so than one by one, or all of them cost less, as the dataset's"
    " accounting has it.",
    QueryBatch,
    BatchAnswer,
    spends=True,
)
BUDGET: Final = Kind(
    "budget",
    "Show the budget",
    "What was spent and what is left: of the dataset's budget, of this analyst's, and of what this"
    " server may spend. Free.",
    Nothing,
    BudgetReply,
)

KINDS: Final = (
    LIST_TABLES,
    DESCRIBE_TABLE,
    EXPLAIN,
    QUERY,
    EXPLAIN_BATCH,
    QUERY_BATCH,
    BUDGET,
)
