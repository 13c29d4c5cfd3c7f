"""Can this worker work at all? Asked once before it starts, so that a mistake is one line and not an empty poll."""

import logging
import re
import time
from collections.abc import Callable
from typing import TypeVar

import boto3
import botocore.config
import botocore.exceptions

from headway.clock import StageClock
from headway.contract import ContractError, DatabaseSecret, WorkerEnv
from headway.jobs import JobStoreError, connect
from headway.jobs.database import check
from headway.jobs.quota import set_quota
from headway.worker.polling import failure

_ATTEMPTS = 5
#: Stage seconds between two attempts.
_PAUSE_S = 2.0
_CONFIG = botocore.config.Config(connect_timeout=3, read_timeout=5, retries={"total_max_attempts": 2})

#: The region that an SQS queue's URL names (AWS General Reference, "Amazon SQS endpoints").
_REGION = re.compile(r"://sqs\.([a-z0-9-]+)\.amazonaws\.com")
logger = logging.getLogger(__name__)

T = TypeVar("T")


class UnreachableError(Exception):
    """The queue or the job store does not answer; the message is one line."""


def check_surroundings(env: WorkerEnv, database: DatabaseSecret, clock: StageClock) -> None:
    """Ask the lane for one attribute and the job store for its tables, a few times where they do not answer.

    The job store is told the stage's quota: the newest task's word holds for all.

    Raises:
        ContractError: the lane does not exist, is another region's, may not be read by this role, or its visibility
            timeout is too short for this worker's beat.
        UnreachableError: one of them does not answer.
    """
    _check_region(env)
    client = boto3.client("sqs", region_name=env.region, config=_CONFIG)
    url = env.queue_urls[env.lane]

    def ask_lane() -> None:
        try:
            answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
        except botocore.exceptions.ClientError as error:
            code = error.response["Error"]["Code"]
            if failure(400, f'{{"__type": "{code}"}}'.encode()).fatal:
                raise ContractError(f"lane {env.lane}: {url}: {code}") from None
            raise UnreachableError(f"lane {env.lane}: {url}: {code}") from None
        except botocore.exceptions.BotoCoreError as error:
            raise UnreachableError(f"lane {env.lane}: {error}") from None
        _check_visibility(env, int(answer["Attributes"]["VisibilityTimeout"]))

    def ask_job_store() -> None:
        engine = connect(database)
        try:
            check(engine)
            set_quota(engine, env.quota_calls)
        except JobStoreError as error:
            raise UnreachableError(str(error)) from None
        finally:
            engine.dispose()

    _patiently(ask_lane, clock)
    _patiently(ask_job_store, clock)


def _check_region(env: WorkerEnv) -> None:
    named = _REGION.search(env.queue_urls[env.lane])
    if named and named[1] != env.region:
        raise ContractError(f"lane {env.lane}: its URL is {named[1]}'s, HEADWAY_REGION is {env.region}; must match")


def _check_visibility(env: WorkerEnv, queue_s: int) -> None:
    """Refuse a queue that takes its messages back between two beats; one that only differs is another deployment's."""
    if queue_s < 2 * env.lease_beat_s:
        beat = f"a beat every {env.lease_beat_s} s needs {2 * env.lease_beat_s} s"
        raise ContractError(f"lane {env.lane}: its queue's visibility timeout is {queue_s} s, {beat}")
    if queue_s != env.visibility_timeout_s:
        text = "lane %s: its queue's visibility timeout is %d s, this worker was told %d s"
        logger.warning(text, env.lane, queue_s, env.visibility_timeout_s)


def _patiently(ask: Callable[[], T], clock: StageClock) -> T:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return ask()
        except UnreachableError:
            if attempt == _ATTEMPTS:
                raise
        time.sleep(clock.wall(_PAUSE_S))
    raise AssertionError("the last attempt returns or raises")
