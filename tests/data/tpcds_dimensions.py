"""TPC-DS's small tables: what is sold, where and to whom, with the values that queries ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from data.draw import Columns, Draw, Whole, identifiers
from data.tpcds_dates import FIRST, day_key
from data.tpcds_places import NAMES, PLACES, listed, revisions

SIZES = {
    "call_center": 3,
    "catalog_page": 30,
    "customer_demographics": 39_200,
    "household_demographics": 7_200,
    "income_band": 20,
    "item": 120,
    "promotion": 12,
    "reason": 35,
    "ship_mode": 20,
    "store": 8,
    "warehouse": 3,
    "web_page": 12,
    "web_site": 6,
}
"""Rows of the tables whose size doesn't grow with the customers."""

CLASSES = {
    "Books": ("computers", "reference", "self-help", "travel"),
    "Children": ("infants", "newborn", "toddlers"),
    "Electronics": ("personal", "portable", "stereo"),
    "Home": ("bedding", "decor", "rugs"),
    "Jewelry": ("birdal", "estate", "gold"),
    "Men": ("accessories", "pants", "shirts"),
    "Music": ("classical", "pop", "rock"),
    "Shoes": ("athletic", "mens"),
    "Sports": ("fishing", "football", "sailing"),
    "Women": ("dresses", "fragrances", "maternity"),
}
MANUFACTURERS = (128, 129, 270, 350, 423, 677, 694, 738, 750, 770, 808, 821, 940, 977)
COLORS = listed("blanched|burnished|cornflower|floral|forest|light|medium|peach|purple|slate")
UNITS = listed("Box|Bunch|Bundle|Cup|Dozen|Each|Lb|Ounce|Oz|Pound|Tbl")
WIDTHS = listed("N/A|extra large|medium|petite|small")
BRANDS = listed(
    "amalgimporto #1|edu packscholar #1|exportiimporto #1|importoamalg #1"
    "|scholaramalgamalg #14|scholaramalgamalg #7|exportiunivamalg #9|scholaramalgamalg #9"
)
MARRIED = listed("M|S|D|W|U")
EDUCATION = listed("Primary|Secondary|College|2 yr Degree|4 yr Degree|Advanced Degree|Unknown")
CREDIT = listed("Good|Low Risk|High Risk|Unknown")
BUYING = listed("0-500|501-1000|1001-5000|5001-10000|>10000|Unknown")
SHIPPING = listed("EXPRESS|NEXT DAY|OVERNIGHT|REGULAR|TWO DAY")
CARRIERS = listed("UPS|FEDEX|DHL|BARIAN")


def dimensions(random: np.random.Generator) -> dict[str, Columns]:
    """The public tables but for days, seconds, addresses and inventory."""
    return {
        name: make(Draw(random, SIZES[name]), np.arange(1, SIZES[name] + 1))
        for name, make in _TABLES.items()
    }


def _customer_demographics(draw: Draw, keys: Whole) -> Columns:
    del draw
    digits, rest = [], keys - 1
    for base in (2, 5, 7, 20, 4, 7):
        digits.append(rest % base)
        rest = rest // base
    gender, married, education, purchase, credit, children = digits
    return {
        "cd_demo_sk": keys,
        "cd_gender": np.array(("M", "F"))[gender],
        "cd_marital_status": np.array(MARRIED)[married],
        "cd_education_status": np.array(EDUCATION)[education],
        "cd_purchase_estimate": (purchase + 1) * 500,
        "cd_credit_rating": np.array(CREDIT)[credit],
        "cd_dep_count": children,
        "cd_dep_employed_count": (children + education) % 7,
        "cd_dep_college_count": (children + married) % 7,
    }


def _household_demographics(draw: Draw, keys: Whole) -> Columns:
    del draw
    digits, rest = [], keys - 1
    for base in (20, 6, 10, 6):
        digits.append(rest % base)
        rest = rest // base
    income, buying, children, vehicles = digits
    return {
        "hd_demo_sk": keys,
        "hd_income_band_sk": income + 1,
        "hd_buy_potential": np.array(BUYING)[buying],
        "hd_dep_count": children,
        "hd_vehicle_count": vehicles - 1,
    }


