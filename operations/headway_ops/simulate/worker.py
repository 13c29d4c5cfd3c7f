"""One task's worker: its slots, what it holds, and what it knows of its protection."""

from headway.worker.protection import Protection
from headway_ops.loop import Task, TaskState
from headway_ops.simulate.lane import Lane, Message


class Holding:
    """One receive of a message by a worker. A worker that is killed leaves its holdings dead."""

    __slots__ = ("alive", "begun", "lane", "lapsed", "message", "running", "tries", "worker")

    def __init__(self, message: Message, lane: Lane, worker: "Worker") -> None:
        self.message = message
        self.lane = lane
        self.worker = worker
        self.alive = True
        #: Its visibility ended while it was held: somebody else may have the message too.
        self.lapsed = False
        #: Calls that have begun, and those of them that run.
        self.begun = 0
        self.running = 0
        #: How often its next call met a 429.
        self.tries = 0


class Worker:
    """A task of a fleet. ``busy`` counts held messages; ``place`` is where it stands among the polling workers.

    ``accepting``: it runs, and was not told to stop. ``paused``: it polls for nothing for a while.
    ``looks``: it is lazy, and about to look for messages. ``received_at``: when it last received one; ``ends_s``: how
    long the poll that is open when it becomes lazy stays open.
    """

    __slots__ = (
        "accepting",
        "asking",
        "busy",
        "ends_s",
        "held",
        "id",
        "launched",
        "looks",
        "paused",
        "pending",
        "place",
        "protected_until",
        "protection",
        "received_at",
        "seen",
    )

    def __init__(self, id_: str, revision: str, launched: float, protection_s: float) -> None:
        self.id = id_
        self.launched = launched
        self.seen = Task(id=id_, revision=revision, state=TaskState.STARTING, started=launched)
        self.accepting = False
        self.paused = self.looks = False
        self.busy = 0
        self.received_at, self.ends_s = launched, 0.0
        self.place = -1
        #: In the order they were received: a set would have none, and equal seeds would run differently.
        self.held: dict[Holding, None] = {}
        self.protection = Protection(life_s=protection_s)
        #: The same as ``protection.until``, where every message looks.
        self.protected_until = 0.0
        self.asking = False
        self.pending: list[Holding] = []

    def become(self, state: TaskState) -> None:
        """Enter another state."""
        self.seen = Task(id=self.id, revision=self.seen.revision, state=state, started=self.seen.started)
        self.accepting = state is TaskState.RUNNING

    def note(self, protection: Protection) -> None:
        """Take a new knowledge of the task's protection."""
        self.protection = protection
        self.protected_until = protection.until
