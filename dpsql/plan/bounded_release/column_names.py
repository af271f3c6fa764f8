"""The columns by which the levels of a release's SQL hand on rows to each other: a name a meaning.

Number n of a statistic, choice or domain is its index among the release's contributions. Names of
one or two letters keep statements short; no table of a schema is read above the lowest level, so
that none of its columns can be taken for one of these.

| name     | what it holds                                                                  |
| -------- | ------------------------------------------------------------------------------ |
| u        | the row's unit                                                                  |
| gn       | the group: the number of a cell of domain n, or the key that no domain lists    |
| kd_n     | key n of domain d, where its cell isn't known yet                               |
| vn, wn   | the argument of statistic n in a row, and the second of a product               |
| rn, qn   | the same in what is clamped: steps, or decimals as they are                      |
| xn, pn   | the argument of cell choice n in a row, and what cells are told apart by         |
| n        | a number of rows: of a unit in a group, or in a cell                             |
| p        | the number of a row's cell, of the choice that a histogram is for                |
| sn       | a sum of statistic n: of a unit in a group, or of a group                        |
| mn       | how many values the sum of statistic n has, each less a center later             |
| b        | a string of bits, of which those of a group's units are 1                      |
| w        | the rows that count of a unit in a group                                        |
| k        | as many of them as count where a unit's rows in all groups are limited         |
| f        | how many parts of it an integer of a unit's sums counts for                      |
| gr       | the rank of a group among its unit's, by which they are drawn                    |
| ur       | how many rows the unit has in all its groups                                     |
"""

from __future__ import annotations

from typing import Final

UNIT: Final = "u"
ROW_COUNT: Final = "n"
CELL_NUMBER: Final = "p"
UNIT_BITS: Final = "b"
WEIGHT: Final = "w"
ROWS_LEFT: Final = "k"
PART_COUNT: Final = "f"
GROUP_RANK: Final = "gr"
UNIT_ROWS: Final = "ur"

DOMAIN_CELL: Final = "cell"
"""The number of a cell, in the table of its domain."""


def group_name(index: int) -> str:
    """Group column `index`."""
    return f"g{index}"


def late_key_name(domain: int, key: int) -> str:
    """Key `key` of a domain that sums are joined to."""
    return f"k{domain}_{key}"


def value_names(statistic: int) -> tuple[str, str]:
    """The arguments of a statistic: the second is of products alone."""
    return f"v{statistic}", f"w{statistic}"


def term_names(statistic: int) -> tuple[str, str]:
    """The same in what is clamped."""
    return f"r{statistic}", f"q{statistic}"


def is_of_row(name: str) -> bool:
    """Whether a column is an argument or a term of a row, which what reads it names repeatedly."""
    return name[:1] in ("v", "w", "r", "q", "x") and name[1:].isdecimal()


def argument_name(choice: int) -> str:
    """The argument of a cell choice."""
    return f"x{choice}"


def coordinate_name(choice: int) -> str:
    """What the cells of a choice are told apart by."""
    return f"p{choice}"


def total_name(statistic: int) -> str:
    """The sum of a statistic."""
    return f"s{statistic}"


def value_count_name(statistic: int) -> str:
    """How many values a statistic's sum has."""
    return f"m{statistic}"


def domain_table_name(domain: int) -> str:
    """The table of a domain's cells; no declared table has a space in its name."""
    return f"domain {domain}"


def domain_alias(domain: int) -> str:
    """What that table is called where rows or sums are joined to it."""
    return f"d{domain}"


def domain_key_name(key: int) -> str:
    """Key `key` of a cell, in the table of its domain."""
    return f"k{key}"
