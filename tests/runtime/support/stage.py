"""One test's stage: lanes and a bucket in the emulator, a database, and real workers."""

import base64
import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import psutil
import sqlalchemy as sa

from headway.contract import DatabaseSecret, ProducerEnv, WorkerEnv
from headway.jobs import NewBlock, StepStatus, begin_job, connect, create_job, pending_steps, save_blocks
from headway.jobs.schema import steps
from headway.producer.broker import RUN_STEP
from headway.worker.settling import REASON_ATTRIBUTE
from tests.runtime.support.model import ModelServer
from tests.runtime.support.waiting import until

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

REGION = "us-east-1"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
PNG = b"a block's image, as far as the model server cares"


class Worker:
    """A real worker process."""

    def __init__(self, process: subprocess.Popen[bytes], out: Path, log: Path) -> None:
        self.process, self._out, self._log = process, out, log

    @property
    def log(self) -> str:
        """What it has said on stderr."""
        return self._log.read_text()

    @property
    def out(self) -> str:
        """What it has written to stdout."""
        return self._out.read_text()

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The metric lines that it has written to stdout, each parsed."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith('{"') and '"_aws":' in line]

    def wait_until_ready(self) -> "Worker":
        """Wait until it polls its lane."""
        until(lambda: "ready." in self.log or self.process.poll() is not None, within_s=60, what="worker ready")
        assert self.process.poll() is None, self.log
        return self

    def child(self) -> psutil.Process:
        """Return one process of the pool."""
        return psutil.Process(self.process.pid).children()[0]

    def terminate(self, *, within_s: float = 30.0) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within_s)


