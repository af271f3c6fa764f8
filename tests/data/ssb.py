"""The Star Schema Benchmark as Parquet files, by the laws of its description (revision 3).

Sizes are dpsql's own, and the nations, cities and brands that queries ask for are more frequent
than others. Prices are in cents.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
from data.draw import Columns, Draw, write

CUSTOMERS, ORDERS, SUPPLIERS, PARTS = 400, 4_000, 120, 600
"""At scale 1."""

NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECI", "5-LOW")
MODES = ("AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK")
COLORS = ("almond", "blue", "coral", "forest", "ghost", "ivory")
FIRST, LAST, LAST_ORDER = date(1992, 1, 1), date(1998, 12, 31), date(1998, 8, 2)


def generate(folder: Path, scale: float = 1) -> Path:
    """Write TABLE.parquet for the five tables; scale 1 has 400 customers and 16,000 lines."""
    random = np.random.default_rng(1992)
    customers = round(CUSTOMERS * scale)
    parts = Draw(random, round(PARTS * scale))
    folder.mkdir(parents=True, exist_ok=True)
    segment = {"c_mktsegment": Draw(random, customers).of(SEGMENTS)}
    write(folder, "ssb", "customer", _partners(Draw(random, customers), "c", "cust") | segment)
    write(folder, "ssb", "supplier", _partners(Draw(random, SUPPLIERS), "s", "supp"))
    write(folder, "ssb", "part", _parts(parts))
    write(folder, "ssb", "date", _dates())
    orders = Draw(random, round(ORDERS * scale))
    write(folder, "ssb", "lineorder", _lines(orders, customers, parts.rows))
    return folder


def _partners(draw: Draw, prefix: str, name: str) -> dict[str, object]:
    regions, places = list(NATIONS), draw.whole(0, 4)
    nation = np.where(draw.flag(0.5), 4, draw.whole(0, 4))
    nations = [NATIONS[regions[p]][n] for p, n in zip(places, nation, strict=True)]
    digit = np.where(draw.flag(0.8), np.choose(draw.whole(0, 1), [1, 5]), draw.whole(0, 9))
    return {
        f"{prefix}_{name}key": np.arange(1, draw.rows + 1),
        f"{prefix}_name": [f"{name}#{n:09}" for n in range(1, draw.rows + 1)],
        f"{prefix}_address": "an address",
        f"{prefix}_city": [f"{n[:9]:9}{d}" for n, d in zip(nations, digit, strict=True)],
        f"{prefix}_nation": nations,
        f"{prefix}_region": [regions[p] for p in places],
        f"{prefix}_phone": [f"{n}-555-0100" for n in draw.whole(10, 34)],
    }


def _parts(draw: Draw) -> Columns:
    maker, category = draw.whole(1, 5), draw.whole(1, 5)
    brand = np.where(draw.flag(0.3), 21, draw.whole(1, 40))
    made = list(zip(maker, category, brand, strict=True))
    return {
        "p_partkey": np.arange(1, draw.rows + 1),
        "p_name": draw.of(COLORS),
        "p_mfgr": [f"MFGR#{m}" for m in maker],
        "p_category": [f"MFGR#{m}{c}" for m, c, _ in made],
        "p_brand1": [f"MFGR#{m}{c}{b}" for m, c, b in made],
        "p_color": draw.of(COLORS),
        "p_type": draw.of(("ECONOMY ANODIZED TIN", "STANDARD BRUSHED STEEL")),
        "p_size": draw.whole(1, 50),
        "p_container": draw.of(("JUMBO BOX", "LG CASE", "WRAP PKG")),
    }


def _dates() -> Columns:
    days = [FIRST + timedelta(n) for n in range((LAST - FIRST).days + 1)]
    return {
        "d_datekey": [_key(day) for day in days],
        "d_date": [f"{day:%B} {day.day}, {day.year}" for day in days],
        "d_dayofweek": [f"{day:%A}" for day in days],
        "d_month": [f"{day:%B}" for day in days],
        "d_year": [day.year for day in days],
        "d_yearmonthnum": [day.year * 100 + day.month for day in days],
        "d_yearmonth": [f"{day:%b}{day.year}" for day in days],
        "d_daynuminweek": [day.isoweekday() % 7 + 1 for day in days],
        "d_daynuminmonth": [day.day for day in days],
        "d_daynuminyear": [day.timetuple().tm_yday for day in days],
        "d_monthnuminyear": [day.month for day in days],
        "d_weeknuminyear": [(day.timetuple().tm_yday - 1) // 7 + 1 for day in days],
        "d_sellingseason": ["Christmas" if day.month >= 11 else "Other" for day in days],
        "d_lastdayinweekfl": [int(day.isoweekday() == 6) for day in days],
        "d_lastdayinmonthfl": [int((day + timedelta(1)).day == 1) for day in days],
        "d_holidayfl": [int((day.month, day.day) in ((1, 1), (12, 25))) for day in days],
        "d_weekdayfl": [int(day.isoweekday() <= 5) for day in days],
    }


def _lines(head: Draw, customers: int, parts: int) -> Columns:
    lines = head.whole(1, 7)
    order = np.repeat(np.arange(head.rows), lines)
    draw = Draw(head.random, len(order))
    part, quantity, discount = draw.whole(1, parts), draw.whole(1, 50), draw.whole(0, 10)
    price = 90_000 + part // 10 % 20_001 + 100 * (part % 1_000)
    extended = quantity * price
    day = head.whole(0, (LAST_ORDER - FIRST).days)
    keys = np.array([_key(FIRST + timedelta(n)) for n in range((LAST - FIRST).days + 1)])
    return {
        "lo_orderkey": order + 1,
        "lo_linenumber": np.arange(draw.rows) - np.repeat(np.cumsum(lines) - lines, lines) + 1,
        # A third of the customers never orders.
        "lo_custkey": head.whole(0, customers // 3 * 2 - 1)[order] // 2 * 3 + 1 + order % 2,
        "lo_partkey": part,
        "lo_suppkey": draw.whole(1, SUPPLIERS),
        "lo_orderdate": keys[day][order],
        "lo_orderpriority": head.of(PRIORITIES)[order],
        "lo_shippriority": 0,
        "lo_quantity": quantity,
        "lo_extendedprice": extended,
        "lo_ordtotalprice": np.bincount(order, extended).astype(np.int64)[order],
        "lo_discount": discount,
        "lo_revenue": extended * (100 - discount) // 100,
        "lo_supplycost": 6 * price // 10,
        "lo_tax": draw.whole(0, 8),
        "lo_commitdate": keys[day[order] + draw.whole(30, 90)],
        "lo_shipmode": draw.of(MODES),
    }


def _key(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day
