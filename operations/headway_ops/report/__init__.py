"""Reports as one HTML file that needs no network: a verdict in words, charts, and a table behind each."""

from headway_ops.report.charts import Line, bars, lines
from headway_ops.report.page import Chart, Page, Table

__all__ = ["Chart", "Line", "Page", "Table", "bars", "lines"]
