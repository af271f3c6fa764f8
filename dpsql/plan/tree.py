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


def rewrite_expression(
    rule: Callable[[Expression], Expression], expression: Expression
) -> Expression:
    """Apply `rule` to every part of `expression`, operands first."""
    return rule(_rebuild(expression, lambda child: rewrite_expression(rule, child), _EXPRESSION))


def operators(plan: Plan) -> Iterator[Plan]:
    """Every operator of `plan`, sources first."""
    for child in _children(plan, _PLAN):
        yield from operators(child)
    yield plan


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Every part of `expression`, the whole last."""
    for child in _children(expression, _EXPRESSION):
        yield from subexpressions(child)
    yield expression


def operands(expression: Expression) -> Iterator[Expression]:
    """The largest parts of `expression` that are expressions."""
    return _children(expression, _EXPRESSION)


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
    for field in fields(node):  # type: ignore[arg-type]
        before = getattr(node, field.name)
        after = _apply(before, rule, kinds)
        if after is not before:
            changed[field.name] = after
    return replace(node, **changed) if changed else node  # type: ignore[type-var]


def _apply(value: Any, rule: Callable[[Any], Any], kinds: tuple[type, ...]) -> Any:
    if isinstance(value, kinds):
        return rule(value)
    if isinstance(value, tuple):
        items = tuple(_apply(item, rule, kinds) for item in value)
        return items if any(a is not b for a, b in zip(items, value, strict=True)) else value
    if is_dataclass(value) and not isinstance(value, type) and _is_part(value):
        return _rebuild(value, rule, kinds)
    return value


def _children(node: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    for field in fields(node):
        yield from _nearest(getattr(node, field.name), kinds)


def _nearest(value: Any, kinds: tuple[type, ...]) -> Iterator[Any]:
    if isinstance(value, kinds):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _nearest(item, kinds)
    elif is_dataclass(value) and not isinstance(value, type) and _is_part(value):
        yield from _children(value, kinds)


def _is_part(value: Any) -> bool:
    """Parts of a plan live in dpsql.plan; a schema's table is not walked into."""
    return type(value).__module__.startswith("dpsql.plan.")


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
    yield from (
        _nearest(part, _EXPRESSION) if isinstance(part, tuple) else _children(part, _EXPRESSION)
    )