def _income_band(draw: Draw, keys: Whole) -> Columns:
    del draw
    lower = (keys - 1) * 10_000
    return {
        "ib_income_band_sk": keys,
        "ib_lower_bound": np.where(keys == 1, 0, lower + 1),
        "ib_upper_bound": lower + 10_000,
    }


def _item(draw: Draw, keys: Whole) -> Columns:
    category = draw.whole(1, len(CLASSES))
    class_id = draw.whole(0, 3)
    classes = list(CLASSES.values())
    named = [
        classes[c - 1][k % len(classes[c - 1])] for c, k in zip(category, class_id, strict=True)
    ]
    brand, maker = draw.whole(1, len(BRANDS)), draw.whole(0, len(MANUFACTURERS) - 1)
    price = np.choose(
        draw.whole(0, 3),
        [draw.whole(99, 149), draw.whole(6200, 9800), draw.whole(5000, 9999), draw.whole(9, 9999)],
    )
    return {
        "i_item_sk": keys,
        **revisions("i", "i_item_id", keys),
        "i_item_desc": [f"Item of description {k}" for k in (keys + 1) // 2],
        "i_current_price": price,
        "i_wholesale_cost": price // 2,
        "i_brand_id": category * 1_000_000 + brand,
        "i_brand": draw.sparse(np.array(BRANDS)[brand - 1], 0.02),
        "i_class_id": class_id,
        "i_class": draw.sparse(np.array(named), 0.02),
        "i_category_id": category,
        "i_category": draw.sparse(np.array(tuple(CLASSES))[category - 1], 0.02),
        "i_manufact_id": np.array(MANUFACTURERS)[maker],
        "i_manufact": np.array(NAMES)[maker % 5],
        "i_size": draw.of(WIDTHS),
        "i_formulation": [f"{k}peru" for k in keys],
        "i_color": draw.of(COLORS),
        "i_units": draw.of(UNITS),
        "i_container": "Unknown",
        "i_manager_id": np.choose(draw.whole(0, 2), [1, 8, 28]),
        "i_product_name": [f"product {k}" for k in keys],
    }


def _promotion(draw: Draw, keys: Whole) -> Columns:
    channels = ("dmail", "email", "catalog", "tv", "radio", "press", "event", "demo")
    return {
        "p_promo_sk": keys,
        "p_promo_id": identifiers(keys),
        "p_start_date_sk": day_key(FIRST) + draw.whole(0, 1000),
        "p_end_date_sk": day_key(FIRST) + draw.whole(1000, 1500),
        "p_item_sk": draw.whole(1, SIZES["item"]),
        "p_cost": 100_000,
        "p_response_target": 1,
        "p_promo_name": draw.of(NAMES),
        **{f"p_channel_{c}": np.where(draw.flag(0.4), "Y", "N") for c in channels},
        "p_channel_details": "Men will not say merely",
        "p_purpose": "Unknown",
        "p_discount_active": "N",
    }


def _reason(draw: Draw, keys: Whole) -> Columns:
    del draw
    return {
        "r_reason_sk": keys,
        "r_reason_id": identifiers(keys),
        "r_reason_desc": [f"reason {k}" for k in keys],
    }


def _ship_mode(draw: Draw, keys: Whole) -> Columns:
    del draw
    return {
        "sm_ship_mode_sk": keys,
        "sm_ship_mode_id": identifiers(keys),
        "sm_type": np.array(SHIPPING)[(keys - 1) % 5],
        "sm_code": np.array(("AIR", "SURFACE", "SEA"))[(keys - 1) % 3],
        "sm_carrier": np.array(CARRIERS)[(keys - 1) % 4],
        "sm_contract": [f"contract {k}" for k in keys],
    }


_TABLES: dict[str, Callable[[Draw, Whole], Columns]] = {
    **PLACES,
    "customer_demographics": _customer_demographics,
    "household_demographics": _household_demographics,
    "income_band": _income_band,
    "item": _item,
    "promotion": _promotion,
    "reason": _reason,
    "ship_mode": _ship_mode,
}
