"""Random nests of the functions, operators and casts that servers compute, over typed columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

_COMPARISONS: Final = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_KINDS: Final = (
    *("DOUBLE", "HUGEINT", "BIGINT", "INTEGER", "SMALLINT", "TINYINT"),
    *("DECIMAL(4,1)", "DECIMAL(18,3)", "DECIMAL(38,10)"),
)
_PATTERNS: Final = ("'a%'", "'%_'", "'_'", r"'%\%'", r"'\_'", r"'a\'", "'%😀%'", "'__'")
_DAYS: Final = ("DATE '2024-02-29'", "TIMESTAMP '2024-01-01 00:00:00'", "DATE '1970-01-01'")
_UNITS: Final = ("year", "quarter", "month", "week", "day")
_PARTS: Final = (*_UNITS[:3], "day", "isodow", "hour", "minute")


class Nested:
    """Expressions over `columns`, which are numbers, texts, moments and truth values by name.

    Columns of the family `special` have NaN and infinities, and stand alone: PostgreSQL computes
    nothing of these.
    """

    def __init__(self, random: Random, columns: Mapping[str, Sequence[str]]) -> None:
        self._random = random
        self._columns = columns

    def _one(self, choices: Sequence[str]) -> str:
        return self._random.choice(list(choices))

    def column(self, family: str, otherwise: str) -> str:
        """A column of a family, or a constant where there is none."""
        return self._one(self._columns.get(family) or [otherwise])

    def number(self, depth: int = 2) -> str:
        """A number."""
        column = self.column("number", "2.5")
        if not depth or self._random.random() < 0.25:
            return column
        one, other = self.number(depth - 1), self.number(depth - 1)
        constant = self._one(["2", "3", "-7", "0", "1.5", other])
        forms = [
            *(f"({one} {operator} {other})" for operator in "+-*/"),
            *(f"({one} {operator} {constant})" for operator in ("%", "//")),
            *(f"{name}({one})" for name in ("abs", "floor", "ceil", "round", "trunc", "-")),
            f"round({one}, {self._one(['0', '1', '-1', '3'])})",
            f"greatest({one}, {other})",
            f"least({one}, {other}, {self._one(['0', 'NULL'])})",
            f"coalesce({one}, {constant})",
            f"nullif({one}, {constant})",
            f"CASE WHEN {self.condition(depth - 1)} THEN {one} ELSE {other} END",
            f"CASE WHEN {self.condition(depth - 1)} THEN {one} END",
            f"TRY_CAST({one} AS {self._one(_KINDS)})",
            f"length({self.text(depth - 1)})",
            f"strpos({self.text(depth - 1)}, {self.text(0)})",
            f"{self._one(_PARTS)}({self.moment(depth - 1)})",
            f"CAST({self.condition(depth - 1)} AS INTEGER)",
        ]
        return self._one(forms)

    def text(self, depth: int = 2) -> str:
        """A text."""
        column = self.column("text", "'a'")
        if not depth or self._random.random() < 0.4:
            return self._one([column, column, "''", "'é'", "'😀'", r"'\'"])
        one, other = self.text(depth - 1), self.text(depth - 1)
        forms = [
            f"left({one}, {self._one('0125')})",
            f"substring({one}, {self._one('123')}, {self._one('012')})",
            f"(left({one}, 3) || left({other}, 2))",
            f"coalesce({one}, 'x')",
            f"nullif({one}, '')",
            f"CAST({self.number(0)} AS VARCHAR)",
            f"CAST({self.moment(depth - 1)} AS VARCHAR)",
            f"CASE WHEN {self.condition(depth - 1)} THEN {one} ELSE {other} END",
        ]
        return self._one(forms)

    def moment(self, depth: int = 2) -> str:
        """A day or a moment."""
        column = self.column("moment", _DAYS[0])
        if not depth or self._random.random() < 0.4:
            return column
        one, other = self.moment(depth - 1), self.moment(depth - 1)
        forms = [
            f"date_trunc('{self._one(_UNITS)}', {one})",
            f"CAST({one} AS {self._one(['DATE', 'TIMESTAMP'])})",
            f"coalesce({one}, {_DAYS[0]})",
            f"greatest({one}, {other})",
            f"CASE WHEN {self.condition(depth - 1)} THEN {one} END",
        ]
        return self._one(forms)

    def condition(self, depth: int = 2) -> str:
        """A condition."""
        if depth and self._random.random() < 0.35:
            one, other = self.condition(depth - 1), self.condition(depth - 1)
            return self._one(
                [f"({one} AND {other})", f"({one} OR {other})", f"NOT ({one})", f"({one}) IS FALSE"]
            )
        operator, less = self._one(_COMPARISONS), max(depth - 1, 0)
        number, text, moment = self.number(less), self.text(less), self.moment(less)
        special, truth = self.column("special", "1.5"), self.column("truth", "TRUE")
        forms = [
            f"{number} {operator} {self._one(['0', '1', '0.5', '-1', self.number(less)])}",
            f"{number} IN (0, 1, {self._one(['NULL', '0.5', '-5'])})",
            f"{number} BETWEEN {self.number(less)} AND {self.number(less)}",
            f"{special} {operator} {self._one(['0', '0.1', special, self.column('special', '1')])}",
            f"{special} NOT IN (0, 2.5)",
            f"{text} {operator} {self.text(less)}",
            f"{text} IN ('a', '', 'a ', 'é')",
            f"{text} LIKE {self._one(_PATTERNS)}",
            f"{self._one(['starts_with', 'contains'])}({text}, {self.text(0)})",
            f"{moment} {operator} {self._one([*_DAYS, self.moment(less)])}",
            f"{moment} IS NULL",
            truth,
        ]
        return self._one(forms)
