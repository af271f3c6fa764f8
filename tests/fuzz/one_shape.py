"""Random statements that differ in constants alone, over the tables of a generated schema.

A statement has conditions of many forms, some of which binding computes with, and each of its
constants is near the column that it is compared with, or hostile: of another type, at the end of
one, written in an odd way, or none at all.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from fractions import Fraction
from random import Random

from fuzz.generated_query import private_tables
from fuzz.generated_schema import lists, sums

from dpsql.schema.model import Column, Schema
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

FORMS = (
    *(["{0} {op} {1}"] * 6),
    *("{1} {op} {0}", "({0} {op} {1})", "NOT ({0} {op} {1})", "{0} BETWEEN {1} AND {2}"),
    *("{0} IN ({1}, {2})", "{0} IN ({1})", "({0} {op} {1} OR {0} = {2})", "{0} {op} ({1})"),
    *("{0} {op} coalesce({1}, {2})", "{0} {op} nullif({1}, {2})", "{0} IS DISTINCT FROM {1}"),
    *("{0} {op} CASE WHEN {1} < {2} THEN {1} ELSE {2} END", "{0} {op} {1} AND {1} < {2}"),
    "{0} {op} {1} AND {0} {op} {2}",
)
NUMBER_FORMS = (
    *("{0} {op} greatest({1}, {2})", "{0} {op} least({1}, {2})", "{0} {op} -{1}", "{0} {op} {1}e0"),
    *("{0} {op} {1} + {2}", "{0} {op} {1} % 5", "{0} {op} abs({1})", "{0} {op} round({1}, 1)"),
    *("{0} + 1 {op} {1}", "{0} {op} CAST({1} AS TINYINT)", "{0} {op} {1}::DECIMAL(9,2)"),
    *("{0} {op} ({1} < {2})::INTEGER", "{0} / 2 {op} {1}", "abs({0}) {op} {1}", "{0} {op} '{1}'"),
)
TEXT_FORMS = (
    *("{0} {op} trim({1})", "{0} {op} lower({1})", "{0} {op} {1} || {2}", "{0} LIKE {1}"),
    *("{0} {op} left({1}, 2)", "{0} {op} replace({1}, {2}, 'b')", "lower({0}) {op} {1}"),
    *("{0} {op} E{1}", "{0} {op} CAST({1} AS VARCHAR)"),
)
DAY_FORMS = (
    *(
        "{0} {op} DATE {1}",
        "{0} {op} TIMESTAMP {1}",
        "{0} {op} {1}::DATE",
        "{0} {op} {1}::TIMESTAMP",
    ),
    *("{0} {op} date_trunc('month', DATE {1})", "{0} {op} DATE {1} + INTERVAL 1 DAY"),
    *("{0} BETWEEN DATE {1} AND DATE {2}", "{0} {op} CAST({1} AS DATE)", "year({0}) {op} 2024"),
)

NUMBERS = (
    *("0", "1", "2", "7", "00", "007", "1.0", "0.50", "00.5", ".5", "1.", "1e0", "1_0", "300"),
    *("127", "128", "255", "256", "32768", "65536", "2147483647", "2147483648", "3000000000"),
    *("0000000001", "4294967296", "999999999999", "9" * 19, "9" * 38, "9" * 40, "1e400", "0.1"),
    *("1234.5", "0012.5", "999.95", "16777217", "0x10", "NULL", "TRUE", "'1'", "' 1'", "'x'"),
)
TEXTS = (
    *("'a'", "'A'", "'b'", "'a '", "' a'", "''", "'it''s'", "'%'", "'_'", "'é'", "'e\u0301'"),
    *("'a\nb'", r"'\d'", "'--'", "'/*'", "'$1'", "'NULL'", "'abcdefghij'", f"'{'x' * 1001}'"),
    *("NULL", "1", "E'a'", "$$a$$", "'t'", "'\U0001f600'"),
)
DAYS = (
    *("'2024-01-15'", "'2024-02-01'", "'2024-01-31'", "'2024-1-15'", "'2024-02-30'", "'x'"),
    *("'0001-01-01'", "'0000-01-01'", "'9999-12-31'", "'9999-12-31 23:59:59'", "'infinity'", "''"),
    *("'2024-01-15 10:11:12'", "'2024-01-15 10:11:12.5'", "'2024-01-15T10:11:12'", "'epoch'"),
    *("'2024-01-15 10:11:12+02'", "'2024-01-15 24:00:00'", "' 2024-01-15'", "'15.1.2024'", "NULL"),
)
OTHERS = ("TRUE", "FALSE", "NULL", "'t'", "1", "'00000000-0000-0000-0000-000000000001'", "'x'")

_PLAIN = (Integer, Decimal, Double, Varchar, Date, Timestamp)
"""Types of which constants are written."""

OPERATORS = ("=", "<>", "!=", "<", "<=", ">", ">=")

BLANKS = (" ", " ", " ", "  ", "\n", " /* 1 */ ")

Place = tuple[Column, str]
"""What a constant is compared with, and what stands for it in a statement's text."""


