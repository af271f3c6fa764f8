"""The registry of scalar functions that may be called: one entry each; all others are refused.

| module          | what it holds                                                       |
| --------------- | ------------------------------------------------------------------- |
| function        | an entry: types, domain, total form, constants                      |
| type_rules      | rules for types                                                     |
| domain_rules    | rules for domains                                                   |
| evaluation      | values over finite sets of arguments, computed by the engine itself |
| rounding        | floor, round, abs, sign …                                           |
| numeric         | %, //, gcd, greatest, bits, isnan …                                 |
| transcendental  | sqrt, power, ln, sin …                                              |
| text            | lower, substring, replace, concat, md5 …                            |
| pattern         | LIKE, regular expressions                                           |
| json            | the value at a path of a JSON text                                  |
| date_part       | year, month, hour, epoch, monthname …                               |
| date_trunc      | date_trunc, time_bucket, last_day, strftime                         |
| date_arithmetic | date + 1, timestamp + INTERVAL, date_diff, make_date …              |
| time_zone       | convert_timezone: UTC to local time, and back                       |

COALESCE, NULLIF, IF and CASE are expressions of their own; `/` and `+ - *` on numbers are
arithmetic; `now()` and its like are constants before a statement is bound.
"""

from __future__ import annotations

from dpsql.plan.functions.date_arithmetic import SHIFTS
from dpsql.plan.functions.date_part import PARTS
from dpsql.plan.functions.date_trunc import GRIDS
from dpsql.plan.functions.function import Function
from dpsql.plan.functions.json import DOCUMENTS
from dpsql.plan.functions.numeric import NUMERIC
from dpsql.plan.functions.pattern import PATTERN
from dpsql.plan.functions.rounding import ROUNDING
from dpsql.plan.functions.text import TEXT
from dpsql.plan.functions.time_zone import ZONES
from dpsql.plan.functions.transcendental import TRANSCENDENTAL

FUNCTIONS: dict[str, Function] = {
    function.name: function
    for family in (
        ROUNDING,
        NUMERIC,
        TRANSCENDENTAL,
        TEXT,
        PATTERN,
        DOCUMENTS,
        PARTS,
        GRIDS,
        SHIFTS,
        ZONES,
    )
    for function in family
}
"""Every function by its name."""

ALIASES: dict[str, str] = {
    alias: function.name for function in FUNCTIONS.values() for alias in function.aliases
}
"""The function that each other name stands for."""


def find(name: str) -> Function | None:
    """The function that SQL calls `name`; None if there is none."""
    folded = name.lower()
    return FUNCTIONS.get(ALIASES.get(folded, folded))
