"""What a policy allows that an earlier one didn't, in words: such edits need the owner's word.

Tighter edits need nobody: a smaller bound or limit only costs accuracy. A declared key or NOT NULL
is verified or costs accuracy too, so neither is in here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any


def loosened(recorded: str, asked: str) -> tuple[str, ...]:
    """How the policy `asked` is looser than `recorded`; both as `policy_text` renders them."""
    old, new = json.loads(recorded), json.loads(asked)
    return (*_refresh(old, new), *_units(old, new), *_tables(old, new), *_caps(old, new))


def _refresh(old: Any, new: Any) -> Iterator[str]:
    was, now = old.get("refresh"), new.get("refresh")
    if was != now:
        yield f"the budget was refreshed {_often(was)}, now {_often(now)}"


def _often(every: str | None) -> str:
    return "never" if every is None else f"every {every}"


def _units(old: Any, new: Any) -> Iterator[str]:
    for name, kind in new["units"].items():
        if name in old["units"] and old["units"][name] != kind:
            yield f"unit {name} was {'.'.join(old['units'][name])}, now {'.'.join(kind)}"


def _tables(old: Any, new: Any) -> Iterator[str]:
    for name, table in new["tables"].items():
        before = old["tables"].get(name)
        if before is None:
            yield f"table {name} is new"
            continue
        if before["owner"] != table["owner"]:
            yield f"the rows of {name} were owned otherwise"
        if before.get("time") != table.get("time"):
            yield f"the time of {name} was {before.get('time')}, now {table.get('time')}"
        limits = ("groups", "rows_per_group", "rows")
        for limit, was, now in zip(limits, before["limits"], table["limits"], strict=True):
            if now > was:
                yield f"limits.{limit} of {name} was {was}, now {now}"
        for column, declared in table["columns"].items():
            yield from _column(f"{name}.{column}", before["columns"].get(column), declared)


def _column(name: str, old: Any, new: Any) -> Iterator[str]:
    if old is None:
        yield f"column {name} is new"
        return
    for what in ("type", "references"):
        if old[what] != new[what]:
            yield f"{what} of {name} was another"
    if old["bounds"] is not None and not _within(old["bounds"], new["bounds"]):
        yield f"bounds of {name} were {_listed(old['bounds'])}, now {_listed(new['bounds'])}"
    if old["values"] is not None and not set(new["values"] or ()) <= set(old["values"]):
        yield f"values of {name} were fewer"
    elif old["values"] is not None and new["values"] is None:
        yield f"values of {name} were listed"


def _caps(old: Any, new: Any) -> Iterator[str]:
    for name, section, place in (
        ("budget.epsilon", "budget", 0),
        ("budget.delta", "budget", 1),
        ("per_query.max_epsilon", "per_query", 1),
    ):
        was, now = (_number(policy[section][place]) for policy in (old, new))
        if now > was:
            yield f"{name} was {_shown(was)}, now {_shown(now)}"
    caps: Mapping[str, str] = new["analysts"]
    for name, cap in old["analysts"].items():
        if name not in caps:
            yield f"analyst {name} had a cap of epsilon {_shown(_number(cap))}, now none"
        elif _number(caps[name]) > _number(cap):
            was, now = _number(cap), _number(caps[name])
            yield f"analyst {name} had a cap of epsilon {_shown(was)}, now {_shown(now)}"


def _within(outer: Sequence[str], inner: Sequence[str] | None) -> bool:
    if inner is None:
        return False
    return _ordered(outer[0]) <= _ordered(inner[0]) and _ordered(inner[1]) <= _ordered(outer[1])


def _ordered(spelled: str) -> tuple[str, Fraction, str]:
    """A bound in an order: numbers as such; dates and times as their text, which is in order."""
    kind, _, text = spelled.partition(" ")
    return (kind, Fraction(text), "") if kind == "number" else (kind, Fraction(0), text)


def _listed(bounds: Sequence[str] | None) -> str:
    return "none" if bounds is None else f"[{', '.join(map(_spelled, bounds))}]"


def _spelled(bound: str) -> str:
    return _shown(_number(bound)) if bound.startswith("number ") else bound.partition(" ")[2]


def _number(spelled: str) -> Fraction:
    return Fraction(spelled.partition(" ")[2])


def _shown(number: Fraction) -> str:
    return f"{float(number):.12g}"
