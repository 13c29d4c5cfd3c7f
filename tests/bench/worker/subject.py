"""One consumer of one lane: a worker of either kind, or a client that does nothing but poll."""

import contextlib
import dataclasses
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import psutil

from headway.contract import WorkerEnv
from headway_ops.local.project import PROJECT
from tests.bench.worker import FILE, KIND, NOTE
from tests.runtime.support.proxy import FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import REGION, celery_body
from tests.runtime.support.waiting import until

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

RAW = "raw client"
WAIT_S = 20
_POLL = """
import os, sys, time, json, base64, boto3
sqs, url = boto3.client("sqs"), sys.argv[1]
while True:
    for message in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20).get("Messages", ()):
        now = time.time()
        (sent_at, _), *_ = json.loads(base64.b64decode(json.loads(message["Body"])["body"]))
        with open(os.environ["BENCH_FILE"], "ab", buffering=0) as file:
            file.write(f"{sent_at:.6f} {now:.6f}\\n".encode())
        sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
"""


@dataclass(frozen=True)
class Pickup:
    """Milliseconds until a message's task began: since it was sent, and since SQS's answer with it left."""

    from_sent_ms: float
    from_answer_ms: float


@dataclass
class Subject:
    """A running consumer."""

    kind: str
    queue_url: str
    notes: Path
    sqs: "SQSClient"
    process: psutil.Process
    proxy: FaultProxy

    def tree(self) -> list[psutil.Process]:
        """Return the consumer's processes."""
        return [self.process, *self.process.children(recursive=True)]

    def cpu_s(self) -> float:
        """Return the CPU seconds that it has used."""
        return sum(sum(process.cpu_times()[:2]) for process in self.tree())

    def memory_mib(self) -> float:
        """Return its proportional set size: what the pool's processes share counts once."""
        return float(sum(process.memory_full_info().pss for process in self.tree())) / 2**20

    def work(self, messages: int, work_s: float = 0.0) -> None:
        """Send so many messages at once, and wait until all are done."""
        for _ in range(messages):
            self.sqs.send_message(QueueUrl=self.queue_url, MessageBody=celery_body(NOTE, [time.time(), work_s], "lane"))
        until(self._idle, within_s=120, what=f"{self.kind}: {messages} messages")

    def pick_up(self) -> Pickup:
        """Send one message, and wait until it is done."""
        self.work(1)
        sent_at, started_at = map(float, self.notes.read_text().splitlines()[-1].split())
        return Pickup(
            from_sent_ms=(started_at - sent_at) * 1e3, from_answer_ms=(started_at - self.proxy.delivered_at) * 1e3
        )

    def _idle(self) -> bool:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        counted = self.sqs.get_queue_attributes(QueueUrl=self.queue_url, AttributeNames=names)["Attributes"]  # type: ignore[arg-type]  # names that SQS knows
        return set(counted.values()) == {"0"}


@contextlib.contextmanager
def subject(kind: str, pool: str, slots: int, endpoint: str, directory: Path, **values: Any) -> Iterator[Subject]:
    """Run a consumer of its own lane; ``kind`` is "headway", "plain" or RAW, ``values`` change what it is told."""
    sqs: SQSClient = boto3.client("sqs", region_name=REGION, endpoint_url=endpoint)
    name = f"bench-{uuid.uuid4().hex[:8]}"
    url = sqs.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "120"})["QueueUrl"]
    notes = directory / name
    notes.touch()
    proxy = FaultProxy(endpoint)
    told = dataclasses.replace(_env(url, pool, slots), **values).to_env()
    own = {KIND: kind, FILE: str(notes), "AWS_DEFAULT_REGION": REGION, "AWS_ENDPOINT_URL_SQS": proxy.url}
    app = ["-m", "celery", "-A", "tests.bench.worker.app", "worker", "-Q", "lane", "-P", pool, "-c", str(slots)]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO"]
    command = [sys.executable, *(["-c", _POLL, url] if kind == RAW else [*app, *quiet])]
    with serving(proxy), (directory / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=PROJECT, env={**os.environ, **told, **own}, stdout=log, stderr=log)
        try:
            running = Subject(kind, url, notes, sqs, psutil.Process(process.pid), proxy)
            running.work(2 * slots)  # every slot has run before it counts
            yield running
        finally:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
            process.kill()
            process.wait()


def _env(url: str, pool: str, slots: int) -> WorkerEnv:
    """Return what a worker of one lane is told."""
    return WorkerEnv(
        stage="bench",
        region=REGION,
        queue_urls={"lane": url},
        main_lane="lane",
        fast_queue="lane",
        dead_letter_urls={},
        drawings_bucket="none",
        lane="lane",
        concurrency=slots,
        wait_time_s=WAIT_S,
        visibility_timeout_s=120,
        lease_beat_s=40,
        soft_time_limit_s=3_900,
        time_limit_s=3_960,
        protection=False,
        protection_min=30,
        model_base_url="http://127.0.0.1/v1",
        model_name="none",
        model_timeout_s=2_100,
        quota_calls=1,
        model_input_usd_per_mtok=0.0,
        model_output_usd_per_mtok=0.0,
        pool=pool,
    )
