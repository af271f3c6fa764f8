"""Lists: `= ANY` of an array, and of a parameter that is one; places in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp, parse_one

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.codec.array import items
from dpsql.pgwire.codec.parameter import Bound, Listed
from dpsql.plan.expression import Literal


def check_subscripts(tree: exp.Expr) -> None:
    """Refuse places in lists, of which the parser counts constants from 0."""
    for place in tree.find_all(exp.Bracket):
        raise Refused(
            "a place in a list has no rule", at=span(place), hint="write split_part(x, ',', 1)"
        )


def memberships(tree: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    """The comparisons with ANY or ALL, and the array that each has."""
    found = ((node, _array(node)) for node in tree.find_all(exp.EQ, exp.NEQ))
    return [(node, array) for node, array in found if array is not None]


def _array(node: exp.Expr) -> exp.Expr | None:
    match node, node.expression:
        case (exp.EQ(), exp.Any(this=found)) | (exp.NEQ(), exp.All(this=found)):
            pass
        case exp.NEQ(), exp.Anonymous(expressions=[found]) if node.expression.name.lower() == "all":
            pass
        case _:
            return None
    while isinstance(found, exp.Paren):
        found = found.this
    return found if isinstance(found, exp.Expr) else None


def list_constants(tree: exp.Expr) -> None:
    """`x = ANY ('{a,b}')` becomes `x IN ('a', 'b')`, in place."""
    for node, written in memberships(tree):
        kind, array = None, written
        if isinstance(array, exp.Cast) and array.to.this == exp.DataType.Type.ARRAY:
            kind = array.to.expressions[0] if array.to.expressions else None
            array = array.this
        if not isinstance(array, exp.Literal) or not array.is_string:
            continue
        found = items(array.this)
        if found is None:
            raise Refused(
                "an array of constants isn't written so", at=span(node), hint="write '{1,2,3}'"
            )
        values = [exp.null() if item is None else exp.Literal.string(item) for item in found]
        of = [exp.cast(v, kind) if kind is not None else v for v in values]
        node.replace(listed(node, of))
    for cast in tree.find_all(exp.Cast):
        constants = _constants(cast)
        if constants is not None:
            cast.set("this", exp.Array(expressions=constants))


def _constants(cast: exp.Cast) -> list[exp.Expr] | None:
    """The items of `'{1,2}'::int[]`."""
    written = cast.this
    if cast.to.this != exp.DataType.Type.ARRAY or not isinstance(written, exp.Literal):
        return None
    found = items(written.this) if written.is_string else None
    if found is None:
        return None
    return [exp.null() if item is None else exp.Literal.string(item) for item in found]


def listed(node: exp.Expr, values: Sequence[exp.Expr]) -> exp.Expr:
    """`node`, a comparison with ANY or ALL, as one with `values`."""
    if not values:
        return exp.false() if isinstance(node, exp.EQ) else exp.true()
    found = exp.In(this=node.this.copy(), expressions=list(values))
    return exp.paren(exp.Not(this=found)) if isinstance(node, exp.NEQ) else found


def spread(
    sql: str, values: Mapping[str, Bound], *, is_query: bool
) -> tuple[str, dict[str, Literal]]:
    """The pipeline's text with the items of each array that is given, and all constants."""
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
        found = arrays.get(parameter.name) if isinstance(parameter, exp.Placeholder) else None
        if found is None:
            continue
        node.replace(listed(node, items_of(found)))
    for node in list(tree.find_all(exp.Placeholder)):
        if node.name in arrays:
            node.replace(exp.Array(expressions=items_of(arrays[node.name])))
    left = {node.name for node in tree.find_all(exp.Placeholder)}
    used = {name: text for name, text in texts.items() if name in left}
    return tree.sql(dialect="duckdb"), used | constants
