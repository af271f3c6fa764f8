"""Where things are sold in TPC-DS: stores, catalogs, web sites, and their addresses."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import numpy as np
from data.draw import Columns, Draw, Whole, identifiers
from data.tpcds_dates import FIRST, day_key


def listed(text: str) -> tuple[str, ...]:
    """Values that are written with bars between them."""
    return tuple(text.split("|"))


STATES = listed("CA|CO|GA|IL|IN|KY|LA|MS|NM|OH|OR|TN|TX|VA|WI")
COUNTIES = listed("Bronx County|Dona Ana County|Jefferson County|Orange County|Williamson County")
CITIES = listed("Centerville|Edgewood|Fairview|Midway|Oakland")
ZIPS = listed("20548|24128|24289|57834|76232|85392|85460|85669|86197|88274")
NAMES = listed("ought|able|pri|ese|anti|cally|ation|eing|bar")
PEOPLE = listed("Amy Barnes|Carl Jones|Dana Lewis|Javier Moses|Lena Ortiz|Ruth Ward")


def address(draw: Draw, prefix: str) -> Columns:
    """An address in columns that begin with `prefix`."""
    return {
        f"{prefix}_street_number": [str(n) for n in draw.whole(1, 1000)],
        f"{prefix}_street_name": draw.of(("Spring", "6th", "Jackson", "Ash Hill")),
        f"{prefix}_street_type": draw.of(("Ave", "Ln", "Parkway", "Wy")),
        f"{prefix}_suite_number": [f"Suite {n}0" for n in draw.whole(0, 49)],
        f"{prefix}_city": draw.of(CITIES),
        f"{prefix}_county": draw.of(COUNTIES),
        f"{prefix}_state": draw.of(STATES),
        f"{prefix}_zip": draw.of(ZIPS),
        f"{prefix}_country": "United States",
        f"{prefix}_gmt_offset": -100 * draw.whole(5, 8),
    }


def revisions(prefix: str, business_key: str, keys: Whole) -> Columns:
    """Rows come in pairs with one business key: what was valid until 2000, and what is since."""
    old = keys % 2 == 1
    end = [date(2000, 12, 31) if o else None for o in old.tolist()]
    start = [FIRST if o else date(2001, 1, 1) for o in old.tolist()]
    return {
        business_key: identifiers((keys + 1) // 2),
        f"{prefix}_rec_start_date": start,
        f"{prefix}_rec_end_date": end,
    }


def _call_center(draw: Draw, keys: Whole) -> Columns:
    return {
        "cc_call_center_sk": keys,
        **revisions("cc", "cc_call_center_id", keys),
        "cc_closed_date_sk": [None] * draw.rows,
        "cc_open_date_sk": day_key(FIRST),
        "cc_name": draw.of(("NY Metro", "Mid Atlantic", "North Midwest")),
        "cc_class": draw.of(("small", "medium", "large")),
        "cc_employees": draw.whole(1, 7),
        "cc_sq_ft": draw.whole(100, 700),
        "cc_hours": "8AM-4PM",
        "cc_manager": draw.of(PEOPLE),
        "cc_mkt_id": draw.whole(1, 6),
        "cc_mkt_class": "Wide",
        "cc_mkt_desc": "Others",
        "cc_market_manager": draw.of(PEOPLE),
        "cc_division": draw.whole(1, 6),
        "cc_division_name": draw.of(NAMES),
        "cc_company": draw.whole(1, 6),
        "cc_company_name": draw.of(NAMES),
        **address(draw, "cc"),
        "cc_county": "Williamson County",
        "cc_tax_percentage": draw.whole(0, 12),
    }


def _catalog_page(draw: Draw, keys: Whole) -> Columns:
    return {
        "cp_catalog_page_sk": keys,
        "cp_catalog_page_id": identifiers(keys),
        "cp_start_date_sk": day_key(FIRST),
        "cp_end_date_sk": day_key(FIRST) + 181,
        "cp_department": "DEPARTMENT",
        "cp_catalog_number": (keys - 1) // 10 + 1,
        "cp_catalog_page_number": (keys - 1) % 10 + 1,
        "cp_description": "Pages",
        "cp_type": draw.of(("bi-annual", "quarterly", "monthly")),
    }


def _store(draw: Draw, keys: Whole) -> Columns:
    return {
        "s_store_sk": keys,
        "s_store_id": identifiers(keys),
        "s_rec_start_date": [FIRST] * draw.rows,
        "s_rec_end_date": [None] * draw.rows,
        "s_closed_date_sk": [None] * draw.rows,
        "s_store_name": np.array(NAMES)[(keys - 1) % 5],
        "s_number_employees": draw.whole(200, 300),
        "s_floor_space": draw.whole(5_000_000, 10_000_000),
        "s_hours": "8AM-4PM",
        "s_manager": draw.of(PEOPLE),
        "s_market_id": np.where(keys % 2 == 0, 8, keys),
        "s_geography_class": "Unknown",
        "s_market_desc": "High areas",
        "s_market_manager": draw.of(PEOPLE),
        "s_division_id": 1,
        "s_division_name": "Unknown",
        "s_company_id": 1,
        "s_company_name": "Unknown",
        **address(draw, "s"),
        "s_city": np.array(("Midway", "Fairview"))[keys % 2],
        "s_state": np.where(keys % 4 == 0, "GA", "TN"),
        "s_gmt_offset": -500,
        "s_tax_percentage": draw.whole(0, 11),
    }


def _warehouse(draw: Draw, keys: Whole) -> Columns:
    return {
        "w_warehouse_sk": keys,
        "w_warehouse_id": identifiers(keys),
        "w_warehouse_name": [f"Warehouse of the name {k}" for k in keys],
        "w_warehouse_sq_ft": draw.whole(50_000, 1_000_000),
        **address(draw, "w"),
    }


def _web_page(draw: Draw, keys: Whole) -> Columns:
    return {
        "wp_web_page_sk": keys,
        **revisions("wp", "wp_web_page_id", keys),
        "wp_creation_date_sk": day_key(FIRST),
        "wp_access_date_sk": day_key(FIRST) + draw.whole(0, 100),
        "wp_autogen_flag": np.where(draw.flag(0.3), "Y", "N"),
        "wp_customer_sk": [None] * draw.rows,
        "wp_url": "http://www.foo.com",
        "wp_type": draw.of(("ad", "dynamic", "general", "order", "welcome")),
        "wp_char_count": draw.whole(4_800, 5_300),
        "wp_link_count": draw.whole(2, 25),
        "wp_image_count": draw.whole(1, 7),
        "wp_max_ad_count": draw.whole(0, 4),
    }


def _web_site(draw: Draw, keys: Whole) -> Columns:
    return {
        "web_site_sk": keys,
        **revisions("web", "web_site_id", keys),
        "web_name": [f"site_{(k - 1) // 2}" for k in keys],
        "web_open_date_sk": day_key(FIRST),
        "web_close_date_sk": [None] * draw.rows,
        "web_class": "Unknown",
        "web_manager": draw.of(PEOPLE),
        "web_mkt_id": draw.whole(1, 6),
        "web_mkt_class": "Lines",
        "web_mkt_desc": "Decisions",
        "web_market_manager": draw.of(PEOPLE),
        "web_company_id": keys,
        "web_company_name": np.array(("pri", "able", "ought"))[(keys - 1) % 3],
        **address(draw, "web"),
        "web_tax_percentage": draw.whole(0, 12),
    }


PLACES: dict[str, Callable[[Draw, Whole], Columns]] = {
    "call_center": _call_center,
    "catalog_page": _catalog_page,
    "store": _store,
    "warehouse": _warehouse,
    "web_page": _web_page,
    "web_site": _web_site,
}
"""How the rows of each table are drawn, for their keys."""
