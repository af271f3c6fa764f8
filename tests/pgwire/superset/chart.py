"""Charts as Superset saves them: their looks, and the queries that their plug-ins make of those."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Query = Mapping[str, Any]
COUNT = "count"


def aggregate(function: str, column: str) -> dict[str, Any]:
    return {
        "expressionType": "SIMPLE",
        "column": {"column_name": column},
        "aggregate": function,
        "label": f"{function}({column})",
    }


TOTAL, MEAN = aggregate("SUM", "amount"), aggregate("AVG", "score")
UNITS = {
    "expressionType": "SQL",
    "sqlExpression": "COUNT(DISTINCT customer_id)",
    "label": "customers",
}


def by_month(*metrics: object, series: Sequence[str] = (), grain: str = "P3M") -> Query:
    axis = {
        "timeGrain": grain,
        "columnType": "BASE_AXIS",
        "sqlExpression": "ts",
        "label": "ts",
        "expressionType": "SQL",
    }
    return {"columns": [axis, *series], "metrics": list(metrics), "series_columns": list(series)}


def by(*columns: str, metrics: Sequence[object] = (COUNT,), **more: object) -> Query:
    return {"columns": list(columns), "metrics": list(metrics), "row_limit": 1000, **more}


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart's kind, what its form says beside that, and its queries."""

    name: str
    kind: str
    queries: Sequence[Query]
    form: Mapping[str, object] = field(default_factory=dict)

    def saved(self, dataset: int) -> dict[str, object]:
        """What POST /chart/ takes."""
        form = {"viz_type": self.kind, "datasource": f"{dataset}__table", **self.form}
        return {
            "slice_name": self.name,
            "viz_type": self.kind,
            "datasource_id": dataset,
            "datasource_type": "table",
            "params": json.dumps(form),
            "query_context": json.dumps(self.context(dataset)),
        }

    def context(self, dataset: int) -> dict[str, object]:
        """What POST /chart/data takes."""
        plain = {"filters": [], "extras": {}, "time_range": "No filter", "orderby": []}
        return {
            "datasource": {"id": dataset, "type": "table"},
            "queries": [{**plain, **query} for query in self.queries],
            "form_data": {"viz_type": self.kind, "datasource": f"{dataset}__table", **self.form},
            "result_format": "json",
            "result_type": "full",
            "force": True,
        }


def over_time(name: str, kind: str, metric: object, *series: str) -> Chart:
    form = {
        "x_axis": "ts",
        "time_grain_sqla": "P3M",
        "metrics": [metric],
        "groupby": list(series),
        "row_limit": 1000,
        "truncate_metric": True,
        "show_legend": True,
        "rich_tooltip": True,
    }
    return Chart(name, kind, [by_month(metric, series=series)], form)


SHOWN = (
    Chart("Orders", "big_number_total", [by()], {"metric": COUNT, "header_font_size": 0.4}),
    Chart(
        "Customers", "big_number_total", [by(metrics=[UNITS])],
        {"metric": UNITS, "header_font_size": 0.4},
    ),
    Chart(
        "Orders by status", "pie", [by("status")],
        {"groupby": ["status"], "metric": COUNT, "row_limit": 1000, "show_legend": True,
         "label_type": "key_percent", "outerRadius": 70, "show_labels": True},
    ),
    over_time("Orders per quarter", "echarts_timeseries_bar", COUNT),
    over_time("Amount per quarter", "echarts_timeseries_line", TOTAL),
    over_time("Status per quarter", "echarts_area", COUNT, "status"),
    Chart(
        "Amounts by status", "table", [by("status", metrics=[COUNT, TOTAL])],
        {"query_mode": "aggregate", "groupby": ["status"], "metrics": [COUNT, TOTAL],
         "row_limit": 1000, "table_timestamp_format": "smart_date"},
    ),
    Chart(
        "Status and payment", "pivot_table_v2", [by("status", "paid")],
        {"groupbyRows": ["status"], "groupbyColumns": ["paid"], "metrics": [COUNT],
         "aggregateFunction": "Sum", "row_limit": 1000, "valueFormat": "SMART_NUMBER"},
    ),
)  # fmt: skip
"""The eight of the dashboard."""

OTHERS = (
    Chart("Trend", "big_number", [by_month(COUNT)]),
    over_time("Smooth", "echarts_timeseries_smooth", MEAN),
    over_time("Steps", "echarts_timeseries_step", UNITS),
    over_time("Points", "echarts_timeseries_scatter", TOTAL, "status"),
    Chart("Funnel", "funnel", [by("status")]),
    Chart("Gauge", "gauge_chart", [by("status", metrics=[MEAN])]),
    Chart("Treemap", "treemap_v2", [by("status", "region_id")]),
    Chart("Sunburst", "sunburst_v2", [by("paid", "status", metrics=[TOTAL])]),
    Chart("Heatmap", "heatmap_v2", [by("status", "region_id", metrics=[TOTAL])]),
    Chart("Radar", "radar", [by("status", metrics=[COUNT, TOTAL, MEAN])]),
    Chart("Words", "word_cloud", [by("status", metrics=[TOTAL])]),
    Chart("Two axes", "mixed_timeseries", [by_month(COUNT), by_month(MEAN, series=["paid"])]),
    Chart("Waterfall", "waterfall", [by("status", orderby=[["status", True]])]),
    Chart("Bubbles", "bubble_v2", [by("status", metrics=[COUNT, TOTAL, MEAN])]),
    Chart("Flows", "sankey_v2", [by("status", "paid")]),
    Chart("Graph", "graph_chart", [by("status", "region_id")]),
    Chart("Partition", "partition", [by("status", "paid", metrics=[TOTAL])]),
    Chart(
        "Filtered", "table",
        [by("status", metrics=[COUNT, MEAN], filters=[
            {"col": "qty", "op": ">=", "val": 10},
            {"col": "ts", "op": "TEMPORAL_RANGE", "val": "2023-06-01 : 2024-06-01"},
            {"col": "status", "op": "IN", "val": ["new", "paid"]},
        ], orderby=[[COUNT, False]])],
    ),
)  # fmt: skip

RAW = Chart(
    "All orders", "table",
    [{"columns": ["id", "customer_id", "status", "amount"], "metrics": [], "row_limit": 100}],
    {"query_mode": "raw", "all_columns": ["id", "customer_id", "status", "amount"],
     "row_limit": 100},
)  # fmt: skip
"""What is refused: rows."""
