"""What a stage costs a month: simulated usage by dated prices."""

from headway_ops.costs.bill import Bill, Cost, bill
from headway_ops.costs.prices import Prices, PricesError, load_prices

__all__ = ["Bill", "Cost", "Prices", "PricesError", "bill", "load_prices"]
