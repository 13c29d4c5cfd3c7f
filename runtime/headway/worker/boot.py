"""Can this worker work at all? Asked once before it starts, so that a mistake is one line and not an empty poll."""

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

T = TypeVar("T")


class UnreachableError(Exception):
    """The queue or the job store does not answer; the message is one line."""


def check_surroundings(env: WorkerEnv, database: DatabaseSecret, clock: StageClock) -> None:
    """Ask the lane for one attribute and the job store for its tables, a few times where they do not answer.

    The job store is told the stage's quota: the newest task's word holds for all.

    Raises:
        ContractError: the lane does not exist, or this role may not read it.
        UnreachableError: one of them does not answer.
    """
    client = boto3.client("sqs", region_name=env.region, config=_CONFIG)
    url = env.queue_urls[env.lane]

    def ask_lane() -> None:
        try:
            client.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])
        except botocore.exceptions.ClientError as error:
            code = error.response["Error"]["Code"]
            if failure(400, f'{{"__type": "{code}"}}'.encode()).fatal:
                raise ContractError(f"lane {env.lane}: {url}: {code}") from None
            raise UnreachableError(f"lane {env.lane}: {url}: {code}") from None
        except botocore.exceptions.BotoCoreError as error:
            raise UnreachableError(f"lane {env.lane}: {error}") from None

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


def _patiently(ask: Callable[[], T], clock: StageClock) -> T:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return ask()
        except UnreachableError:
            if attempt == _ATTEMPTS:
                raise
        time.sleep(clock.wall(_PAUSE_S))
    raise AssertionError("the last attempt returns or raises")
