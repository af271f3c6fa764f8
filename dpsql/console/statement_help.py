r"""What `\h` and `\df` list: dpsql's statements, and the functions that have a rule."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from dpsql.console.completion import function_names
from dpsql.errors import BadParameter
from dpsql.plan.functions import FUNCTIONS
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing

STATEMENTS: Final = (
    ("SELECT … [OPTIONS (epsilon = 0.1, …)]", "an answer, charged; options for it alone"),
    ("EXPLAIN PRIVACY SELECT …", "proof and price, free"),
    ("EXPLAIN PRIVACY (SQL) SELECT …", "with the SQL that the engine would run"),
    ("SHOW TABLES", "what the schema declares, free"),
    ("DESCRIBE table", "a table's columns, free"),
    ("SHOW dpsql.budget", "what was spent and what is left"),
    ("SHOW dpsql.queries", "what one's own statements cost"),
    ("SET dpsql.epsilon = 0.1", "what the next queries spend; = DEFAULT ends it"),
    ("SET dpsql.max_error = 500", "instead, the least ε with ± 500"),
    ("SET dpsql.max_cost = 0.2", "refuses what costs more"),
    ("SET dpsql.min_units = 20", "leaves small groups out"),
    ("SET dpsql.nonnegative = on", "shows no negative counts"),
    ("SET dpsql.weighted_keys = on", "chooses unlisted keys by units, those of few groups first"),
    ("SET dpsql.consistent = on", "makes totals and their parts add up"),
    ("SET dpsql.clamped = off", "shows distinct counts as they were drawn"),
    ("SET dpsql.reuse = on", "sums answers from stored ones, free"),
    ("SET dpsql.groups = 2", "tightens limits; rows_per_group, rows"),
    ("SET dpsql.unit_sum = 5000", "caps what a unit's values sum to in a group"),
    ("SET dpsql.over_groups = scale", "counts units of too many groups less in all of them"),
    ("CREATE RELEASE name AS SELECT …", "keeps an answer as a table, free to read"),
    ("CREATE SYNOPSIS name ON SELECT … WITH (epsilon = 0.5)", "keeps counts of all combinations"),
    (
        "CREATE DASHBOARD name AS (SELECT …; SELECT …) WITH (epsilon = 0.5)",
        "keeps charts, planned as one",
    ),
    ("SHOW dpsql.releases", "the kept tables that one may read"),
    ("DROP RELEASE name", "forgets one"),
    ("SUGGEST BOUNDS column FROM table", "bounds to declare, charged"),
    ("CALIBRATE table MEASURE x BY key FOR 0.5", "ladders, by which limits are chosen"),
    ("DECIDE AMONG loss_a, loss_b FROM table BY day", "an expert for each day, charged"),
    ("ALERT WHEN count(*) > 500 FROM table BY day", "the first day above it, charged once"),
    ("CREATE ALERT name WHEN count(*) > 500 FROM table WITH (epsilon = 0.5)", "keeps an alert"),
    ("CHECK ALERT name", "whether it holds of the data as they are, free"),
    ("SHOW ALERTS", "one's own alerts, and what is left of them"),
)


def statements(word: str) -> str:
    """The statements in whose text `word` is, all for ""; BadParameter if none has it."""
    wanted = word.casefold()
    rows = [row for row in STATEMENTS if wanted in row[0].casefold()]
    if not rows:
        raise BadParameter(f"no statement has {sanitize(word)}", hint=r"\h lists them all")
    return listing(("statement", "what it does"), rows)


def functions(pattern: str) -> str:
    """The functions whose names fit `pattern`, with * for any signs; BadParameter if none does."""
    wanted = pattern.casefold() or "*"
    names = [name for name in function_names() if fnmatchcase(name, wanted)]
    if not names:
        raise BadParameter(
            f"no function is called {sanitize(pattern)}", hint=r"\df lists them, \df date* some"
        )
    return listing(("function", "example"), [[name, _example(name)] for name in names])


def _example(name: str) -> str:
    if name in FUNCTIONS:
        return FUNCTIONS[name].usage
    return f"{name}(avg(x))" if name.startswith("dp_") else f"{name}(x)"
