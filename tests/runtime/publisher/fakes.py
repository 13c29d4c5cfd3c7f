"""A stage as AWS would answer for it, and a clock that only moves when somebody sleeps or works."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import boto3
from botocore.stub import Stubber

from headway.contract import PublisherEnv
from headway.publisher.handler import Publisher
from headway.scaling import ScalingPlan

PLAN = ScalingPlan(
    concurrency=8, max_inflight=1, quota_calls=120, min_tasks=1, calls_per_job=5.6, spare_slots=4, burst_beta=2
)
URLS = {
    "heavy": "https://sqs.eu-west-1.amazonaws.com/111122223333/heavy",
    "fast": "https://sqs.eu-west-1.amazonaws.com/111122223333/fast",
}


class Clock:
    """Wall seconds that pass only by ``sleep``; ``slept`` is every sleep that was asked for."""

    def __init__(self, start: float = 1_000.0) -> None:
        self.now = start
        self.slept: list[float] = []

    def __call__(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.slept.append(seconds)
        self.now += seconds


def env(**changes: Any) -> PublisherEnv:
    """Return the environment of a stage with both lanes."""
    values: dict[str, Any] = {
        "stage": "prod",
        "region": "eu-west-1",
        "queue_urls": URLS,
        "cluster": "cluster",
        "service": "heavy",
        "plan": PLAN.to_mapping(),
        "publish_every_s": 10,
    }
    return PublisherEnv(**{**values, **changes})


class Aws:
    """Stubbed clients: each call must be expected with its exact parameters, and is checked against AWS's own model."""

    def __init__(self, publisher_env: PublisherEnv | None = None) -> None:
        self.env = publisher_env or env()
        session = boto3.Session("key", "secret", region_name="eu-west-1")  # a client signs nothing under a stub
        self.sqs, self.ecs = session.client("sqs"), session.client("ecs")
        self.cloudwatch = session.client("cloudwatch")
        self.on_sqs, self.on_ecs = Stubber(self.sqs), Stubber(self.ecs)
        self.on_cloudwatch = Stubber(self.cloudwatch)
        self.publisher = Publisher(self.env, sqs=self.sqs, ecs=self.ecs, cloudwatch=self.cloudwatch)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Answer as arranged; everything arranged must have been asked for by the end."""
        stubs = (self.on_sqs, self.on_ecs, self.on_cloudwatch)
        with ExitStack() as stack:
            for stub in stubs:
                stack.enter_context(stub)
            yield
            for stub in stubs:
                stub.assert_no_pending_responses()

    def lane(self, name: str, visible: int, in_flight: int) -> None:
        """Arrange one lane's counts, as text, which is how SQS sends them."""
        self.on_sqs.add_response(
            "get_queue_attributes",
            {
                "Attributes": {
                    "ApproximateNumberOfMessages": str(visible),
                    "ApproximateNumberOfMessagesNotVisible": str(in_flight),
                }
            },
            {
                "QueueUrl": URLS[name],
                "AttributeNames": ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            },
        )

    def service(self, running: int, desired: int, deployments: int = 1) -> None:
        """Arrange the scaled service's counts; a service at rest has one deployment."""
        self.on_ecs.add_response(
            "describe_services",
            {
                "services": [
                    {"runningCount": running, "desiredCount": desired, "deployments": [{} for _ in range(deployments)]}
                ]
            },
            {"cluster": "cluster", "services": ["heavy"]},
        )

    def tasks(self, *pages: int) -> None:
        """Arrange ListTasks to answer with pages of so many tasks."""
        for number, size in enumerate(pages):
            asked = {"cluster": "cluster", "serviceName": "heavy", "maxResults": 100}
            answer: dict[str, Any] = {"taskArns": arns(number, size)}
            if number:
                asked["nextToken"] = f"page-{number}"
            if number + 1 < len(pages):
                answer["nextToken"] = f"page-{number + 1}"
            self.on_ecs.add_response("list_tasks", answer, asked)

    def protection(self, page: int, size: int, protected: int, failures: tuple[dict[str, str], ...] = ()) -> None:
        """Arrange GetTaskProtection for one page of tasks, of which the first ``protected`` are protected."""
        tasks = arns(page, size)
        self.on_ecs.add_response(
            "get_task_protection",
            {
                "protectedTasks": [
                    {"taskArn": arn, "protectionEnabled": index < protected} for index, arn in enumerate(tasks)
                ],
                "failures": list(failures),
            },
            {"cluster": "cluster", "tasks": tasks},
        )


def arns(page: int, size: int) -> list[str]:
    """Return the task ARNs of one page."""
    return [f"arn:aws:ecs:eu-west-1:111122223333:task/cluster/{page}-{index}" for index in range(size)]
