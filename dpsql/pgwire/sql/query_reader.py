"""A client's text → a query in both dialects, with its parameters' types; each is read once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress

from sqlglot import exp

from dpsql.dbapi.statements.alert import CheckAlert, CreateAlert
from dpsql.dbapi.statements.calibrate import Calibrate
from dpsql.dbapi.statements.create_release import CreateRelease
from dpsql.dbapi.statements.describe import Describe
from dpsql.dbapi.statements.parse import ExplainPrivacy, Query, Show, read_statement
from dpsql.errors import Error, Refused
from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.sql.statement_shape import Shape, shape_of
from dpsql.pgwire.sql.translate import Traits, Translated, computes, translated
from dpsql.pgwire.sql.translation_cache import ReadQuery, TranslationCache
from dpsql.pgwire.sql.tree_search import find_all
from dpsql.pgwire.sql.types.constant_parameters import constant_uses, with_constants
from dpsql.pgwire.sql.types.parameter_types import parameter_types
from dpsql.schema.model import Schema
from dpsql.session.saved.saved_releases import SavedReleases
from dpsql.sqltext.split import spaced, split
from dpsql.structs import replace


class QueryReader:
    """Reads one connection's queries over one edition of the schema."""

    def __init__(
        self,
        schema: Schema,
        cache: TranslationCache,
        saved: SavedReleases,
        reads_catalog: Callable[[exp.Expr], bool],
        turn: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """`turn` is held while a text is parsed."""
        self._schema = schema
        self._cache = cache
        self._saved = saved
        self._reads_catalog = reads_catalog
        self._turn = turn

    def known(self, written: str, types: tuple[int, ...]) -> ReadQuery | None:
        """What `read` makes of `written`, if it was read before and means the same still."""
        known = self._cache.get(written, types)
        return known if known is None or self._is_current(known) else None

    def read(self, written: str, types: tuple[int, ...] = ()) -> ReadQuery:
        """A query in both dialects, with the types of its parameters; 0 in `types` is unknown."""
        shape = None if types else shape_of(written)
        known = self._remembered(written, types, shape)
        if known is not None:
            return known
        with self._turn():
            # Another connection may have read it meanwhile: many open a dashboard at once.
            known = self._remembered(written, types, shape)
            return self._parsed(written, types, shape) if known is None else known

    def with_constants(
        self, query: Translated, inputs: Mapping[str, Bound]
    ) -> tuple[Translated, Mapping[str, Bound]]:
        """`query` with constants for those of `inputs` that it takes as such, and the others."""
        text, insertions, left = with_constants(query.written, inputs, query.uses)
        if self.known(text, query.declared) is None:
            check_may_wait()
        read = self.read(text, query.declared).query
        placed = replace(read, insertions=insertions, blanks=query.blanks, names=query.names)
        return placed, left

    def _remembered(
        self, written: str, types: tuple[int, ...], shape: Shape | None
    ) -> ReadQuery | None:
        known = self.known(written, types)
        if known is None and shape is not None:
            known = self._cache.of_shape(shape, written)
            if known is not None:
                self._cache.add(written, types, known)
        return known

    def _parsed(self, written: str, types: tuple[int, ...], shape: Shape | None) -> ReadQuery:
        saved = self._saved.entries()
        query = self._translated(written, types)
        tree = query.parsed
        oids = parameter_types(query.query_tree, types, self._saved.catalog())
        if oids:
            uses = constant_uses(query.query_tree, oids, self._saved.catalog())
            query = replace(query, declared=types, uses=uses)
        if tree is None:
            return ReadQuery(query, oids)
        try:
            traits = Traits(self._reads_catalog(tree), computes(tree))
        except Refused:  # it names both, and is refused once it runs
            return ReadQuery(query, oids)
        # A kept table's columns may give parameters their types, whatever table is named.
        is_fixed = not oids and self._names_declared(tree)
        read = ReadQuery(query.shared(traits), oids, None if is_fixed else saved)
        if not traits.reads_catalog:
            self._cache.add(written, types, read)
            if shape is not None and is_fixed:
                self._learn(shape, read)
        return read

    def _learn(self, shape: Shape, read: ReadQuery) -> None:
        """Read what has `shape` without a parser from now on, if it is read as `read` was.

        One statement may be all that has a shape: a second one pays for it.
        """
        query = read.query
        if query.refused is not None or self._cache.is_new(shape):
            return
        with suppress(Error):
            alike = self._translated(shape.text, shape.types)
            outcome = alike.names, alike.kinds, alike.refused, shape.written_out(alike.sql)
            if alike.parsed is not None and outcome == (query.names, query.kinds, None, query.sql):
                self._cache.learn(shape, replace(read, query=replace(query, sql=alike.sql)))

    def _is_current(self, known: ReadQuery) -> bool:
        return known.saved is None or known.saved == self._saved.entries()

    def _translated(self, written: str, types: Sequence[int] = ()) -> Translated:
        """A statement in both dialects, whose parameters are declared to be of `types`."""
        text, blanks = spaced(written)
        return replace(self._understood(text, types), blanks=blanks)

    def _understood(self, written: str, types: Sequence[int]) -> Translated:
        statement = read_statement(written)
        match statement:
            case ExplainPrivacy(form=form, with_sql=with_sql):
                options = f"FORMAT {form.name}" + (", SQL" if with_sql else "")
                inner = self._understood(statement.sql, types)
                sql = f"EXPLAIN PRIVACY ({options}) {inner.sql}"
                return Translated(written, sql, None, None, inner.query_tree, refused=inner.refused)
            case CreateRelease():
                # The words before the query and behind it are the same in both dialects.
                first, last = len(statement.sql) - len(statement.sql.lstrip()), len(statement.sql)
                # A dashboard has several.
                inners = [self._read(piece.sql, types) for piece in split(statement.sql)]
                between = "; ".join(inner.sql for inner in inners)
                sql = f"{written[:first]}{between} {written[last:]}".strip()
                tree = inners[0].query_tree if inners else None
                refused = next((i.refused for i in inners if i.refused is not None), None)
                return Translated(written, sql, None, None, tree, refused=refused)
            case Calibrate() | CreateAlert() | CheckAlert() | Describe() | Show():
                return Translated(written, written, None, None)
            case Query(sql=sql) if statement.options:
                inner = self._read(sql, types)
                both = f"{inner.sql} {written[len(sql) :]}"
                return replace(inner, written=written, sql=both)
            case _:
                return self._read(written, types)

    def _read(self, written: str, types: Sequence[int]) -> Translated:
        by_schema = translated(written, self._schema, types)
        if by_schema.parsed is None or self._names_declared(by_schema.parsed):
            return by_schema
        # Saved releases' columns have types, too, which decide how integers are divided.
        return translated(written, self._saved.catalog(), types)

    def _names_declared(self, tree: exp.Expr) -> bool:
        """Whether `tree` names declared tables alone, which hide kept ones of their names."""
        return all(t.name.casefold() in self._cache.declared for t in find_all(tree, exp.Table))
