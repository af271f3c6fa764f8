"""How sessions of Spark Connect are opened: of their own, with pinned settings, and silent.

pyspark writes a server's errors, which have values of rows, to the client's stderr by loggers of
its own: these are silenced.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from dpsql.engine.source import SparkSource
from dpsql.engine.spark.address import SPARK, read_address
from dpsql.errors import SourceFault
from dpsql.installed_extra import install_extra

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
        # Products of decimals keep all digits after the point: those that are too long are NULL.
        "spark.sql.decimalOperations.allowPrecisionLoss": "false",
        "spark.sql.caseSensitive": "true",
        # '\u0024' is a dollar sign, and '${x}' is four characters.
        "spark.sql.parser.escapedStringLiterals": "false",
        "spark.sql.variable.substitute": "false",
        "spark.sql.ansi.doubleQuotedIdentifiers": "false",
        # Names are those of columns, and no numbers of items nor aliases beside them.
        "spark.sql.groupByOrdinal": "false",
        "spark.sql.orderByOrdinal": "false",
        "spark.sql.groupByAliases": "false",
        "spark.sql.lateralColumnAlias.enableImplicitResolution": "false",
        # A table of an inner WITH is meant before one of an outer.
        "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
        # A path means the files that are there now, not those that it meant before.
        "spark.connect.session.planCache.enabled": "false",
        # Of days before 1582, some files don't say by which calendar: one of them would fail all.
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
        # What can't be read fails: a statement that reads it twice would read two tables.
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
    }
)
"""What a session has to be set to; a server's own settings may be others."""

_LOUD: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""pyspark's loggers of what the server says."""

_RETRIES: Final = 8
_MAX_WAIT_MS: Final = 2000
"""A server that can't be reached is asked for ten seconds: pyspark's own ten minutes are an age."""


def opened_session(source: SparkSource) -> SparkSession:
    """A session of its own, set as `SETTINGS` say; SourceFault if there is none to be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pandas, whose types aren't used
            from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
            from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415
    except ImportError:
        raise SourceFault("a source on Spark needs pyspark", hint=install_extra("spark")) from None
    for logger in _LOUD:
        logging.getLogger(logger).disabled = True
    owners = source.session
    if owners is not None and not hasattr(owners, "newSession"):
        raise SourceFault(
            "the session that was handed in makes no new ones",
            hint=f"hand in a SparkSession of pyspark 4.3, or name {SPARK}host:15002",
        )
    is_set = False
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # By its builder it would be the session that `getOrCreate` gives others of this process.
        opened = Session(read_address(source.url).remote) if owners is None else owners.newSession()
        if isinstance(opened, Session):
            policy = DefaultPolicy(max_retries=_RETRIES, max_backoff=_MAX_WAIT_MS)
            opened.client.set_retry_policies([policy])
        for setting, value in SETTINGS.items():
            opened.conf.set(setting, value)
        is_set = True
    if not is_set:
        raise SourceFault(f"{source} can't be reached", hint="see that its Connect server runs")
    return opened


def end_session(session: SparkSession) -> None:
    """Let the server forget a session, if it is still there.

    One that isn't of Spark Connect is forgotten with its last use: to stop it would stop Spark.
    """
    from pyspark.sql.connect.session import SparkSession as Session  # noqa: PLC0415

    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(session, Session):
            session.stop()


def is_unreachable(error: Any) -> bool:
    """Whether the server can't be reached: pyspark has gRPC's code of it, and none of its own."""
    code = getattr(error, "getGrpcStatusCode", None)
    return code is not None and code().name == "UNAVAILABLE"
