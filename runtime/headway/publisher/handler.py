"""The function's entry: one invocation is one minute of beats, each a reading, a decision and its metrics."""

import functools
import logging
import os
import time
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from headway.contract import PublisherEnv
from headway.publisher.beats import run_minute
from headway.publisher.publish import publish
from headway.publisher.read import ReadError, read
from headway.scaling import ScalingPlan

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_ecs import ECSClient
    from mypy_boto3_sqs import SQSClient

_log = logging.getLogger(__name__)

#: A beat that waits longer than this is worth less than the next beat (seconds; botocore's own limits are 60).
_IMPATIENT = Config(connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2})


class Publisher:
    """One stage's gauge: its environment, its plan and its clients, made once and kept between invocations."""

    def __init__(
        self, env: PublisherEnv, *, sqs: "SQSClient", ecs: "ECSClient", cloudwatch: "CloudWatchClient"
    ) -> None:
        self.env = env
        self._plan = ScalingPlan.from_mapping(env.plan)
        self._sqs, self._ecs, self._cloudwatch = sqs, ecs, cloudwatch

    def beat(self) -> None:
        """Read, decide and publish once; a beat that fails publishes nothing, because 0 would be a reading too."""
        try:
            reading = read(self.env, self._sqs, self._ecs)
            publish(self.env, self._cloudwatch, reading, self._plan.decide(reading))
        except (BotoCoreError, ClientError, ReadError) as error:
            _log.error("nothing published: %s", " ".join(str(error).split()))


@functools.cache
def _publisher() -> Publisher:
    env = PublisherEnv.from_env(os.environ)
    session = boto3.Session(region_name=env.region)
    return Publisher(
        env,
        sqs=session.client("sqs", config=_IMPATIENT),
        ecs=session.client("ecs", config=_IMPATIENT),
        cloudwatch=session.client("cloudwatch", config=_IMPATIENT),
    )


def handle(_event: Any, _context: Any) -> dict[str, int]:
    """Run one minute of beats; Lambda calls this on the schedule."""
    publisher = _publisher()
    beats = run_minute(
        publisher.beat,
        every_s=publisher.env.publish_every_s,
        speed=publisher.env.speed,
        clock=time.time,
        sleep=time.sleep,
    )
    return {"beats": beats}
