"""TPC-DS as Parquet files: dpsql's own small database, by the laws of the specification.

DuckDB's generator is an extension that a test can't download. Keys, domains and formulas are the
specification's (3.2.0); rows are fewer, dates gather on some days, and the values that the default
queries ask for are frequent, so that few of their answers are empty. Whoever bought something is
refunded for it.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
from data.draw import Columns, Draw, identifiers, write
from data.tpcds_dates import day_key, days, seconds
from data.tpcds_dimensions import SIZES, dimensions
from data.tpcds_places import PEOPLE, address
from data.tpcds_sales import CATALOG, STORE, WEB, inventory, returns, sales

CUSTOMERS = 300
"""At scale 1."""

COUNTRIES = ("CHILE", "GREECE", "JAPAN", "TOGO", "UNITED STATES")


def generate(folder: Path, scale: float = 1) -> Path:
    """Write TABLE.parquet for the 24 tables; scale 1 has 20,000 sales in stores."""
    random = np.random.default_rng(2452)
    customers = round(CUSTOMERS * scale)
    tables: dict[str, Columns] = {
        "date_dim": days(),
        "time_dim": seconds(),
        **dimensions(random),
        "customer_address": _addresses(Draw(random, customers // 2)),
        "customer": _customers(Draw(random, customers), customers // 2),
        "inventory": inventory(random),
    }
    for channel in (STORE, CATALOG, WEB):
        sold = sales(random, channel, customers)
        tables[f"{channel.name}_sales"] = sold
        tables[f"{channel.name}_returns"] = returns(random, channel, sold, customers)
    folder.mkdir(parents=True, exist_ok=True)
    for name, columns in tables.items():
        write(folder, "tpcds", name, columns)
    return folder


def _addresses(draw: Draw) -> Columns:
    keys = np.arange(1, draw.rows + 1)
    return {
        "ca_address_sk": keys,
        "ca_address_id": identifiers(keys),
        **address(draw, "ca"),
        "ca_location_type": draw.of(("apartment", "condo", "single family")),
    }


def _customers(draw: Draw, addresses: int) -> Columns:
    keys = np.arange(1, draw.rows + 1)
    names = [name.split() for name in draw.of(PEOPLE).tolist()]
    first_sale = day_key(date(1998, 1, 1)) + draw.whole(0, 1500)
    return {
        "c_customer_sk": keys,
        "c_customer_id": identifiers(keys),
        "c_current_cdemo_sk": draw.sparse(draw.whole(1, SIZES["customer_demographics"]), 0.03),
        "c_current_hdemo_sk": draw.sparse(draw.whole(1, SIZES["household_demographics"]), 0.03),
        "c_current_addr_sk": draw.whole(1, addresses),
        "c_first_shipto_date_sk": first_sale + 30,
        "c_first_sales_date_sk": first_sale,
        "c_salutation": draw.of(("Dr.", "Miss", "Mr.", "Mrs.", "Ms.", "Sir")),
        "c_first_name": draw.sparse(np.array([first for first, _ in names]), 0.03),
        "c_last_name": draw.sparse(np.array([last for _, last in names]), 0.03),
        "c_preferred_cust_flag": draw.sparse(np.where(draw.flag(0.7), "Y", "N"), 0.03),
        "c_birth_day": draw.whole(1, 28),
        "c_birth_month": draw.whole(1, 12),
        "c_birth_year": draw.whole(1924, 1992),
        "c_birth_country": draw.of(COUNTRIES),
        "c_login": [None] * draw.rows,
        "c_email_address": [f"{n}@example.com" for n in keys],
        "c_last_review_date_sk": first_sale + 100,
    }
