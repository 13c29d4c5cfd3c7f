"""The figures of one run."""

from collections import Counter
from dataclasses import dataclass

import sqlalchemy as sa

from headway.jobs import StepStatus
from headway.jobs.schema import calls, events, steps
from headway.jobs.states import ACTIVE_JOB, JobStatus
from tests.faults.breaking import Breaker
from tests.faults.fleet import Fleet
from tests.faults.jobs import Jobs
from tests.faults.ledgers import called_twice, more_than_once, started_unprotected
from tests.faults.model import Model
from tests.runtime.support.agent import AgentServer


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the ledgers say; everything from ``lost`` to ``overstayed`` must be 0.

    ``exits`` counts the tasks that ended by their exit codes: -9 for SIGKILL, 4 for a lane or a job store that was away
    at boot. ``requeued`` steps had used their receives up and were sent again from the dead letters, as an operator
    would; ``failed`` steps gave up after all their attempts. ``overstayed`` tasks were still there when their stop was
    over.
    """

    jobs: int
    messages: int
    calls: int
    injected: dict[str, int]
    kills: int
    exits: dict[int, int]
    requeued: int
    failed: int
    lost: int
    accepted_twice: int
    called_twice_without_a_kill: int
    started_unprotected: int
    over_quota_samples: int
    unresolved: int
    overstayed: int
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether everything that must be 0 is."""
        once = self.accepted_twice + self.called_twice_without_a_kill
        kept = self.started_unprotected + self.over_quota_samples + self.overstayed
        return not (self.lost + self.unresolved + once + kept)


def count(
    engine: sa.Engine,
    jobs: Jobs,
    fleet: Fleet,
    breaker: Breaker,
    agent: AgentServer,
    model: Model,
    *,
    quota_calls: int,
    minute_s: float,
    seconds: float,
) -> Counts:
    """Hold the ledgers against each other; ``minute_s`` is a minute of protection in wall seconds."""
    asked = model.asked()
    ended = events.c.to_status.in_(set(JobStatus) - ACTIVE_JOB)
    sent = sa.select(sa.func.count()).where(steps.c.job_id.in_(jobs.taken))
    with engine.connect() as connection:
        ends = connection.execute(
            sa.select(events.c.job_id, events.c.step_id).where(ended, events.c.job_id.in_(jobs.taken))
        ).all()
        accepted = connection.scalars(sa.select(calls.c.step_id).where(calls.c.accepted)).all()
        messages = len(jobs.taken) + (connection.scalar(sent) or 0)
        failed = connection.scalar(sent.where(steps.c.status == StepStatus.FAILED)) or 0
    return Counts(
        jobs=len(jobs.taken),
        messages=messages,
        calls=len(asked),
        injected={str(kind): number for kind, number in breaker.done.items()},
        kills=len(fleet.hits),
        exits=dict(Counter(fleet.exits)),
        requeued=len(jobs.requeued),
        failed=failed,
        lost=len(jobs.lost),
        accepted_twice=more_than_once(accepted) + more_than_once(map(tuple, ends)),
        called_twice_without_a_kill=called_twice(asked, fleet.hits, breaker.outages),
        started_unprotected=started_unprotected(asked, agent.granted, minute_s=minute_s, lane="heavy"),
        over_quota_samples=sum(in_flight > quota_calls for in_flight in model.in_flight()),
        unresolved=jobs.wanted - len({job_id for job_id, step_id in ends if step_id is None}),
        overstayed=fleet.overstayed,
        seconds=round(seconds, 1),
    )
