"""What the routes share: one stage's job store, bucket and lanes, and who may use them."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, ParamSpec, TypeVar

import anyio.to_thread
import boto3
import botocore.config
import fastapi

from headway.clock import StageClock
from headway.contract import ContractError, DatabaseSecret, WebEnv, WebSecret
from headway.jobs import connect
from headway.producer import Producer
from headway.web.access import MIN_TOKEN_LENGTH, Access

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_SQS = botocore.config.Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 1})

P = ParamSpec("P")
T = TypeVar("T")


class Service:
    """One running service. ``now`` is the wall clock, seconds since the epoch; sessions end by it.

    Raises:
        ContractError: the stage's main lane has no queue, or the token is too short to be one.
    """

    def __init__(
        self, env: WebEnv, database: DatabaseSecret, secret: WebSecret, *, now: Callable[[], float] = time.time
    ) -> None:
        if len(secret.token) < MIN_TOKEN_LENGTH:
            raise ContractError(f"WEB_TOKEN has {len(secret.token)} characters; must have {MIN_TOKEN_LENGTH} or more")
        self.env = env
        self.clock = StageClock(env.speed)
        self.access = Access(secret.token, session_s=env.session_min * 60)
        self.producer = Producer(env, database)
        self.engine = connect(database)
        self.now = now
        #: Set when the process is told to stop: what would go on for long ends itself.
        self.stopping = asyncio.Event()
        # PDFium may be used by one thread at a time, and so may a producer. Who waits here holds no thread.
        self._turn, self._probe = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
        self.sqs: SQSClient = boto3.client("sqs", region_name=env.region, config=_SQS)

    async def in_turn(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run what opens a drawing, in a thread, when nobody else does."""
        return await anyio.to_thread.run_sync(partial(work, *args, **kwargs), limiter=self._turn)

    async def one_probe(self, ask: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a question about the service's health, in a thread; anybody may ask, so one is asked at a time."""
        return await anyio.to_thread.run_sync(partial(ask, *args, **kwargs), limiter=self._probe)

    async def aside(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a short piece of blocking work in a thread."""
        return await anyio.to_thread.run_sync(partial(work, *args, **kwargs))

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()
        self.producer.close()


def service_of(request: fastapi.Request) -> Service:
    """Return the service that a request came to."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, fastapi.Depends(service_of)]
