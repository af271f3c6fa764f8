"""Traversals of plans and expressions, generic over dataclass fields: they list no operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, get_args

from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import Plan

_PLAN = get_args(Plan)
_EXPRESSION = get_args(Expression)

Node = TypeVar("Node")


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


def _sources_first(node: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
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
    return frozenset(
        part
        for expression in expressions
        if expression is not None
        for part in subexpressions(expression)
        if isinstance(part, Column)
    )


def _rebuild(node: Node, rule: Callable[[Any], Any], kinds: tuple[type, ...]) -> Node:
    """`node` with `rule` applied to the nearest descendants that are of `kinds`."""
    changed: dict[str, Any] = {}
    for name in _names(type(node)):
        before = getattr(node, name)
        after = _apply(before, rule, kinds)
        if after is not before:
            changed[name] = after
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def _apply(value: Any, rule: Callable[[Any], Any], kinds: tuple[type, ...]) -> Any:
    if isinstance(value, kinds):
        return rule(value)
    if isinstance(value, tuple):
        items = tuple(_apply(item, rule, kinds) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if _is_part(type(value)):
        return _rebuild(value, rule, kinds)
    return value


def _children(node: Any, kinds: tuple[type, ...]) -> list[Any]:
    found: list[Any] = []
    for name in _names(type(node)):
        _collect(getattr(node, name), kinds, found)
    return found


def _collect(value: Any, kinds: tuple[type, ...], found: list[Any]) -> None:
    """Add the nearest parts of `value` that are of `kinds` to `found`."""
    if isinstance(value, kinds):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, kinds, found)
    elif isinstance(value, _EXPRESSION):
        return  # no operator is part of an expression
    elif _is_part(type(value)):
        found += _children(value, kinds)


def _names(kind: type) -> tuple[str, ...]:
    found = _NAMES.get(kind)
    if found is None:
        found = _NAMES[kind] = tuple(field.name for field in fields(kind))
    return found


def _is_part(kind: type) -> bool:
    """Parts of a plan live in dpsql.plan; a schema's table is not walked into."""
    found = _PARTS.get(kind)
    if found is None:
        own = kind.__module__.startswith("dpsql.plan.")
        found = _PARTS[kind] = own and is_dataclass(kind)
    return found


_NAMES: dict[type, tuple[str, ...]] = {}
_PARTS: dict[type, bool] = {}
"""What reflection says of each class, asked once: plans are walked all the time."""


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
