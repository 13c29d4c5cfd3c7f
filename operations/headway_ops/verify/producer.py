"""After the producer: a job goes in at one end and comes out at the other."""

from collections.abc import Callable, Iterator

from headway.jobs import JobStatus, JobStoreError, connect
from headway.jobs.database import check
from headway.jobs.queries import job_view
from headway.jobs.views import JobView
from headway.producer import Producer, SubmitError
from headway_ops.demo.drawings import draw
from headway_ops.doctor import Finding
from headway_ops.verify.subject import LOOK_AGAIN_S, Said, Subject

#: What a canary waits for, beside its own calls: a place in the quota, and a task that starts, stage seconds.
_SPARE_S = 1_800


def canary_job(subject: Subject) -> Iterator[Said]:
    """Submit one small drawing as any producer does, and wait for its results: two model calls are paid for."""
    engine = connect(subject.database)
    try:
        check(engine)
        producer = Producer(subject.producer, subject.database)
        job = producer.submit(draw(1, blocks=1).data, "canary.png")
        producer.close()
        yield from _wait(subject, lambda: job_view(engine, job))
    except JobStoreError as error:
        # A private database answers nobody outside its network.
        yield f"canary job: not submitted, {error}"
    except SubmitError as error:
        yield Finding("canary-job", "producer", str(error))
    finally:
        engine.dispose()


def _wait(subject: Subject, look: Callable[[], JobView | None]) -> Iterator[Said]:
    model, patience = subject.settings.model, subject.patience
    within_s = subject.wall(model.timeout_s + _SPARE_S, at_least=60.0)
    end = patience.clock() + within_s
    while (view := look()) is None or view.summary.status in (JobStatus.PENDING, JobStatus.RUNNING):
        if patience.clock() >= end:
            yield Finding("canary-job", "producer", f"job {view and view.summary.id} has not ended in {within_s:.0f} s")
            return
        patience.pause(LOOK_AGAIN_S)
    if view.summary.status != JobStatus.SUCCEEDED:
        yield Finding("canary-job", "producer", f"job {view.summary.id} {view.summary.status}: {view.summary.reason}")
