"""Reports as one HTML file that needs no network: a verdict in words, charts, and a table behind each."""

from headway_ops.report.charts import Chart, Line, Table, bars, lines
from headway_ops.report.page import Page

__all__ = ["Chart", "Line", "Page", "Table", "bars", "lines"]
