"""Arrays: `= ANY`, `<> ALL` and `LIKE ANY` of constants and parameters; subscripts, lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp, parse_one

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.codec.array import items
from dpsql.pgwire.codec.parameter import Bound, Listed
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.return_types import PART_BY_PATTERN
from dpsql.plan.expression import Literal


def check_subscripts(tree: exp.Expr) -> None:
    """Refuse subscripts of arrays: the parser makes constant ones count from 0, and no others.

    `(regexp_match(x, pattern))[1]` is a text, and becomes a call of `PART_BY_PATTERN` in place.
    """
    for subscript in list(find_all(tree, exp.Bracket)):
        match subscript.this.unnest(), subscript.expressions:
            case exp.Anonymous(expressions=[_, _] as own) as call, [exp.Literal(this="0" | 0)] if (
                call.name.lower() == "regexp_match"
            ):
                subscript.replace(exp.Anonymous(this=PART_BY_PATTERN, expressions=own))
            case _:
                raise Refused(
                    "a place in a list has no rule",
                    at=span(subscript),
                    hint="write split_part(x, ',', 1), or (regexp_match(x, 'a(.)'))[1]",
                )


def array_lengths(tree: exp.Expr) -> None:
    """Rewrite cardinality() and array_length(x, 1) in place: the latter of no items is NULL.

    A delimiter of string_to_array() that is NULL would part a text into its characters.
    """
    for node in list(find_all(tree, exp.ArraySize, exp.StringToArray, exp.Anonymous)):
        match node:
            case exp.StringToArray():
                if not node.expression.is_string:
                    raise Refused(
                        "string_to_array() takes a constant delimiter here",
                        at=span(node),
                        hint="write string_to_array(x, ',')",
                    )
                continue
            case exp.Anonymous(expressions=[array]) if node.name.lower() == "cardinality":
                length: exp.Expr = exp.Anonymous(this="len", expressions=[array])
            case exp.Anonymous(expressions=[array, of]) if node.name.lower() == "array_upper":
                length = _length(array, of, node)
            case exp.ArraySize():
                length = _length(node.this, node.expression, node)
            case _:
                continue
        node.replace(exp.cast(length, "INTEGER"))


def _length(array: exp.Expr, dimension: exp.Expr | None, node: exp.Expr) -> exp.Expr:
    if not isinstance(dimension, exp.Literal) or dimension.this != "1":
        raise Refused(
            "the length of an array is that of its first dimension here",
            at=span(node),
            hint="write array_length(x, 1)",
        )
    length = exp.Anonymous(this="len", expressions=[array])
    return exp.Nullif(this=length, expression=exp.Literal.number(0))


def memberships(tree: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The comparisons `= ANY` and `<> ALL` in `tree`, each with its array."""
    comparisons = ((node, _array(node)) for node in find_all(tree, exp.EQ, exp.NEQ))
    return [(node, array) for node, array in comparisons if array is not None]


def _array(node: exp.Expr) -> exp.Expr | None:
    match node, node.expression:
        case (exp.EQ(), exp.Any(this=array)) | (exp.NEQ(), exp.All(this=array)):
            pass
        case exp.NEQ(), exp.Anonymous(expressions=[array]) if node.expression.name.lower() == "all":
            pass
        case _:
            return None
    while isinstance(array, exp.Paren):
        array = array.this
    return array if isinstance(array, exp.Expr) else None


def list_constants(tree: exp.Expr) -> None:
    """Rewrite `x = ANY ('{a,b}')` as `x IN ('a', 'b')`, in place."""
    for node, written in memberships(tree):
        values = _written_items(node, written)
        if values is not None:
            node.replace(listed(node, values))
    for cast in find_all(tree, exp.Cast):
        constants = _constants(cast)
        if constants is not None:
            cast.set("this", exp.Array(expressions=constants))


def _written_items(node: exp.Expr, array: exp.Expr) -> list[exp.Expr] | None:
    """The items of '{a,b}', or of a cast of it; None if `array` is no such constant."""
    kind = None
    if isinstance(array, exp.Cast) and array.to.this == exp.DataType.Type.ARRAY:
        kind = array.to.expressions[0] if array.to.expressions else None
        array = array.this
    if not isinstance(array, exp.Literal) or not array.is_string:
        return None
    texts = items(array.this)
    if texts is None:
        raise Refused(
            "an array of constants isn't written so", at=span(node), hint="write '{1,2,3}'"
        )
    values = [exp.null() if item is None else exp.Literal.string(item) for item in texts]
    return [exp.cast(v, kind) if kind is not None else v for v in values]


