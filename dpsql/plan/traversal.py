"""Traversals of plans and expressions, generic over dataclass fields: they list no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum, auto
from operator import is_not
from typing import Any, TypeVar, assert_never, get_args

from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Plan, Release

Node = TypeVar("Node")


class _Way(Enum):
    """What a traversal does with a value."""

    TAKE = auto()
    EACH = auto()
    INTO = auto()
    PASS = auto()


class _Kinds(dict[type, _Way]):
    """What is looked for, and by class what to do with a value: asked of each class once.

    Plans are walked all the time. Their parts live in dpsql.plan; a schema's table is not walked
    into, and no operator is part of an expression.
    """

    def __init__(self, kinds: tuple[type, ...]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, kind: type) -> _Way:
        if issubclass(kind, self._kinds):
            way = _Way.TAKE
        elif issubclass(kind, tuple):
            way = _Way.EACH
        elif issubclass(kind, get_args(Expression)):
            way = _Way.PASS
        else:
            own = kind.__module__.startswith("dpsql.plan.")
            way = _Way.INTO if own and is_dataclass(kind) else _Way.PASS
        self[kind] = way
        return way


_PLAN = _Kinds(get_args(Plan))
_EXPRESSION = _Kinds(get_args(Expression))
_ABOVE = _Kinds((*get_args(Expression), Release))


def bottom_up(rule: Callable[[Plan], Plan], plan: Plan) -> Plan:
    """Apply `rule` to every operator of `plan`, sources first."""
    return rule(_rebuild(plan, lambda child: bottom_up(rule, child), _PLAN))


def replace_sources(rule: Callable[[Plan], Plan], plan: Plan) -> Plan:
    """`plan` with `rule` applied to each operator right below it."""
    return _rebuild(plan, rule, _PLAN)


def rewrite_expression(
    rule: Callable[[Expression], Expression], expression: Expression
) -> Expression:
    """Apply `rule` to every part of `expression`, operands first."""
    return rule(_rebuild(expression, lambda child: rewrite_expression(rule, child), _EXPRESSION))


def operators(plan: Plan) -> Iterator[Plan]:
    """Every operator of `plan`, sources first."""
    return _sources_first(plan, _PLAN)


def sources(plan: Plan) -> Iterator[Plan]:
    """The operators right below `plan`."""
    yield from _children(plan, _PLAN)


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Every part of `expression`, the whole last."""
    return _sources_first(expression, _EXPRESSION)


def _sources_first(node: Any, kinds: _Kinds) -> Iterator[Any]:
    # Generators within generators would hand each part up through all levels above it.
    waiting: list[Any] = [node]
    found: list[Any] = []
    while waiting:
        last = waiting.pop()
        found.append(last)
        waiting += _children(last, kinds)
    return iter(found[::-1])


def operands(expression: Expression) -> Iterator[Expression]:
    """The largest parts of `expression` that are expressions."""
    yield from _children(expression, _EXPRESSION)


def columns(*expressions: Expression | None) -> frozenset[Column]:
    """The columns that any of `expressions` reads."""
    found: set[Column] = set()
    waiting: list[Any] = [e for e in expressions if e is not None]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Column):
            found.add(part)  # it has no operands
        else:
            waiting += _children(part, _EXPRESSION)
    return frozenset(found)


def _rebuild(node: Node, rule: Callable[[Any], Any], kinds: _Kinds) -> Node:
    """`node` with `rule` applied to the nearest descendants that are of `kinds`."""
    changed: dict[str, Any] = {}
    for name in _names(type(node)):
        before = getattr(node, name)
        after = _apply(before, rule, kinds)
        if after is not before:
            changed[name] = after
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def _apply(value: Any, rule: Callable[[Any], Any], kinds: _Kinds) -> Any:
    match kinds[type(value)]:
        case _Way.PASS:
            return value
        case _Way.TAKE:
            return rule(value)
        case _Way.EACH:
            items = tuple([_apply(item, rule, kinds) for item in value])
            return items if any(map(is_not, items, value)) else value
        case _Way.INTO:
            return _rebuild(value, rule, kinds)
        case missing:
            assert_never(missing)


def _children(node: Any, kinds: _Kinds) -> list[Any]:
    found: list[Any] = []
    for name in _names(type(node)):
        _collect(getattr(node, name), kinds, found)
    return found


def _collect(value: Any, kinds: _Kinds, nodes: list[Any]) -> None:
    """Add the nearest parts of `value` that are of `kinds` to `nodes`."""
    match kinds[type(value)]:
        case _Way.PASS:
            pass
        case _Way.TAKE:
            nodes.append(value)
        case _Way.EACH:
            for item in value:
                _collect(item, kinds, nodes)
        case _Way.INTO:
            nodes += _children(value, kinds)
        case missing:
            assert_never(missing)


def _names(kind: type) -> tuple[str, ...]:
    found = _NAMES.get(kind)
    if found is None:
        found = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return found


_NAMES: dict[type, tuple[str, ...]] = {}


def renamed_columns(rule: Callable[[Column], Column], plan: Plan) -> Plan:
    """`plan` with `rule` applied to every column that private and public rows have in it.

    What is released stays as it is, and is released once.
    """
    above = [part for part in operators(plan) if isinstance(part, Release)]
    released = {key.column for part in above for key in part.keys}
    released |= {output.column for part in above for output in part.aggregates}

    def changed(part: Any) -> Any:
        if isinstance(part, Release) or part in released:
            return part
        return rule(part) if isinstance(part, Column) else _rebuild(part, changed, _ABOVE)

    return _rebuild(plan, changed, _ABOVE)


def rewrite_top_down(
    rule: Callable[[Expression], Expression | None], expression: Expression
) -> Expression:
    """Replace the largest parts of `expression` for which `rule` gives another."""
    replaced = rule(expression)
    if replaced is not None:
        return replaced
    return _rebuild(expression, lambda child: rewrite_top_down(rule, child), _EXPRESSION)


def expressions(part: Any) -> Iterator[Expression]:
    """The outermost expressions in a part of a plan."""
    found: list[Expression] = []
    if isinstance(part, tuple):
        _collect(part, _EXPRESSION, found)
    else:
        found = _children(part, _EXPRESSION)
    yield from found
