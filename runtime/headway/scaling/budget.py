"""How many model calls may be in flight, and how many tasks does that allow?"""


def in_flight(*, tasks: int, concurrency: int, max_inflight: int) -> int:
    """Return the most calls that ``tasks`` tasks can have in flight at once.

    >>> in_flight(tasks=10, concurrency=4, max_inflight=2)
    80
    """
    return tasks * concurrency * max_inflight


def max_tasks_within(quota: int, *, concurrency: int, max_inflight: int) -> int:
    """Return the most tasks whose calls always fit in ``quota`` calls in flight; 0 where not even one fits.

    >>> max_tasks_within(60, concurrency=4, max_inflight=2)
    7
    """
    return quota // (concurrency * max_inflight)
