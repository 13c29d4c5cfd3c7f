"""The task that both workers run, in plain Celery's app and in one that Headway configured."""

import os
import time
from pathlib import Path

import celery
import kombu

import headway.worker
from headway.contract import WorkerEnv
from tests.bench.worker import FILE, KIND, NOTE

app = celery.Celery("bench")


@app.task(name=NOTE)
def note(sent_at: float, work_s: float) -> None:
    """Note when the message was sent and when it got here, then wait as for a model's answer."""
    line = f"{sent_at:.6f} {time.time():.6f}\n"
    with Path(os.environ[FILE]).open("ab", buffering=0) as file:
        file.write(line.encode())
    time.sleep(work_s)


_env = WorkerEnv.from_env(os.environ)
if os.environ[KIND] == "headway":
    headway.worker.configure(app, _env)
else:
    # As well as Celery's manual lets it be: long polls, late acknowledgement, one message a slot, time limits.
    app.conf.update(
        broker_url="sqs://",
        broker_transport_options={
            "region": _env.region,
            "predefined_queues": {lane: {"url": url} for lane, url in _env.queue_urls.items()},
            "wait_time_seconds": _env.wait_time_s,
            "polling_interval": _env.polling_interval_s,
        },
        task_queues=[kombu.Queue(lane, routing_key=lane) for lane in _env.queue_urls],
        task_default_queue=_env.lane,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        task_ignore_result=True,
        task_soft_time_limit=_env.soft_time_limit_s,
        task_time_limit=_env.time_limit_s,
        broker_connection_retry_on_startup=True,
    )
