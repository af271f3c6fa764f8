"""CALIBRATE: the ladders of a table, drawn part by part, and kept for all later queries.

What a unit contributes to a group is counted within a limit of its groups, and the ladder of
groups, which is drawn first, says how many nearly all units are in. Each part is charged and stored
like any other answer: if a later one is refused, what was drawn is free when it is asked again.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final, assert_never

import pyarrow as pa
from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import (
    declared,
    is_determined,
    unit_determined_columns,
)
from dpsql.bind.query.query import statement_context
from dpsql.bind.statement import NO_PARAMETERS
from dpsql.bind.statements.calibrate import (
    CalibratedRows,
    LadderPart,
    calibrated_rows,
)
from dpsql.bind.statements.ladder_clauses import read_calibration
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.options import ContributionLimits
from dpsql.engine.digest import digest_of
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import Contributions
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.schema.model import Schema
from dpsql.session.answer.answer import Answer
from dpsql.session.answer.answer_construction import build_answer
from dpsql.session.compile.compile import compile_statement
from dpsql.session.compile.request import AnswerRequest, LadderRequest
from dpsql.session.digest.source_digests import SourceDigests
from dpsql.session.ladders.ladder_table import joined_answer
from dpsql.session.ladders.stored_ladders import (
    GROUPS,
    KEYS,
    ROWS,
    SHARES,
    SUMS,
    LadderForm,
    LadderMetadata,
    independent_noise,
)
from dpsql.session.options import QueryOptions
from dpsql.session.run.charge_and_run import charge_and_run
from dpsql.structs import replace

if TYPE_CHECKING:
    from dpsql.session.context import SessionContext

_OF_GROUPS: Final = Fraction(1, 4)
_OF_SHARES: Final = Fraction(1, 10)
"""The parts of the loss that say how many groups a unit is in, and how large a group is."""


class LadderSpec(Struct, frozen=True):
    """CALIBRATE … FOR `epsilon`: `sql` is the statement without that, `statement` what was written.

    `name` is what the ladders are kept as, None for one that follows from what they are of.
    """

    sql: str
    statement: str
    epsilon: Fraction
    name: str | None = None


class DrawnLadders(Struct, frozen=True):
    """Drawn ladders, as an answer of all their counts, and what is kept beside them."""

    answer: Answer
    about: LadderMetadata


class LadderSource(Struct, frozen=True):
    """What the ladders of one statement are of: the rows that are bound, and their digests.

    `shown` is what analysts call the `table`.
    """

    rows: CalibratedRows
    table: str
    shown: str
    keys: tuple[str, ...]
    known: tuple[str, ...]
    measure: str | None

    @property
    def name(self) -> str:
        """A name for the ladders: those of the same rows, keys and measure have the same."""
        of = digest_of("ladders", self.table, *self.keys, "", *self.known, "", self.measure or "")
        return f"ladder_{self.shown.replace('.', '_')[:40]}_{of[:8]}"


def check_calibrator(schema: Schema, analyst: str) -> None:
    """Refuse ladders to whom the owner doesn't let spend the budget on them."""
    allowed = schema.budget.calibrators
    if allowed is not None and analyst not in allowed:
        raise Refused(
            f"{analyst} may not CALIBRATE here",
            hint=f"ask {', '.join(allowed) or 'the owner of the data'}: ladders serve all analysts",
            note="calibrate",
        )


def ladder_source(context: SessionContext, sql: str) -> LadderSource:
    """What `sql` is to be drawn of."""
    bound = statement_context(context.schema, NO_PARAMETERS, context.saved)
    rows = calibrated_rows(read_calibration(sql), bound)
    digests, known = SourceDigests(rows.plan), unit_determined_columns(rows.plan, declared)
    keys = {key: digests.of(key) for key in rows.keys}
    table = highest_fanout_table(Contributions(rows.plan, (), (), ()))
    return LadderSource(
        rows,
        table.name,
        table.display_name,
        tuple(digest for key, digest in keys.items() if not is_determined(key, known)),
        tuple(digest for key, digest in keys.items() if is_determined(key, known)),
        None if rows.measure is None else digests.of(rows.measure),
    )


def ladder_parts(source: LadderSource) -> tuple[LadderRequest, ...]:
    """The parts of the ladders in the order in which they are drawn, with their shares."""
    first: tuple[LadderRequest, ...] = ()
    if source.keys:
        first = (
            LadderRequest(LadderPart.GROUPS, _OF_GROUPS),
            LadderRequest(LadderPart.KEYS, _OF_SHARES),
        )
    elif source.rows.keys:
        first = (LadderRequest(LadderPart.SHARES, _OF_SHARES),)
    left = 1 - sum((part.share for part in first), Fraction(0))
    return (*first, LadderRequest(LadderPart.CONTRIBUTIONS, left))


