"""What a construct that has no rule is called in SQL, and what to write instead."""

from __future__ import annotations

from sqlglot import exp

_NODES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.All: ("ALL (…) here", "write it on the right: x > ALL (SELECT …)"),
    exp.Any: ("ANY (…) here", "write it on the right: x > ANY (SELECT …)"),
    exp.Array: ("a list as a value", "compare with its values: x IN (1, 2)"),
    exp.AtTimeZone: ("AT TIME ZONE", "write convert_timezone('UTC', 'Europe/Berlin', moment)"),
    exp.Bracket: ("[…] that isn't a constant place", "substring(text, 1, 2) takes part of a text"),
    exp.Collate: ("COLLATE", "compare lower(text), which is the same for both cases"),
    exp.Column: ("* of a table as a value", "write count(*), or name one column"),
    exp.Comprehension: ("a list comprehension", "list rows: FROM generate_series(1, 12) AS t(x)"),
    exp.Distinct: ("DISTINCT here", "write count(DISTINCT x)"),
    exp.Dot: ("a part of a value by its name", "name a column: table.column"),
    exp.Kwarg: ("an argument by its name", "write arguments in their order"),
    exp.Lambda: ("a lambda", "write an expression of columns: x + 1"),
    exp.Order: ("ORDER BY in this aggregate", "leave it out, or aggregate in a subquery"),
    exp.Overlaps: ("OVERLAPS", "compare the ends: a_start < b_end AND b_start < a_end"),
    exp.Pivot: ("PIVOT", "write a column for each value: sum(x) FILTER (WHERE kind = 'a') AS a, …"),
    exp.PositionalColumn: ("# and a number", "name the column"),
    exp.PropertyEQ: ("an argument by its name", "write arguments in their order"),
    exp.Select: ("a query here", "name it in FROM or WITH, and its columns here"),
    exp.Slice: ("a slice", "substring(text, 1, 2) takes part of a text"),
    exp.Star: ("* with a pattern, or as a value", "name the columns"),
    exp.Struct: ("a struct", "select its parts as columns: 1 AS a, 2 AS b"),
    exp.Subquery: ("a query here", "name it in FROM or WITH, and its columns here"),
    exp.Tuple: ("a row value here", "name its parts one by one: a, b"),
    exp.Unnest: ("unnest() here", "name it in FROM: FROM unnest([1, 2]) AS t(x)"),
    exp.Values: ("VALUES here", "name it in FROM: FROM (VALUES (1), (2)) AS t(x)"),
}
"""Names and hints for nodes of the parser; other nodes are shown as they are written."""

_SAMPLE = (
    "leave it out: of all rows, an answer at the same price is closer; a secret sample for all"
    " statements is its owner's to declare: budget: {sample: 0.1}"
)
"""For any q, noise of scale 1/ε' on a sample, with ε' = ln(1 + (e^ε - 1)/q) for the same price, is
1/(q·ε') after scaling, and q·ε' ≤ ε by the concavity of ln."""

_PARTS: dict[str, tuple[str, str]] = {
    "count": ("a second argument of min or max", "write max(x), or quantile_cont(x, 0.9)"),
    "into": ("INTO", "leave it out: a query's answer is all that is given"),
    "locks": ("FOR UPDATE or FOR SHARE", "leave it out: one version of the data is read"),
    "match": ("MATCH_RECOGNIZE", "compare neighbours by lag(x) OVER (PARTITION BY … ORDER BY …)"),
    "ordinality": ("WITH ORDINALITY", "number the rows: row_number() OVER (ORDER BY x)"),
    "pivots": _NODES[exp.Pivot],
    "query": ("a subquery here", "ask it in WHERE"),
    "recursive": ("WITH RECURSIVE", "list numbers and dates by generate_series(1, 12) in FROM"),
    "rename": ("* RENAME", "name the columns: a AS b"),
    "replace": ("* REPLACE", "name the columns: a + 1 AS a"),
    "sample": ("a sample for one statement", _SAMPLE),
    "symmetric": ("BETWEEN SYMMETRIC", "write the smaller end first: x BETWEEN 1 AND 5"),
    "totals": ("WITH TOTALS", "write GROUP BY ROLLUP (key)"),
    "unnest": ("IN of unnest()", "write x IN (1, 2, 3)"),
}
"""Names and hints for parts of nodes, by the parser's names of these parts."""

_CASTS = {
    "TIME": "strftime(moment, '%H:%M:%S'), or extract(hour FROM moment)",
    "JSON": "read parts of the text itself: text ->> '$.a'",
    "INTERVAL": "add a constant: moment + INTERVAL 1 DAY",
}
"""What to write instead of casts to types that begin so."""

_FUNCTIONS = {
    "age": "extract(year FROM age(…)) counts full years; of less: date_diff('day', x, y)",
    "average": "avg({0})",
    "array_agg": "SELECT {0}, count(*) … GROUP BY {0}",
    "getdate": "now()",
    "histogram": "SELECT {0}, count(*) … GROUP BY {0}",
    "percentile": "quantile_cont({0}, {1})",
    "reservoir_quantile": "quantile_cont({0}, {1})",
    "std": "stddev({0}) of a sample, or stddev_pop({0})",
    "to_char": "strftime({0}, '%Y-%m-%d')",
    "varp": "var_pop({0})",
}
"""What to write instead of functions, over their arguments."""

_LONGEST = 60


def node_words(node: exp.Expr) -> tuple[str, str]:
    """What `node` is called, and what to write instead."""
    known = _NODES.get(type(node))
    if known is not None:
        return known
    written = node.sql(dialect="duckdb", comments=False)
    shown = written if len(written) <= _LONGEST else f"{written[: _LONGEST - 1]}…"
    return shown, "grammar_notes/ lists what can be written"


def part_words(node: exp.Expr, name: str) -> tuple[str, str]:
    """What the part `name` of `node` is called, and what to write instead."""
    known = _PARTS.get(name)
    if known is not None:
        return known
    words = name.replace("_", " ").strip().upper()
    of = type(node).__name__.upper()
    return (f"{words} of {of}" if words else of), "leave it out"


def cast_words(kind: str) -> tuple[str, str]:
    """What a cast to `kind` is called, and what to write instead."""
    return f"CAST to {kind}", next(
        (hint for start, hint in _CASTS.items() if kind.startswith(start)),
        "cast to a number, DATE, TIMESTAMP, BOOLEAN or VARCHAR",
    )


def function_instead(node: exp.Expr) -> str:
    """What to write instead of a function without a rule; empty for others."""
    name = node.name if isinstance(node, exp.Anonymous) else ""
    if isinstance(node, exp.Func) and not name:
        name = node.sql_name()
    arguments = node.expressions or [node.args.get(part) for part in ("this", "expression")]
    # array_agg(DISTINCT x ORDER BY y) is a group for each x, as array_agg(x) is.
    unordered = [a.this if isinstance(a, exp.Order) else a for a in arguments]
    parts = [p for a in unordered for p in (a.expressions if isinstance(a, exp.Distinct) else [a])]
    shown = [a.sql(dialect="duckdb", comments=False) for a in parts if isinstance(a, exp.Expr)]
    return _FUNCTIONS.get(name.lower(), "").format(*shown, "x", "y")
