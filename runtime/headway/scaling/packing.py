"""Which worker leaves a message to others? Work packs onto few tasks, so that the rest empty and can go.

A long poll takes a message at once, and of several that are open SQS alone knows which gets it. With one in every
worker, work would spread over all tasks, and none would ever be empty. So some workers are lazy: they have no poll
open, and only look now and then for what nobody else took.

Lazy is who holds little, and who has received nothing for a while. A task is held until the last of its calls ends, and
of calls that take about equally long that is the newest. The longer ago a task received something, the sooner it is
empty, unless it goes on receiving.
"""


def lazy(held: int, quiet_s: float, *, below: int, after_s: float) -> bool:
    """Return whether a worker that holds so many messages, the last received ``quiet_s`` ago, is lazy.

    It is where it holds fewer than ``below``, or where ``quiet_s`` is ``after_s`` or more; never where ``below`` is 0.

    >>> [lazy(held, quiet_s, below=2, after_s=400) for held, quiet_s in ((1, 0), (2, 399), (2, 400))]
    [True, False, True]
    >>> lazy(0, 400, below=0, after_s=400)
    False
    """
    return below > 0 and (held < below or quiet_s >= after_s)
