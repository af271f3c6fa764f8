"""to_char(timestamp, template): each of PostgreSQL's patterns by functions of DuckDB."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from dpsql.errors import Refused, Span

_PLAIN: Final = {
    "YYYY": "%Y",
    "YY": "%y",
    "MM": "%m",
    "DD": "%d",
    "DDD": "%j",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%g",
    "US": "%f",
    "AM": "%p",
    "PM": "%p",
    "IW": "%V",
    "IYYY": "%G",
    "FMMM": "%-m",
    "FMDD": "%-d",
    "FMDDD": "%-j",
    "FMHH24": "%-H",
    "FMHH12": "%-I",
    "FMHH": "%-I",
    "FMMI": "%-M",
    "FMSS": "%-S",
    "FMYYYY": "%Y",
}
"""strftime's patterns for numbers, which PostgreSQL's patterns mean in upper and lower case."""

_NAMES: Final = {"Mon": "%b", "Dy": "%a", "FMMonth": "%B", "FMDay": "%A", "FMMon": "%b"}
_CASED: Final = {"month": "%B", "day": "%A", "mon": "%b", "dy": "%a"}
_ITEM: Final = re.compile(
    r'"(?P<quoted>[^"\\]*)"|(?P<item>(?:FM)?(?:YYYY|IYYY|YY|HH24|HH12|HH|MI|MM|MS|MONTH|MON|SS|US|'
    r"DDD|DD|DAY|DY|D|IW|ID|WW|W|Q|CC|AM|PM))(?!TH)|(?P<mark>[^\w\\\"]|_)",
    re.IGNORECASE,
)
_LONGEST: Final = 9


def written_moment(moment: exp.Expr, template: str, at: Span | None) -> exp.Expr:
    """The text of `moment` by `template`; `Refused`, at `at`, for a pattern that has no rule."""
    parts: list[exp.Expr] = []
    form = ""
    position = 0
    while position < len(template):
        match = _ITEM.match(template, position)
        if match is None:
            raise _no_rule(template[position : position + 4], at)
        position = match.end()
        item = match["item"]
        if item is None:
            form += (match["quoted"] if match["mark"] is None else match["mark"]).replace("%", "%%")
        elif (same := _form(item)) is not None:
            form += same
        else:
            parts += _formed(moment, form)
            parts.append(_computed(moment, item, at))
            form = ""
    parts += _formed(moment, form)
    if not parts:
        return exp.Literal.string("")
    text = parts[0]
    for part in parts[1:]:
        text = exp.DPipe(this=text, expression=part)
    return exp.paren(text) if len(parts) > 1 else text


def _form(item: str) -> str | None:
    if item in _NAMES:
        return _NAMES[item]
    upper = item.upper()
    return _PLAIN.get(upper) if upper not in {"AM", "PM"} or item == upper else None


def _formed(moment: exp.Expr, form: str) -> list[exp.Expr]:
    if not form:
        return []
    if "%" not in form.replace("%%", ""):
        return [exp.Literal.string(form.replace("%%", "%"))]
    return [_strftime(moment, form)]


def _strftime(moment: exp.Expr, form: str) -> exp.Expr:
    return exp.Anonymous(this="strftime", expressions=[moment.copy(), exp.Literal.string(form)])


def _computed(moment: exp.Expr, item: str, at: Span | None) -> exp.Expr:
    plain = item[2:] if item[:2].upper() == "FM" else item
    padded = plain == item
    if (name := _CASED.get(plain.lower())) is not None:
        text = _strftime(moment, name)
        if plain == plain.upper():
            text = exp.Upper(this=text)
        elif plain == plain.lower():
            text = exp.Lower(this=text)
        elif plain != plain.capitalize():
            raise _no_rule(item, at)
        if (padded and len(plain) > 3) or (plain.lower() == "day" and padded):
            text = _call("rpad", text, exp.Literal.number(_LONGEST), exp.Literal.string(" "))
        return text
    match plain.upper():
        case "AM" | "PM":
            return exp.Lower(this=_strftime(moment, "%p"))
        case "Q":
            return _text(_part(moment, "quarter"))
        case "D":
            return _text(exp.Add(this=_part(moment, "dow"), expression=exp.Literal.number(1)))
        case "ID":
            return _text(_part(moment, "isodow"))
        case "W":
            return _text(_week(moment, "day"))
        case "WW":
            return _two(_week(moment, "doy")) if padded else _text(_week(moment, "doy"))
        case "CC":
            century = _part(moment, "century")
            return _two(century) if padded else _text(century)
        case _:
            raise _no_rule(item, at)


def _part(moment: exp.Expr, name: str) -> exp.Expr:
    return exp.Extract(this=exp.var(name), expression=moment.copy())


def _week(moment: exp.Expr, day: str) -> exp.Expr:
    before = exp.Add(this=_part(moment, day), expression=exp.Literal.number(6))
    return exp.IntDiv(this=exp.paren(before), expression=exp.Literal.number(7))


def _text(number: exp.Expr) -> exp.Expr:
    return exp.cast(number, "VARCHAR")


def _two(number: exp.Expr) -> exp.Expr:
    return _call("lpad", _text(number), exp.Literal.number(2), exp.Literal.string("0"))


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(arguments))


def _no_rule(part: str, at: Span | None) -> Refused:
    return Refused(
        f"to_char()'s pattern has no rule at {part!r}",
        at=at,
        hint="""write YYYY, MM, DD, HH24, MI, SS, Mon, Day, Q, IW …, and other text as "text\"""",
    )
