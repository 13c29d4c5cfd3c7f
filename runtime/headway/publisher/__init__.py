"""The gauge: counts what waits and what works, and publishes how many tasks that needs."""
