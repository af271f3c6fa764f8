"""Random statements in PostgreSQL's dialect over the table of `pgwire.asked_of_both`.

A template's places are filled with expressions of the kinds that they name, down to atoms. What
PostgreSQL fails at (division by 0, logarithms of what isn't positive) stays in: it is no answer.
"""

from __future__ import annotations

import re
from random import Random

_PLACE = re.compile(r"\{(\w+)\}")

ATOMS = {
    "number": ("i", "j", "n", "s", "f", "d", "1", "2", "-3", "10", "0", "1.5", "0.25", "-0.5"),
    "text": ("t", "t", "'abc'", "'a_b'", "''", "' pad '", "'É'", "'A,b,C'", "'x%y'", "NULL::text"),
    "truth": ("b", "b", "true", "false", "NULL::boolean"),
    "moment": ("ts", "ts", "timestamp '2024-01-02 03:04:05'", "day::timestamp"),
    "date": ("day", "day", "date '2024-02-29'", "'2023-12-31'::date", "ts::date"),
    "whole": ("i", "j", "n", "s", "1", "2", "-3", "10", "0", "7"),
    "count": ("0", "1", "2", "3", "5", "-1"),
    "size": ("1", "2", "5"),
    "compare": ("<", "<=", "=", "<>", ">", ">=", "!="),
    "no": ("", "not "),
    "like": ("'a%'", "'%b'", r"'a\_b'", "'_x_'", "'%'", "'A%'", "''"),
    "pattern": ("'^a'", "'b$'", "'[0-9]'", r"'\w'", r"'\.'", "'a|b'", "'(a).'", "'[[:alpha:]]'"),
    "flags": ("", ", 'g'", ", 'i'", ", 'gi'"),
    "unit": ("year", "month", "day", "week", "quarter", "hour", "minute", "decade"),
    "part": (
        *("year", "month", "day", "hour", "minute", "second", "dow", "isodow", "doy", "week"),
        *("quarter", "isoyear", "epoch", "decade", "century", "milliseconds"),
    ),
    "length": ("1 day", "1 month", "2 hours", "90 minutes", "1 week", "-1 day", "3 years"),
    "form": (
        *("YYYY-MM-DD", "Mon DD", "Month", "FMMonth YY", "Day", "Dy", "HH24:MI:SS", "HH12:MI AM"),
        *("Q", "IYYY-IW", "DDD", "D", "MM/DD/YYYY", "FMDD", "MS", "US", "WW", "HH:MI:SS pm"),
        *("MON", "mon", "DAY", "day", "FMDay, DD", "ID", "YYYYMMDD"),
    ),
    "type": ("int", "bigint", "smallint", "numeric", "float8", "numeric(12,2)", "real"),
    "frame": ("order by id", "partition by b order by id", "order by t, id", "order by j, id"),
}

