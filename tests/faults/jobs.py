"""The jobs of one run: sent, watched until they have ended, and sent again where a message's receives were used up."""

import contextlib
import random
import uuid
from collections.abc import Iterator

import sqlalchemy as sa

from headway.jobs.schema import jobs, steps
from headway.jobs.states import ACTIVE_STEP
from headway.producer import Producer, SubmitError
from headway.producer.broker import BLOCKSPLIT
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage, celery_body, sent_id

_LANES = ("heavy", "fast")
#: A job is a blocksplit and four steps: two blocks, two checks each.
_DRAWING = drawing(2)
#: Jobs that may be open at a time: enough that no slot idles.
_OPEN_JOBS = 120
_SENT_AGAIN = 8


class Jobs:
    """So many ``wanted`` jobs; ``taken`` are those whose sender was told that they were taken in."""

    def __init__(self, stage: Stage, *, wanted: int) -> None:
        self._stage, self.wanted = stage, wanted
        self.taken: list[uuid.UUID] = []
        self.open = 0
        #: Steps, or jobs without any, whose message was among the dead letters; and those whose message was nowhere.
        self.requeued: set[uuid.UUID] = set()
        self.lost: set[uuid.UUID] = set()

    @property
    def over(self) -> bool:
        """Whether all were sent and have ended."""
        return len(self.taken) == self.wanted and not self.open

    @property
    def lanes(self) -> dict[str, tuple[int, int]]:
        """Each lane's (visible, in flight) messages."""
        return {lane: self._stage.counts(lane) for lane in _LANES}

    def submit(self, producer: Producer) -> None:
        """Send one more where there is room. One that was refused was never taken in: its sender knows."""
        if len(self.taken) < self.wanted and self.open < _OPEN_JOBS:
            with contextlib.suppress(SubmitError):
                self.taken.append(producer.submit(_DRAWING, "plan.png"))
                self.open += 1

    def look(self) -> None:
        """Count the open ones; where there are some and no message is left for them, look for it.

        Raises:
            sqlalchemy.exc.OperationalError: the job store is away.
        """
        mine = sa.select(sa.func.count()).where(jobs.c.id.in_(self.taken), jobs.c.finished_at.is_not(None))
        with self._stage.engine.connect() as connection:
            self.open = len(self.taken) - (connection.scalar(mine) or 0)
        if self.open and self._no_message_is_left():
            self._requeue()

    def send_again(self, draw: random.Random) -> None:
        """Send some steps' messages once more, whatever became of the first ones."""
        with self._stage.engine.connect() as connection:
            mine = connection.scalars(sa.select(steps.c.id).where(steps.c.job_id.in_(self.taken[-_OPEN_JOBS:]))).all()
        for step_id in draw.sample(mine, min(_SENT_AGAIN, len(mine))):
            self._stage.send_step(step_id)

    def _no_message_is_left(self) -> bool:
        return not any(map(sum, self.lanes.values()))

    def _requeue(self) -> None:
        """Send what is among the dead letters, as an operator would; what is not there either is lost."""
        dead = set(self._dead_letters())
        query = sa.select(jobs.c.id, steps.c.id).join_from(jobs, steps, isouter=True)
        left = (jobs.c.finished_at.is_(None), sa.or_(steps.c.id.is_(None), steps.c.status.in_(ACTIVE_STEP)))
        with self._stage.engine.connect() as connection:
            rows = connection.execute(query.where(jobs.c.id.in_(self.taken), *left)).all()
        if not self._no_message_is_left():
            return
        for job_id, step_id in rows:
            work = step_id or job_id
            (self.requeued if work in dead else self.lost).add(work)
        for job_id in {job_id for job_id, _ in rows}:
            self._stage.send_body(celery_body(BLOCKSPLIT, [str(job_id)], "fast"), "fast")

    def _dead_letters(self) -> Iterator[uuid.UUID]:
        """Take every dead letter, and yield the id of what it was for."""
        for lane in _LANES:
            url = self._stage.dead_letter_urls[lane]
            while letters := self._stage.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
                for letter in letters:
                    yield sent_id(letter["Body"])
                    self._stage.sqs.delete_message(QueueUrl=url, ReceiptHandle=letter["ReceiptHandle"])
