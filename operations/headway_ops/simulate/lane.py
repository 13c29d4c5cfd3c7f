"""A queue: what waits in it, what its workers hold, and what came back too often."""

from collections import deque

from headway_ops.simulate.workload import Job


class Message:
    """One message: an interactive step (``calls`` is empty), or the model calls it stands for, seconds each."""

    __slots__ = ("calls", "done", "job", "receives", "sent_at", "wait")

    def __init__(self, job: Job, calls: tuple[float, ...], sent_at: float) -> None:
        self.job = job
        self.calls = calls
        self.sent_at = sent_at
        self.receives = 0
        #: Seconds until its work first started.
        self.wait = -1.0
        self.done = False


class Lane:
    """A standard queue. What waits is taken in the order it came, which SQS does not promise but does on the whole."""

    __slots__ = ("dead_letters", "in_flight", "max_receives", "waiting")

    def __init__(self, max_receives: int) -> None:
        self.waiting: deque[Message] = deque()
        #: Held by a worker, or hidden until its visibility timeout.
        self.in_flight = 0
        self.dead_letters = 0
        self.max_receives = max_receives