TEMPLATES = {
    "number": (
        "({number} + {number})",
        "({number} - {number})",
        "({number} * {number})",
        "({number} / {number})",
        "({whole} % {whole})",
        "abs({number})",
        "ceil({number})",
        "floor({number})",
        "sign({number})",
        "round({number})",
        "trunc({number})",
        "round(d, {size})",
        "round({number}::numeric, {size})",
        "coalesce({number}, {number})",
        "greatest({number}, {number})",
        "least({number}, {number})",
        "nullif({number}, {number})",
        "({number})::{type}",
        "length({text})",
        "octet_length({text})",
        "ascii({text})",
        "position({text} in {text})",
        "extract({part} from {moment})",
        "case when {truth} then {number} else {number} end",
        "mod({whole}, {size})",
        "power({whole}, 2)",
        "({whole} ^ 2)",
        "div({whole}, {size})",
        "({whole} & {size})",
        "({whole} | {size})",
        "(i << {size})",
        "(n >> {size})",
        "({date} - {date})",
        "({truth})::int",
        "sqrt(abs({number}))",
        "cbrt({whole})",
        "width_bucket({number}, 0, 10, 5)",
    ),
    "text": (
        "({text} || {text})",
        "({text} || {number})",
        "({text} || {date})",
        "upper({text})",
        "lower({text})",
        "initcap({text})",
        "reverse({text})",
        "trim({text})",
        "ltrim({text})",
        "btrim({text}, 'a')",
        "trim(both 'a' from {text})",
        "md5({text})",
        "substr({text}, {count})",
        "substring({text} from {count} for {size})",
        "left({text}, {count})",
        "right({text}, {count})",
        "lpad({text}, 5, 'xy')",
        "rpad({text}, 5)",
        "replace({text}, 'a', 'Z')",
        "split_part({text}, ',', {size})",
        "translate({text}, 'ab', 'x')",
        "concat({text}, {number}, {truth})",
        "concat_ws('-', {text}, {text})",
        "({number})::text",
        "({truth})::text",
        "({date})::text",
        "({moment})::text",
        "to_char({moment}, '{form}')",
        "to_char({date}, '{form}')",
        "case when {truth} then {text} else {text} end",
        "coalesce({text}, {text})",
        "nullif({text}, {text})",
        "regexp_replace({text}, {pattern}, '-'{flags})",
        "overlay({text} placing 'ZZ' from 1 for {size})",
        "({text})::varchar({size})",
        "to_hex(i)",
        "to_hex(n)",
        "chr(65)",
    ),
    "truth": (
        "({number} {compare} {number})",
        "({text} {compare} {text})",
        "({date} {compare} {date})",
        "({moment} {compare} {date})",
        "({text} {no}like {like})",
        "({text} {no}ilike {like})",
        "({text} ~ {pattern})",
        "({text} !~* {pattern})",
        "({truth} and {truth})",
        "({truth} or {truth})",
        "(not {truth})",
        "({text} is {no}null)",
        "({number} is {no}null)",
        "({truth} is {no}true)",
        "({truth} is {no}unknown)",
        "({number} {no}in ({whole}, {whole}, NULL))",
        "({number} {no}in ({whole}, {whole}))",
        "({number} {no}between {whole} and {whole})",
        "({number} is {no}distinct from {number})",
        "starts_with({text}, 'a')",
        "(t {no}similar to '%(a|b)%')",
    ),
    "moment": (
        "date_trunc('{unit}', {moment})",
        "({moment} + interval '{length}')",
        "({moment} - interval '{length}')",
        "({date} + interval '{length}')",
        "coalesce({moment}, {moment})",
    ),
    "date": (
        "({date} + {size})",
        "({date} - {size})",
        "({moment})::date",
        "make_date(2024, {size}, 3)",
        "greatest({date}, {date})",
        "to_date('2024-03-0{size}', 'YYYY-MM-DD')",
    ),
    "aggregate": (
        "sum({number})",
        "avg({number})",
        "min({number})",
        "max({text})",
        "count({text})",
        "count(*)",
        "count(*) filter (where {truth})",
        "sum({number}) filter (where {truth})",
        "stddev({number})",
        "var_pop({whole})",
        "string_agg({text}, ',' order by id)",
        "bool_and({truth})",
        "every({truth})",
        "count(distinct {text})",
        "percentile_cont(0.25) within group (order by {whole})",
        "percentile_cont(0.5) within group (order by d)",
        "percentile_disc(0.5) within group (order by f)",
    ),
    "window": (
        "row_number() over ({frame})",
        "rank() over ({frame})",
        "lag(i) over ({frame})",
        "sum(i) over ({frame})",
        "avg(d) over ({frame})",
        "first_value(t) over ({frame})",
        "ntile(2) over ({frame})",
    ),
}

STATEMENTS = (
    *("SELECT id, {number} AS c FROM t ORDER BY id",) * 3,
    *("SELECT id, {text} AS c FROM t ORDER BY id",) * 3,
    *("SELECT id, {truth} AS c FROM t ORDER BY id",) * 2,
    "SELECT id, {moment} AS c, {date} AS e FROM t ORDER BY id",
    "SELECT id, {number}, {text} FROM t ORDER BY id",
    "SELECT id FROM t WHERE {truth} ORDER BY id",
    "SELECT {aggregate} AS c, {aggregate} AS e FROM t",
    "SELECT {truth} AS k, {aggregate} AS c FROM t GROUP BY 1 ORDER BY 1",
    "SELECT id, {window} AS c FROM t ORDER BY id",
    "SELECT DISTINCT {text} AS c FROM t ORDER BY 1",
    "SELECT id FROM t ORDER BY {number} DESC, id LIMIT 3",
    "SELECT id FROM t ORDER BY {text}, id OFFSET 1",
    "SELECT id FROM t WHERE {number} {no}in (SELECT {whole} FROM t) ORDER BY id",
    "SELECT id, (SELECT max({number}) FROM t) AS c FROM t ORDER BY id",
    "SELECT {text} AS k, {aggregate} FROM t GROUP BY k HAVING count(*) {compare} 1 ORDER BY k",
    "SELECT v, w FROM (SELECT id, {number} AS v, {text} AS w FROM t) AS q ORDER BY id",
    "WITH q AS (SELECT {truth} AS k, {number} AS v FROM t) SELECT sum(v) FROM q WHERE k",
    "SELECT {number} AS c FROM t UNION SELECT {whole} FROM t ORDER BY 1",
    "SELECT {text} AS c FROM t EXCEPT SELECT {text} FROM t ORDER BY 1",
)


def statement(random: Random) -> str:
    """A statement whose expressions have up to three levels."""
    return _filled(random, random.choice(STATEMENTS), 3)


def _filled(random: Random, text: str, depth: int) -> str:
    return _PLACE.sub(lambda place: _expression(random, place[1], depth), text)


def _expression(random: Random, kind: str, depth: int) -> str:
    templates = TEMPLATES.get(kind, ())
    if not templates or (kind in ATOMS and (depth == 0 or random.random() < 0.25)):
        return random.choice(ATOMS[kind])
    return _filled(random, random.choice(templates), max(0, depth - 1))