def spread_patterns(tree: exp.Expr) -> None:
    """Rewrite, in place, `x LIKE ANY (ARRAY['a%', 'b%'])` as a LIKE for each pattern.

    ANY of them is OR, and ALL is AND, of NOT LIKE too.
    """
    for node in list(find_all(tree, exp.Like, exp.ILike, exp.RegexpLike, exp.RegexpILike)):
        patterns = node.expression
        is_all = isinstance(patterns, exp.All) or (
            isinstance(patterns, exp.Anonymous) and patterns.name.lower() == "all"
        )
        if not is_all and not isinstance(patterns, exp.Any):
            continue
        values = _patterns(node, patterns)
        if values is None or (is_all and isinstance(node.parent, exp.Not)):
            raise Refused(
                "a pattern is compared with an array of patterns here",
                at=span(node),
                hint="write x LIKE ANY (ARRAY['a%', 'b%']), or x NOT LIKE ALL (…)",
            )
        matches = [_matched(node, value) for value in values]
        if not matches:
            node.replace(exp.true() if is_all else exp.false())
        else:
            combined = exp.and_(*matches) if is_all else exp.or_(*matches)
            node.replace(exp.paren(combined) if len(matches) > 1 else combined)


def _patterns(node: exp.Expr, patterns: exp.Expr) -> list[exp.Expr] | None:
    array = patterns.expressions[0] if isinstance(patterns, exp.Anonymous) else patterns.this
    while isinstance(array, exp.Paren):
        array = array.this
    if isinstance(array, exp.Array):
        return list(array.expressions)
    return _written_items(node, array)


def _matched(node: exp.Expr, pattern: exp.Expr) -> exp.Expr:
    one = node.copy()
    one.set("expression", pattern.copy())
    return one


def _constants(cast: exp.Cast) -> list[exp.Expr] | None:
    """The items of a cast like `'{1,2}'::int[]` as constants; None if `cast` is no such cast."""
    written = cast.this
    if cast.to.this != exp.DataType.Type.ARRAY or not isinstance(written, exp.Literal):
        return None
    texts = items(written.this) if written.is_string else None
    if texts is None:
        return None
    return [exp.null() if item is None else exp.Literal.string(item) for item in texts]


def listed(node: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    """`node`, a comparison `= ANY` or `<> ALL`, as `IN` or `NOT IN` of `values`."""
    if not values:
        return exp.false() if isinstance(node, exp.EQ) else exp.true()
    membership = exp.In(this=node.this.copy(), expressions=list(values))
    return exp.paren(exp.Not(this=membership)) if isinstance(node, exp.NEQ) else membership


def spread(
    sql: str, values: Mapping[str, Bound], *, is_query: bool
) -> tuple[str, dict[str, Literal]]:
    """`sql` with placeholders for the items of each array, and the constants by their numbers.

    `values` are the parameters by number. Where `is_query` is False, the text stays as it is, and
    arrays are texts.
    """
    constants = {name: value for name, value in values.items() if isinstance(value, Literal)}
    arrays = {name: value for name, value in values.items() if isinstance(value, Listed)}
    texts = {name: value.text for name, value in arrays.items()}
    if not (arrays and is_query):
        return sql, texts | constants
    tree = parse_one(sql, dialect="duckdb")

    def items_of(array: Listed) -> list[exp.Expr]:
        first = len(values) + 1 + len(constants)
        names = [str(first + n) for n in range(len(array.items))]
        constants.update(zip(names, array.items, strict=True))
        return [exp.Placeholder(this=name) for name in names]

    for node, written in memberships(tree):
        parameter = written.this if isinstance(written, exp.Cast) else written
        bound = arrays.get(parameter.name) if isinstance(parameter, exp.Placeholder) else None
        if bound is None:
            continue
        node.replace(listed(node, items_of(bound)))
    for node in list(find_all(tree, exp.Placeholder)):
        if node.name in arrays:
            node.replace(exp.Array(expressions=items_of(arrays[node.name])))
    left = {node.name for node in find_all(tree, exp.Placeholder)}
    used = {name: text for name, text in texts.items() if name in left}
    return tree.sql(dialect="duckdb"), used | constants
