r"""Statements of dpsql's own, told from queries by their first words, before SQL is parsed.

| statement                          | what it does                              |
| ---------------------------------- | ----------------------------------------- |
| EXPLAIN PRIVACY <query>            | the proof and the price of a query, free  |
| EXPLAIN PRIVACY (SQL) <query>      | with the SQL that the engine would run    |
| EXPLAIN PRIVACY (FORMAT JSON) <query> | as JSON, or HTML, in one value         |
| SHOW TABLES, DESCRIBE table        | what the schema declares, free            |
| SHOW dpsql.budget                  | what was spent and is left                |
| SHOW dpsql.queries                 | what one's own statements cost            |
| SHOW dpsql.epsilon                 | what a query spends, or any other setting |
| SHOW dpsql.releases                | the kept tables that one may read         |
| CREATE RELEASE name AS <query>     | answer a query, and keep the answer       |
| CREATE OR REPLACE RELEASE …        | the same, in place of one of one's own    |
| CREATE SYNOPSIS name ON <query of keys> WITH (epsilon = 0.5) | keep estimated counts    |
| CREATE DASHBOARD name AS (query; query) WITH (epsilon = 0.5) | keep all their answers |
| CALIBRATE table MEASURE x BY keys FOR 0.5 | draw ladders, by which limits are chosen |
| CREATE ALERT name WHEN … WITH (epsilon = 0.5) | pay for an alert, and keep it   |
| CHECK ALERT name                   | what it says of the data as they are      |
| SHOW ALERTS                        | one's own alerts, and what is left of them |
| DROP RELEASE, SYNOPSIS, DASHBOARD, LADDER, ALERT [IF EXISTS] name | forget what one keeps |
| SET dpsql.epsilon = 0.1 (or DEFAULT) | what the next queries spend               |
| SET dpsql.groups = 2               | limits below the schema's: groups, rows_per_group, rows |
| SET dpsql.over_groups = scale      | count units of too many groups less in all |
| SET dpsql.min_units = 20           | leave out groups of fewer units           |
| SET dpsql.nonnegative = on         | show counts below 0 as 0                  |
| SET dpsql.weighted_keys = on       | weigh units of few groups more in keys    |
| SET dpsql.max_error = 10           | spend the least ε that keeps sums within ± 10 |
| SET dpsql.max_cost = 0.2           | refuse statements that cost more          |
| SET dpsql.consistent = on          | make totals and their parts add up, at less noise |
| SET dpsql.clamped = off            | show counts of distinct values as they were drawn |
| SET dpsql.reuse = on               | sum answers from stored ones of more groups: free, noisier |
| SELECT … OPTIONS (epsilon = 0.1, …) | any of these for one statement           |
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice

from msgspec import Struct

from dpsql.dbapi.statements.alert import CheckAlert, CreateAlert, read_alert
from dpsql.dbapi.statements.assignment import Assignment, Setting, assigned
from dpsql.dbapi.statements.calibrate import Calibrate, read_calibrate
from dpsql.dbapi.statements.create_release import CreateRelease, blanked, read_release
from dpsql.dbapi.statements.dashboard import read_dashboard
from dpsql.dbapi.statements.describe import Describe, read_describe
from dpsql.dbapi.statements.options import split_options
from dpsql.dbapi.statements.synopsis import read_synopsis
from dpsql.errors import BadParameter, Refused, Span, SyntaxFault
from dpsql.report.explanation.explanation import OutputFormat
from dpsql.session.compile.request import ANSWER, Request
from dpsql.sqltext.tokens import QUERY_WORDS, Word, words


class Query(Struct, frozen=True):
    """Anything else: for the session to answer or refuse, as the `options` at its end ask."""

    sql: str
    options: tuple[Assignment, ...] = ()

    @property
    def content(self) -> Request:
        """What its releases are for."""
        return ANSWER


class ExplainPrivacy(Struct, frozen=True):
    """`sql` has blanks for the words before the query, so places in it stay what they are."""

    sql: str
    form: OutputFormat = OutputFormat.TEXT
    with_sql: bool = False


class Show(Struct, frozen=True):
    """SHOW dpsql.<setting>."""

    setting: Setting


class DropRelease(Struct, frozen=True):
    """DROP of what is kept as a `kind` of table, or alert; `if_exists`: none is no error."""

    kind: str
    name: str
    if_exists: bool


Priced = Query | CreateRelease | Calibrate | CreateAlert
"""What has a price, which EXPLAIN PRIVACY tells."""

Statement = Priced | CheckAlert | ExplainPrivacy | Describe | Show | Assignment | DropRelease


def read_statement(sql: str) -> Statement:
    """What `sql` asks for, and whom."""
    # The same text is read once for its columns and once for its answer, and again and again.
    return _recently_read(sql) if len(sql) <= _MAX_REMEMBERED else _read_statement(sql)


_MAX_REMEMBERED = 8 * 1024
"""Characters of a text whose statement is remembered."""


def _read_statement(sql: str) -> Statement:
    following = words(sql)
    first_words = list(islice(following, 1))
    if first_words and first_words[0].folded in QUERY_WORDS:
        return Query(*split_options(sql))
    first_words += islice(following, _MAX_WORDS - 1)
    match [word.folded for word in first_words]:
        case ["explain", "privacy", "(", "sql" | "format", *_]:
            return _explain(sql)
        case ["explain", "privacy", *_]:
            return ExplainPrivacy(blanked(sql, first_words[1].end))
        case ["explain", *_]:
            raise Refused(
                "EXPLAIN alone would show how private rows are spread",
                at=first_words[0].span,
                hint="write EXPLAIN PRIVACY SELECT …",
            )
        case ["show", "dpsql", ".", _, *rest]:
            _nothing_else(first_words[4:], rest)
            return Show(_setting(first_words[3]))
        case ["set", "dpsql", ".", _, "=" | "to", _, *rest]:
            _nothing_else(first_words[6:], rest)
            return assigned(_setting(first_words[3]), first_words[3], first_words[5])
        case ["create", "release", *_] | ["create", "or", "replace", "release", *_]:
            return read_release(sql, first_words)
        case ["create", "synopsis", *_] | ["create", "or", "replace", "synopsis", *_]:
            return read_synopsis(sql, first_words)
        case ["create", "dashboard", *_] | ["create", "or", "replace", "dashboard", *_]:
            return read_dashboard(sql, first_words)
        case ["create", "alert", *_] | ["create", "or", "replace", "alert", *_]:
            return read_alert(sql, first_words)
        case ["check", "alert", _, *rest]:
            _nothing_else(first_words[3:], rest)
            return CheckAlert(first_words[2].value, sql.strip())
        case ["show", "alerts", *rest]:
            _nothing_else(first_words[2:], rest)
            return Show(Setting.ALERTS)
        case ["calibrate", *_]:
            return read_calibrate(sql)
        case ["drop", kind, "if", "exists", _, *rest] if kind in _NAMED:
            _nothing_else(first_words[5:], rest)
            return DropRelease(kind, first_words[4].value, if_exists=True)
        case ["drop", kind, _, *rest] if kind in _NAMED:
            _nothing_else(first_words[3:], rest)
            return DropRelease(kind, first_words[2].value, if_exists=False)
        case ["drop", kind, *_] if kind in _NAMED:
            raise SyntaxFault(
                f"DROP {kind.upper()} isn't written so",
                at=Span(first_words[0].start, first_words[-1].end),
                hint=f"write DROP {kind.upper()} name",
            )
        case ["set" | "show", "dpsql", *_]:
            raise SyntaxFault(
                f"{first_words[0].text.upper()} isn't written so",
                at=Span(first_words[0].start, first_words[-1].end),
                hint="write SHOW dpsql.budget, or SET dpsql.epsilon = 0.1",
            )
        case ["set" | "show", name, *_] if name in _SETTINGS:
            raise SyntaxFault(
                f"there is no setting {name}",
                at=first_words[1].span,
                hint=f"write {first_words[0].text} dpsql.{name}",
                fix=f"dpsql.{name}",
            )
        case _:
            return read_describe(first_words) or Query(*split_options(sql))


_SETTINGS = {setting.value for setting in Setting}
_NAMED = {"release", "synopsis", "dashboard", "ladder", "alert"}
"""What DROP forgets."""

_recently_read = lru_cache(maxsize=128)(_read_statement)


def explained(statement: ExplainPrivacy) -> Priced:
    """What EXPLAIN PRIVACY is asked of; what has no price is refused where it is bound."""
    inner = read_statement(statement.sql)
    return inner if isinstance(inner, Priced) else Query(statement.sql)


_MAX_WORDS = 8


def _explain(sql: str) -> ExplainPrivacy:
    """EXPLAIN PRIVACY with options in parentheses, as PostgreSQL writes them."""
    form, with_sql = OutputFormat.TEXT, False
    rest = islice(words(sql), 3, None)
    while (word := next(rest, None)) is not None:
        match word.folded:
            case "sql":
                with_sql = True
            case "format":
                word = next(rest, word)
                try:
                    form = OutputFormat(word.folded)
                except ValueError:
                    raise BadParameter(
                        f"there is no format {word.text}",
                        at=word.span,
                        hint="the formats are text, json, html",
                    ) from None
            case ",":
                pass
            case ")":
                return ExplainPrivacy(blanked(sql, word.end), form, with_sql)
            case _:
                break
    raise SyntaxFault(
        "EXPLAIN PRIVACY isn't written so",
        at=None if word is None else word.span,
        hint="write EXPLAIN PRIVACY (SQL, FORMAT JSON) SELECT …",
    )


def _setting(word: Word) -> Setting:
    try:
        return Setting(word.folded)
    except ValueError:
        raise BadParameter(
            f"there is no setting dpsql.{word.text}",
            at=word.span,
            hint=f"the settings are {', '.join(f'dpsql.{s.value}' for s in Setting)}",
        ) from None


def _nothing_else(words: list[Word], texts: list[str]) -> None:
    rest = [word for word, text in zip(words, texts, strict=True) if text != ";"]
    if rest:
        raise SyntaxFault(
            f"syntax error at or near {rest[0].text!r}",
            at=rest[0].span,
            hint="send one statement at a time",
        )