class Stage:
    """Two lanes with dead-letter queues, a bucket, a job store and a model."""

    def __init__(self, endpoint: str, secret: DatabaseSecret, model: ModelServer, directory: Path) -> None:
        self.endpoint, self.secret, self.model, self._directory = endpoint, secret, model, directory
        self.engine = connect(secret)
        self.sqs: SQSClient = boto3.client("sqs", region_name=REGION)
        self.s3: S3Client = boto3.client("s3", region_name=REGION)
        tag = uuid.uuid4().hex[:8]
        self.dead_letter_urls = {lane: self._queue(f"{lane}-dead-{tag}") for lane in ("heavy", "fast")}
        self.queue_urls = {
            lane: self._queue(f"{lane}-{tag}", VisibilityTimeout="3", RedrivePolicy=self._redrive(lane))
            for lane in ("heavy", "fast")
        }
        self.bucket = f"drawings-{tag}"
        self.s3.create_bucket(Bucket=self.bucket)

    def _queue(self, name: str, **attributes: str) -> str:
        return self.sqs.create_queue(
            QueueName=name,
            Attributes=attributes,  # type: ignore[arg-type]  # names that SQS knows
        )["QueueUrl"]

    def _redrive(self, lane: str) -> str:
        attributes = self.sqs.get_queue_attributes(QueueUrl=self.dead_letter_urls[lane], AttributeNames=["QueueArn"])
        return json.dumps({"deadLetterTargetArn": attributes["Attributes"]["QueueArn"], "maxReceiveCount": 5})

    def producer_env(self, **values: Any) -> ProducerEnv:
        """Return a sender's environment."""
        fixed = {"stage": "test", "region": REGION, "queue_urls": self.queue_urls, "drawings_bucket": self.bucket}
        return ProducerEnv(**{**fixed, **values})

    def worker_env(self, lane: str = "heavy", **values: Any) -> WorkerEnv:
        """Return a worker's environment, short in every duration."""
        worker: dict[str, Any] = {
            "lane": lane,
            "dead_letter_urls": self.dead_letter_urls,
            "concurrency": 2,
            "wait_time_s": 1,
            "visibility_timeout_s": 3,
            "lease_beat_s": 1,
            "soft_time_limit_s": 60,
            "time_limit_s": 70,
            "protection": False,
            "protection_min": 30,
            "model_base_url": f"{self.model.url}/v1",
            "model_name": "m",
            "model_timeout_s": 30,
            "quota_calls": 24,
            "model_input_usd_per_mtok": 1.0,
            "model_output_usd_per_mtok": 2.0,
        }
        return WorkerEnv(**{**dataclasses.asdict(self.producer_env()), **worker, **values})

    def worker_variables(self, lane: str = "heavy", *, sqs_endpoint: str = "", **values: Any) -> dict[str, str]:
        """Return all that a worker's process finds in its environment."""
        told = self.worker_env(lane, **values)
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOSTNAME": told.host,
            "HEADWAY_SPEED": str(told.speed),
            "ECS_AGENT_URI": told.agent_uri,
            "MODEL_API_KEY": "k",
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ENDPOINT_URL_SQS": sqs_endpoint or self.endpoint,
        }
        return told.to_env() | self.secret.to_env() | KEYS | surroundings

    @contextlib.contextmanager
    def worker(
        self,
        lane: str = "heavy",
        *,
        sqs_endpoint: str = "",
        surroundings: dict[str, str] | None = None,
        command: Sequence[str] = (sys.executable, "-m", "headway.worker"),
        **values: Any,
    ) -> Iterator[Worker]:
        """Run a worker, with other variables around it if told so; it is killed at the end if it still runs."""
        name = f"{lane}-{uuid.uuid4().hex[:4]}"
        out, log = self._directory / f"{name}.out", self._directory / f"{name}.log"
        env = self.worker_variables(lane, sqs_endpoint=sqs_endpoint, **values) | (surroundings or {})
        with out.open("wb") as stdout, log.open("wb") as stderr:
            process = subprocess.Popen(command, env=env, stdout=stdout, stderr=stderr)
        try:
            yield Worker(process, out, log)
        finally:
            process.kill()
            process.wait()

    def pending_step(self) -> uuid.UUID:
        """Write a job with one step and return the step's id; no message is sent."""
        job_id = uuid.uuid4()
        key = f"blocks/{job_id}/1.png"
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=PNG)
        create_job(self.engine, job_id=job_id, name="plan.png", drawing_key="none")
        begin_job(self.engine, job_id)
        save_blocks(self.engine, job_id, [NewBlock(number=1, page=1, box=(0, 0, 9, 9), image_key=key)], ["bars"])
        (step_id,) = pending_steps(self.engine, job_id) or ()
        return step_id

    def job_of(self, step_id: uuid.UUID) -> uuid.UUID:
        """Return the id of a step's job."""
        with self.engine.connect() as connection:
            job_id: uuid.UUID = connection.execute(sa.select(steps.c.job_id).where(steps.c.id == step_id)).scalar_one()
            return job_id

    def step_status(self, step_id: uuid.UUID) -> StepStatus:
        """Return a step's status."""
        with self.engine.connect() as connection:
            return StepStatus(connection.execute(sa.select(steps.c.status).where(steps.c.id == step_id)).scalar_one())

    def send_step(self, step_id: object, lane: str = "heavy", *, routing_key: str = "", task: str = RUN_STEP) -> None:
        """Send a step's message to a lane, as Celery writes it."""
        self.send_body(celery_body(task, [str(step_id)], routing_key or lane), lane)

    def send_body(self, body: str, lane: str = "heavy") -> None:
        """Send any body to a lane."""
        self.sqs.send_message(QueueUrl=self.queue_urls[lane], MessageBody=body)

    def dead_letters(self, lane: str = "heavy") -> dict[str, str]:
        """Return the dead letters' bodies, each with its reason; they are hidden for a minute by this look."""
        answer = self.sqs.receive_message(
            QueueUrl=self.dead_letter_urls[lane],
            MaxNumberOfMessages=10,
            VisibilityTimeout=60,
            MessageAttributeNames=["All"],
        )
        return {
            message["Body"]: message["MessageAttributes"][REASON_ATTRIBUTE]["StringValue"]
            for message in answer.get("Messages", ())
        }

    def waiting(self, lane: str = "heavy") -> list[uuid.UUID]:
        """Take the lane's visible messages, and return the ids that their tasks were sent with."""
        ids = []
        while messages := self.sqs.receive_message(QueueUrl=self.queue_urls[lane], MaxNumberOfMessages=10).get(
            "Messages"
        ):
            ids += [sent_id(message["Body"]) for message in messages]
        return ids

    def counts(self, lane: str = "heavy") -> tuple[int, int]:
        """Return a lane's (visible, in flight) messages."""
        counted = self.sqs.get_queue_attributes(QueueUrl=self.queue_urls[lane], AttributeNames=["All"])["Attributes"]
        return int(counted["ApproximateNumberOfMessages"]), int(counted["ApproximateNumberOfMessagesNotVisible"])


def celery_body(task: str, args: Sequence[object], routing_key: str) -> str:
    """Return a task message in Kombu's envelope (Celery manual, "Message Protocol", version 2)."""
    task_id = str(uuid.uuid4())
    embedded = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    body = base64.b64encode(json.dumps([args, {}, embedded]).encode()).decode()
    properties = {
        "correlation_id": task_id,
        "delivery_mode": 2,
        "delivery_info": {"exchange": "", "routing_key": routing_key},
        "priority": 0,
        "body_encoding": "base64",
        "delivery_tag": str(uuid.uuid4()),
    }
    headers = {"lang": "py", "task": task, "id": task_id, "root_id": task_id, "retries": 0, "timelimit": [None, None]}
    kind = {"content-type": "application/json", "content-encoding": "utf-8"}
    return json.dumps({"body": body, "properties": properties, "headers": headers, **kind})


def sent_id(body: str) -> uuid.UUID:
    """Return the id that a task message in Kombu's envelope was sent with."""
    args, _, _ = json.loads(base64.b64decode(json.loads(body)["body"]))
    return uuid.UUID(args[0])