class OneShape:
    """A statement's text with marks for its constants, each beside a column."""

    def __init__(self, random: Random, schema: Schema) -> None:
        self._random = random
        self._places: list[Place] = []
        table = random.choice(private_tables(schema))
        self._columns = list(table.columns.values())
        self._table = table.name
        forms = [*[self._one] * 4, self._two, self._two, self._derived, self._union]
        self._text = random.choice(forms)()

    def tame(self) -> str:
        """The statement with constants that its columns have, written as one does."""
        return self._filled([self._near(column) for column, _ in self._places])

    def hostile(self) -> str:
        """The statement with at least one constant that is none of these."""
        constants = [self._near(column) for column, _ in self._places]
        for place in self._random.sample(range(len(constants)), min(2, len(constants))):
            constants[place] = self._random.choice(_hostile(self._places[place][0]))
        text = self._filled(constants)
        if self._random.random() < 0.2:
            text = text.replace(" ", self._random.choice(BLANKS), self._random.choice([1, 3, 9]))
        return text

    def _filled(self, constants: Sequence[str]) -> str:
        text = self._text
        for (_, mark), constant in zip(self._places, constants, strict=True):
            text = text.replace(mark, constant)
        return text

    def _one(self) -> str:
        keys, random = self._keys(), self._random
        items = ", ".join([*keys, *(self._call() for _ in range(random.choice([1, 2])))])
        by = f" GROUP BY {', '.join(keys)}" if keys else ""
        if keys and random.random() < 0.3:
            by += random.choice([" HAVING count(*) > 5", " ORDER BY 1 LIMIT 3", " ORDER BY sum(1)"])
        return f"SELECT {items} FROM {self._table} WHERE {self._conditions()}{by}"

    def _two(self) -> str:
        sources = [f"FROM {self._table} WHERE {self._conditions()}" for _ in range(2)]
        if self._random.random() < 0.4:
            column = self._number()
            mark = self._mark(column)
            sources = [
                f"FROM {self._table} WHERE {condition}"
                for condition in (
                    f"{column.name} > {mark}",
                    f"NOT {column.name} <= {self._near(column)}",
                )
            ]
        if self._random.random() < 0.3:
            return " UNION ALL ".join(f"SELECT {self._call()} {source}" for source in sources)
        a, b = (f"(SELECT {self._call()} {source})" for source in sources)
        return f"SELECT {a} AS a, {b} AS b"

    def _derived(self) -> str:
        inner = f"SELECT * FROM {self._table} WHERE {self._conditions()}"
        form = self._random.choice(
            ["SELECT {0} FROM ({1}) AS p WHERE {2}", "WITH p AS ({1}) SELECT {0} FROM p WHERE {2}"]
        )
        return form.format(self._call(), inner, self._conditions())

    def _union(self) -> str:
        key = ", ".join(self._keys()[:1])
        items = ", ".join([*([key] if key else []), self._call()])
        sides = (f"SELECT * FROM {self._table} WHERE {self._conditions()}" for _ in range(2))
        by = f" GROUP BY {key}" if key else ""
        return f"SELECT {items} FROM ({' UNION ALL '.join(sides)}) AS p{by}"

    def _keys(self) -> list[str]:
        keys = [c.name for c in self._columns if lists(c)]
        return self._random.sample(keys, min(len(keys), self._random.choice([0, 1, 1])))

    def _call(self) -> str:
        random, column = self._random, self._random.choice(self._columns)
        added = [c for c in self._columns if sums(c)]
        calls = ["count(*)"] * 12 + [f"count(DISTINCT {column.name})", f"sum({column.name})"]
        if added:
            name = random.choice(added).name
            calls += [f"sum({name})", f"avg({name})", f"sum({name} * 2)"]
        call = random.choice(calls)
        return f"{call} FILTER (WHERE {self._condition()})" if random.random() < 0.1 else call

    def _conditions(self) -> str:
        count = self._random.choice([1, 1, 2, 3])
        return " AND ".join(self._condition() for _ in range(count))

    def _condition(self) -> str:
        random = self._random
        plain = [c for c in self._columns if isinstance(c.type, _PLAIN)]
        column = random.choice(plain if plain and random.random() < 0.9 else self._columns)
        forms = [*FORMS]
        match column.type:
            case Integer() | Decimal() | Double():
                forms += NUMBER_FORMS
            case Varchar():
                forms += TEXT_FORMS
            case Date() | Timestamp():
                forms += DAY_FORMS
            case _:
                pass
        form = random.choice([FORMS[0], random.choice(forms)])
        marks = [self._mark(column) if f"{{{n}}}" in form else "" for n in (1, 2)]
        return form.format(column.name, *marks, op=random.choice(OPERATORS))

    def _number(self) -> Column:
        numbers = [c for c in self._columns if isinstance(c.type, Integer | Decimal)]
        return self._random.choice(numbers or self._columns)

    def _mark(self, column: Column) -> str:
        # A number, which any form may have beside it, and no other text has.
        mark = f"\ue000{len(self._places)}\ue001"
        marks = [m for c, m in self._places if c is column]
        if marks and self._random.random() < 0.15:
            return self._random.choice(marks)
        self._places.append((column, mark))
        return mark

    def _near(self, column: Column) -> str:
        random = self._random
        if column.values is not None and not isinstance(column.type, Boolean):
            return _written(random.choice(column.values))
        match column.type:
            case Integer() | Decimal() | Double():
                low, high = _ends(column)
                middle = (low + high) // 2 + random.choice([-2, -1, 0, 1, 2])
                if isinstance(column.type, Integer):
                    return str(middle)
                return f"{middle}.{random.choice(['25', '50', '75'])}"
            case Varchar():
                return random.choice(["'a'", "'b'", "'c'", "'k'"])
            case Date() | Timestamp():
                return f"'2024-01-{random.choice([10, 11, 12, 13])}'"
            case _:
                return random.choice(OTHERS)


def _ends(column: Column) -> tuple[int, int]:
    ends = column.bounds or (0, 50)
    low, high = (int(end) if isinstance(end, int | Fraction) else 0 for end in ends)
    return low, high


def _written(value: object) -> str:
    return f"'{value}'" if isinstance(value, str | dt.date) else str(value)


def _hostile(column: Column) -> Sequence[str]:
    match column.type:
        case Integer() | Decimal() | Double():
            low, high = _ends(column)
            return (*NUMBERS, *map(str, (low, high, low - 1, high + 1)))
        case Varchar():
            return (*TEXTS, *(f"'{value}'" for value in column.values or ()))
        case Date() | Timestamp():
            return DAYS
        case _:
            return OTHERS