def ladder_options(spec: LadderSpec, options: QueryOptions) -> QueryOptions:
    """What a part is asked with: nothing that is SET for queries but what they may cost.

    Rungs count whole groups of units, whatever the schema says of those in too many.
    """
    price = replace(options.price, max_error=None)
    return QueryOptions(spec.epsilon, ContributionLimits(rows=1).sampled(), price=price)


def draw_ladders(
    context: SessionContext, spec: LadderSpec, source: LadderSource, options: QueryOptions
) -> DrawnLadders:
    """Draw all parts of the ladders that `spec` asks for; what was drawn before is free."""
    options = ladder_options(spec, options)
    number, lower, upper, deviation = 1, 1, 1, 0
    parts: dict[str, Answer] = {}
    forms: dict[str, LadderForm] = {}
    for request in _drawable(context, spec, source, options):
        name = part_name(request.part, source)
        # One of a unit's groups tells that it is there: more of them would be more noise.
        allowed = 1 if request.part is LadderPart.KEYS else number
        limited = replace(options, limits=replace(options.limits, rows=allowed))
        answer, noise = _part(context, spec, request, limited)
        parts[name] = answer
        if request.part in {LadderPart.GROUPS, LadderPart.CONTRIBUTIONS}:
            forms[name] = LadderForm(source.rows.rungs(request.part), noise)
        if request.part is LadderPart.GROUPS:
            number = _group_limit(answer, forms[name])
        elif request.part is LadderPart.KEYS:
            lower, upper = _ends(answer, number)
        elif request.part is LadderPart.SHARES:
            deviation = math.isqrt(int(noise.variance))
    about = LadderMetadata(
        source.table, source.keys, source.known, source.measure, lower, upper, deviation, forms
    )
    return DrawnLadders(joined_answer(context.schema, parts, forms), about)


def _drawable(
    context: SessionContext, spec: LadderSpec, source: LadderSource, options: QueryOptions
) -> list[LadderRequest]:
    """The parts that can be drawn; one that is refused is, before any of them is charged."""
    drawable = []
    for part in ladder_parts(source):
        try:
            compile_statement(context, spec.sql, options, NO_PARAMETERS, AnswerRequest(part))
        except Refused as error:
            if part.part is not LadderPart.SHARES or error.note != "partition_selection":
                raise
            continue  # keys that nobody listed can't be shown without a delta
        drawable.append(part)
    return drawable


def part_name(part: LadderPart, source: LadderSource) -> str:
    """What a part is called among the rows of the ladders."""
    match part:
        case LadderPart.GROUPS:
            return GROUPS
        case LadderPart.KEYS:
            return KEYS
        case LadderPart.SHARES:
            return SHARES
        case LadderPart.CONTRIBUTIONS:
            return ROWS if source.measure is None else SUMS
        case missing:
            assert_never(missing)


def _part(
    context: SessionContext, spec: LadderSpec, part: LadderRequest, options: QueryOptions
) -> tuple[Answer, IndependentNoise]:
    """The answer of one part, and the noise of its counts."""
    request = AnswerRequest(part)
    compiled = compile_statement(context, spec.sql, options, NO_PARAMETERS, request)
    (release,) = compiled.releases
    with context.turn(compiled):
        answer = build_answer(context, compiled, charge_and_run(context, spec.statement, compiled))
    return answer, independent_noise(release.step.measurement.noise[0])


def _group_limit(answer: Answer, form: LadderForm) -> int:
    """The number of groups within which a unit's contributions are counted: nearly all are."""
    counts = dict(zip(*(answer.table.column(n).to_pylist() for n in (0, 1)), strict=True))
    ladder = form.ladder([counts.get(rung, 0) for rung in range(form.rungs.last + 1)])
    return max(1, int(ladder.rungs[ladder.top()]))


def _ends(answer: Answer, per_unit: int) -> tuple[int, int]:
    """How many groups there are at least, with 97.5 %, and at most, with five to one.

    Many groups call for lower limits than few, whose answers those would cut: the error of taking
    few for many is the larger one.
    """
    (count,), (width,) = answer.table.column(0).to_pylist(), answer.half_widths
    error = (width[0].as_py() if isinstance(width, pa.Array) else width) or 0
    lower = max(per_unit, int(count - error))
    return lower, max(lower, int(count + error / 2))
