"""ClickBench's hits as Parquet files, drawn by a law of dpsql's own.

The benchmark's rows are a site's real traffic and can't be downloaded where tests run. Here users
have some hits each, a few sites, pages and phrases have most of them, and the values that the
queries name are among them. Columns that no query reads hold zeros, or nothing.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from data.draw import FIXTURES, Columns, Draw, Whole, write

from dpsql.schema.load.load import load_schema
from dpsql.schema.sql_type import Varchar

USERS = 400
"""At scale 1."""

START = datetime.fromisoformat("2013-07-01")
SEARCHED = ("", "", "", "cars", "karelia", "news of today", "weather", "what is love")
ADDRESSES = (
    "http://example.com/",
    "http://google.com/maps",
    "http://www.example.org/news/today.html",
    "https://shop.example.net/cart?id=7",
    "",
)
TITLES = ("", "Google Maps", "News of today", "A shop", "Cars")
PHONES = ("", "", "", "iPad", "iPhone", "Nokia")
REFERER_HASH, URL_HASH = 3594120000172545465, 2868770270353813622


def generate(folder: Path, scale: float = 1) -> Path:
    """Write users.parquet and hits.parquet; scale 1 has 400 users and some 8,000 hits."""
    random = np.random.default_rng(2013)
    users = Draw(random, round(USERS * scale))
    keys = np.unique(users.whole(10**17, 10**19 // 2))
    hits = users.whole(1, 40)[: len(keys)]
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, "clickbench", "users", {"UserID": keys})
    owner = np.repeat(np.arange(len(keys)), hits)
    drawn = _hits(Draw(random, len(owner)), owner, Draw(random, len(keys)))
    hit = {**_unread(len(owner)), **drawn, "UserID": keys[owner]}
    write(folder, "clickbench", "hits", hit)
    return folder


def _hits(draw: Draw, owner: Whole, user: Draw) -> Columns:
    seconds = draw.whole(0, 31 * 86_400 - 1)
    time = [START + timedelta(seconds=s) for s in seconds.tolist()]
    engine = np.where(draw.flag(0.3), draw.whole(1, 4), 0)
    page, referer = draw.whole(0, 4), draw.whole(0, 4)
    phone = user.whole(0, 5)[owner]
    screen = user.whole(0, 2)[owner]
    return {
        "WatchID": draw.random.permutation(draw.rows) + 10**18,
        "Title": np.array(TITLES)[page],
        "EventTime": time,
        "EventDate": [t.date() for t in time],
        "CounterID": np.where(draw.flag(0.5), 62, draw.whole(1, 20)),
        "ClientIP": user.whole(-(2**31), 2**31 - 1)[owner],
        "RegionID": user.whole(1, 12)[owner],
        "URL": np.array(ADDRESSES)[page],
        "Referer": np.array(ADDRESSES)[referer],
        "IsRefresh": draw.flag(0.1).astype(np.int64),
        "ResolutionWidth": np.array((768, 1366, 1920))[screen],
        "MobilePhone": phone,
        "MobilePhoneModel": np.array(PHONES)[phone],
        "TraficSourceID": np.where(draw.flag(0.2), -1, draw.whole(0, 6)),
        "SearchEngineID": engine,
        "SearchPhrase": np.where(engine > 0, draw.of(SEARCHED), ""),
        "AdvEngineID": np.where(draw.flag(0.2), draw.whole(1, 5), 0),
        "WindowClientWidth": draw.whole(1, 4) * 400,
        "WindowClientHeight": draw.whole(1, 3) * 300,
        "IsLink": draw.flag(0.4).astype(np.int64),
        "IsDownload": draw.flag(0.1).astype(np.int64),
        "DontCountHits": draw.flag(0.1).astype(np.int64),
        "RefererHash": np.where(referer == 1, REFERER_HASH, referer),
        "URLHash": np.where(page == 2, URL_HASH, page),
    }


def _unread(rows: int) -> Columns:
    """Every column: nothing in texts, the first moment in times, zeros else."""
    columns = load_schema(FIXTURES / "clickbench" / "schema.yaml").tables["hits"].columns.values()
    return {
        c.name: ""
        if isinstance(c.type, Varchar)
        else [START] * rows
        if str(c.type) == "TIMESTAMP"
        else 0
        for c in columns
    }
