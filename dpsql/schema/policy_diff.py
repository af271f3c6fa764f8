"""In what a policy is looser than an earlier one, in words: such edits need the owner's consent.

Tighter edits need nobody's: a smaller bound or limit only costs accuracy. A declared key or NOT
NULL is verified, or costs accuracy if it is false, so neither is compared here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpsql.engine.read_limit import LARGEST_ANSWER


def policy_relaxations(recorded: str, proposed: str) -> tuple[str, ...]:
    """The ways in which `proposed` is looser than `recorded`, two texts of `policy_text`."""
    old, new = json.loads(recorded), json.loads(proposed)
    comparisons = (_sample, _group_size, _refresh, _units, _tables, _views, _caps)
    return tuple(text for compare in comparisons for text in compare(old, new))


def _sample(old: Any, new: Any) -> Iterator[str]:
    """Of a larger sample more is lost by all that is spent on it; another law is another ledger."""
    was, now = (policy.get("sample", ["number 1"])[0] for policy in (old, new))
    if was != now:
        yield f"budget.sample was {_shown(_number(was))}, now {_shown(_number(now))}"


def _group_size(old: Any, new: Any) -> Iterator[str]:
    """A smaller group of units is hidden together; a larger group needs another ledger."""
    was, now = (policy.get("group_size", 1) for policy in (old, new))
    if now < was:
        yield f"group_size was {was}, now {now}"


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
        if before.get("visible", True) < table.get("visible", True):
            yield f"table {name} was not visible"
        if before.get("rows") is None and table.get("rows") is not None and _answers(table):
            # With a public number of rows, such answers are shown without noise or charge.
            yield f"the number of rows of {name} was no public one, beside randomised answers"
        was, now = before.get("at_least"), table.get("at_least")
        if now is not None and (was is None or was < now):
            yield f"at_least of {name} was {was or 'none'}, now {now}"
        was, now = before.get("resize"), table.get("resize")
        if was is not None and (now is None or was < now):
            yield f"resize of {name} was {was}, now {now or 'none'}"
        if _is_looser_norm(before.get("norm"), table.get("norm")):
            yield f"the norm of {name} was {_norm(before['norm'])}, now {_norm(table.get('norm'))}"
        yield from _limits(name, before["limits"], table["limits"])
        for column, declared in table["columns"].items():
            yield from _column(f"{name}.{column}", before["columns"].get(column), declared)


def _is_looser_norm(old: Any, new: Any) -> bool:
    """A norm that is gone, of other columns or of another order leaves rows that it kept short."""
    if old is None:
        return False
    return new is None or new[:2] != old[:2] or _number(new[2]) > _number(old[2])


def _norm(norm: Any) -> str:
    if norm is None:
        return "none"
    columns, order, radius = norm
    return f"l{order}: {_shown(_number(radius))} of {', '.join(columns)}"


def _answers(table: Any) -> bool:
    return any(
        what in column
        for column in table["columns"].values()
        for what in ("randomized_response", "local_noise")
    )


def _limits(name: str, old: Sequence[int], new: Sequence[int]) -> Iterator[str]:
    limits = ("groups", "rows_per_group", "rows")
    for limit, was, now in zip(limits, old, new, strict=True):
        if now > was:
            yield f"limits.{limit} of {name} was {was}, now {now}"


def _views(old: Any, new: Any) -> Iterator[str]:
    """A view can show tables that are hidden otherwise, so any new text of its query is looser.

    Whether the new query shows more isn't decided: SELECT age FROM people, then SELECT age, name.
    """
    known = old.get("views", {})
    for name, view in new.get("views", {}).items():
        before = known.get(name)
        if before is None:
            yield f"view {name} is new"
            continue
        if before["query"] != view["query"]:
            yield f"the query of view {name} was another"
        if before.get("visible", True) < view.get("visible", True):
            yield f"view {name} was not visible"
        if before["limits"] is not None and view["limits"] is not None:
            yield from _limits(name, before["limits"], view["limits"])
        elif before["limits"] != view["limits"]:
            yield f"limits of view {name} were others"
        for column, was in before["columns"].items():
            now = view["columns"].get(column, {"bounds": None, "values": None})
            yield from _domain(f"{name}.{column}", was, now)
        for column in sorted(view["columns"].keys() - before["columns"].keys()):
            # The domain that was derived before may have been tighter than the declared one.
            yield f"the domain of {name}.{column} was derived from its query"


def _column(name: str, old: Any, new: Any) -> Iterator[str]:
    if old is None:
        yield f"column {name} is new"
        return
    for what in ("type", "references"):
        if old[what] != new[what]:
            yield f"{what} of {name} was another"
    for what in ("randomized_response", "local_noise", "source_name"):
        if old.get(what) != new.get(what):
            yield f"{what} of {name} was another"
    was, now = (column.get("max_length") for column in (old, new))
    if was is not None and (now is None or now > was):
        yield f"max_length of {name} was {was}, now {now or 'none'}"
    yield from _domain(name, old, new)


def _domain(name: str, old: Any, new: Any) -> Iterator[str]:
    if old["bounds"] is not None and not _is_subset(old["bounds"], new["bounds"]):
        yield f"bounds of {name} were {_listed(old['bounds'])}, now {_listed(new['bounds'])}"
    if isinstance(old["values"], str) or isinstance(new["values"], str):
        # Recorded as a hash: of lists that differ, it isn't known whether one contains the other.
        if old["values"] is not None and old["values"] != new["values"]:
            yield f"values of {name} were others"
    elif old["values"] is not None and not set(new["values"] or ()) <= set(old["values"]):
        is_longer = set(new["values"]) > set(old["values"])
        yield f"values of {name} were {'fewer' if is_longer else 'others'}"
    elif old["values"] is not None and new["values"] is None:
        yield f"values of {name} were listed"


def _caps(old: Any, new: Any) -> Iterator[str]:
    for name, section, index in (
        ("budget.epsilon", "budget", 0),
        ("budget.delta", "budget", 1),
        ("per_query.max_epsilon", "per_query", 1),
    ):
        was, now = (_number(policy[section][index]) for policy in (old, new))
        if now > was:
            yield f"{name} was {_shown(was)}, now {_shown(now)}"
    default = [f"number {LARGEST_ANSWER.rows}", f"number {LARGEST_ANSWER.bytes}"]
    old_sizes, new_sizes = (policy.get("largest_answer", default) for policy in (old, new))
    for name, size, old_size, new_size in zip(
        ("max_rows", "max_megabytes"), (1, 10**6), old_sizes, new_sizes, strict=True
    ):
        was, now = _number(old_size) / size, _number(new_size) / size
        if now > was:
            yield f"per_query.{name} was {_shown(was)}, now {_shown(now)}"
    caps: Mapping[str, str] = new["analysts"]
    for name, cap in old["analysts"].items():
        if name not in caps:
            yield f"analyst {name} had a cap of epsilon {_shown(_number(cap))}, now none"
        elif _number(caps[name]) > _number(cap):
            was, now = _number(cap), _number(caps[name])
            yield f"analyst {name} had a cap of epsilon {_shown(was)}, now {_shown(now)}"


def _is_subset(outer: Sequence[str], inner: Sequence[str] | None) -> bool:
    if inner is None:
        return False
    return _ordered(outer[0]) <= _ordered(inner[0]) and _ordered(inner[1]) <= _ordered(outer[1])


def _ordered(spelled: str) -> tuple[str, Fraction, str]:
    """A sort key of a bound: numbers by value; dates and times by text, which sorts like them."""
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
