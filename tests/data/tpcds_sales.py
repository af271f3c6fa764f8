"""TPC-DS's facts: sales and returns in three channels, and the weekly inventory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
from data.draw import Columns, Draw, Whole
from data.tpcds_dates import FIRST, day_key
from data.tpcds_dimensions import SIZES

LAST_SALE = date(2002, 12, 31)

_BUSY = {
    1998: "05-12 09-08 11-17 12-08",
    1999: "01-12 02-23 03-09 09-14 11-23 12-14",
    2000: "01-03 02-15 03-14 04-04 05-30 06-28 08-29 09-02 09-26 11-14 12-12",
    2001: "01-09 02-13 04-10 04-24 05-15 08-07 11-20 12-11",
    2002: "01-08 02-12 03-05 11-12 12-10",
}
BUSY = tuple(
    day_key(date.fromisoformat(f"{year}-{day}"))
    for year, days in _BUSY.items()
    for day in days.split()
)
"""Days on which much is sold: those that queries ask for are among them."""


@dataclass(frozen=True)
class Channel:
    """Where things are sold; an order has `lines` lines, and its mark-up is at most `markup` %."""

    name: str
    prefix: str
    order: str
    orders_per_customer: int
    lines: tuple[int, int]
    markup: int


STORE = Channel("store", "ss", "ticket_number", 6, (8, 14), 100)
CATALOG = Channel("catalog", "cs", "order_number", 4, (4, 12), 200)
WEB = Channel("web", "ws", "order_number", 3, (4, 10), 200)


def sales(random: np.random.Generator, channel: Channel, customers: int) -> Columns:
    """The lines of all orders; an item is at most once in an order."""
    head = Draw(random, customers * channel.orders_per_customer)
    lines = head.whole(*channel.lines)
    order = np.repeat(np.arange(1, head.rows + 1), lines)
    draw = Draw(random, len(order))

    def of_order(values: Whole) -> Whole:
        return np.repeat(values, lines)

    first = np.repeat(np.cumsum(lines) - lines, lines)
    position = np.arange(draw.rows) - first
    item = (of_order(head.whole(0, SIZES["item"] - 1)) + 7 * position) % SIZES["item"] + 1
    sold = of_order(_sale_day(head))
    buyer = of_order(head.whole(1, customers))
    made = {
        "sold_date_sk": draw.sparse(sold, 0.02),
        "sold_time_sk": draw.sparse(of_order(head.whole(8 * 3600, 21 * 3600)), 0.02),
        "item_sk": item,
        "promo_sk": draw.sparse(draw.whole(1, SIZES["promotion"]), 0.05),
        channel.order: order,
        **_prices(draw, channel),
    }
    demographics = {
        "cdemo_sk": of_order(head.whole(1, SIZES["customer_demographics"])),
        "hdemo_sk": of_order(head.whole(1, SIZES["household_demographics"])),
        "addr_sk": of_order(head.whole(1, customers // 2)),
    }
    if channel is STORE:
        made |= {"customer_sk": buyer, "store_sk": draw.sparse(_of(draw, "store"), 0.04)}
        made |= {name: draw.sparse(values, 0.04) for name, values in demographics.items()}
        return _with_prefix(channel, made)
    gift = of_order(head.flag(0.1).astype(np.int64)) == 1
    recipient = np.where(gift, of_order(head.whole(1, customers)), buyer)
    made |= {
        "bill_customer_sk": buyer,
        "ship_customer_sk": draw.sparse(recipient, 0.04),
        "ship_date_sk": draw.sparse(sold + draw.whole(2, 130), 0.02),
        "warehouse_sk": draw.sparse(_of(draw, "warehouse"), 0.02),
        "ship_mode_sk": draw.sparse(_of(draw, "ship_mode"), 0.02),
    }
    for side in ("bill", "ship"):
        made |= {f"{side}_{n}": draw.sparse(values, 0.04) for n, values in demographics.items()}
    places = ("call_center", "catalog_page") if channel is CATALOG else ("web_page", "web_site")
    made |= {f"{place}_sk": draw.sparse(_of(draw, place), 0.02) for place in places}
    return _with_prefix(channel, made)


def returns(
    random: np.random.Generator, channel: Channel, sold: Columns, customers: int
) -> Columns:
    """A part of what was sold, given back by who bought it."""
    table = pa.table({name: pa.array(column) for name, column in sold.items()})
    table = table.filter(pa.array(random.random(table.num_rows) < 0.15))
    prefix = channel.prefix

    def of_sale(name: str) -> pa.Array:
        return table.column(f"{prefix}_{name}").combine_chunks()

    def number(name: str) -> Whole:
        numbers: Whole = of_sale(name).to_numpy(zero_copy_only=False)
        return numbers

    draw = Draw(random, table.num_rows)
    quantity = np.minimum(number("quantity"), draw.whole(1, 100))
    amount = quantity * number("sales_price")
    tax, fee, ship = amount * draw.whole(0, 9) // 100, draw.whole(50, 10_000), amount // 5
    cash = amount * draw.whole(0, 100) // 100
    charged = (amount - cash) * draw.whole(0, 100) // 100
    bought = of_sale("sold_date_sk").fill_null(day_key(FIRST)).to_numpy()
    busy = np.array(BUSY)[draw.whole(0, len(BUSY) - 1)]
    day = np.where(draw.flag(0.4) & (busy > bought), busy, bought + draw.whole(1, 120))
    made: dict[str, object] = {
        "returned_date_sk": draw.sparse(day, 0.02),
        "item_sk": of_sale("item_sk"),
        "reason_sk": draw.sparse(_of(draw, "reason"), 0.02),
        channel.order: of_sale(channel.order),
        "return_quantity": quantity,
        "return_tax": tax,
        "return_amt_inc_tax": amount + tax,
        "fee": fee,
        "return_ship_cost": ship,
        "refunded_cash": cash,
        "reversed_charge": charged,
        "net_loss": ship + tax + fee,
    }
    time = draw.sparse(draw.whole(8 * 3600, 21 * 3600), 0.02)
    credit = amount - cash - charged
    demographics = ("cdemo_sk", "hdemo_sk", "addr_sk")
    if channel is STORE:
        made |= {"return_time_sk": time, "customer_sk": of_sale("customer_sk")}
        made |= {name: of_sale(name) for name in demographics}
        made |= {"store_sk": of_sale("store_sk"), "return_amt": amount, "store_credit": credit}
        return {f"sr_{name}": column for name, column in made.items()}
    buyer = of_sale("bill_customer_sk")
    other = np.where(draw.flag(0.1), draw.whole(1, customers), buyer.to_numpy())
    made |= {
        "returned_time_sk": time,
        "refunded_customer_sk": buyer,
        "returning_customer_sk": other,
    }
    made |= {f"refunded_{name}": of_sale(f"bill_{name}") for name in demographics}
    made |= {f"returning_{name}": of_sale(f"ship_{name}") for name in demographics}
    if channel is WEB:
        made |= {"web_page_sk": of_sale("web_page_sk")}
        made |= {"return_amt": amount, "account_credit": credit}
        return {f"wr_{name}": column for name, column in made.items()}
    places = ("call_center_sk", "catalog_page_sk", "ship_mode_sk", "warehouse_sk")
    made |= {name: of_sale(name) for name in places}
    made |= {"return_amount": amount, "store_credit": credit}
    return {f"cr_{name}": column for name, column in made.items()}


def inventory(random: np.random.Generator) -> Columns:
    """How much of every second item is in each warehouse on each seventh day."""
    day, item, warehouse = np.meshgrid(
        np.arange(day_key(date(2000, 1, 4)), day_key(date(2001, 12, 31)), 7),
        np.arange(1, SIZES["item"], 2),
        np.arange(1, SIZES["warehouse"] + 1),
    )
    draw = Draw(random, day.size)
    usual = draw.whole(0, 1000)
    return {
        "inv_date_sk": day.ravel(),
        "inv_item_sk": item.ravel(),
        "inv_warehouse_sk": warehouse.ravel(),
        "inv_quantity_on_hand": draw.sparse(np.where(draw.flag(0.3), 0, usual), 0.02),
    }


def _sale_day(draw: Draw) -> Whole:
    usual = draw.whole(day_key(FIRST), day_key(LAST_SALE))
    busy = np.array(BUSY)[draw.whole(0, len(BUSY) - 1)]
    return np.where(draw.flag(0.6), busy, usual)


def _prices(draw: Draw, channel: Channel) -> dict[str, object]:
    """The money of a line in cents, by the formulas of the specification."""
    quantity, cost = draw.whole(1, 100), draw.whole(100, 10_000)
    listed = cost * (100 + draw.whole(0, channel.markup)) // 100
    price = listed * (100 - draw.whole(0, 100)) // 100
    coupon = np.where(draw.flag(0.2), quantity * price * draw.whole(0, 100) // 100, 0)
    paid = quantity * price - coupon
    tax, ship = paid * draw.whole(0, 9) // 100, quantity * (listed * draw.whole(0, 50) // 100)
    shipped = {
        "ext_ship_cost": ship,
        "net_paid_inc_ship": paid + ship,
        "net_paid_inc_ship_tax": paid + ship + tax,
    }
    return {
        "quantity": quantity,
        "wholesale_cost": cost,
        "list_price": listed,
        "sales_price": price,
        "ext_discount_amt": quantity * (listed - price),
        "ext_sales_price": quantity * price,
        "ext_wholesale_cost": quantity * cost,
        "ext_list_price": quantity * listed,
        "ext_tax": tax,
        "coupon_amt": coupon,
        "net_paid": paid,
        "net_paid_inc_tax": paid + tax,
        "net_profit": paid - quantity * cost,
        **({} if channel is STORE else shipped),
    }


def _of(draw: Draw, table: str) -> Whole:
    return draw.whole(1, SIZES[table])


def _with_prefix(channel: Channel, columns: dict[str, object]) -> Columns:
    return {f"{channel.prefix}_{name}": column for name, column in columns.items()}
