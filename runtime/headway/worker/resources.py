"""What one process works with.

All of it is made before the pool forks, so that its children share the memory and start their first task warm, and
used only after it: no connection is opened, and no event loop started, in the main process.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import boto3
import botocore.config

from headway.clock import StageClock
from headway.contract import DatabaseSecret, ModelSecret, WorkerEnv
from headway.emf import write_line
from headway.jobs import connect
from headway.vision.asking import Asker
from headway.vision.calllog import CallLog
from headway.vision.calls import Call, Origin, Price
from headway.vision.checks import Check
from headway.vision.client import ModelClient
from headway.vision.frames import Splitter
from headway.vision.gate import Gate, LoopThread
from headway.worker.endings import Endings
from headway.worker.fleet import FleetQuota
from headway.worker.settings import beat_s, soft_limit_s, visibility_s
from headway.worker.stopping import Stop

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_S3 = botocore.config.Config(connect_timeout=3, read_timeout=20, retries={"total_max_attempts": 3})
#: The least that a question may spend on being refused, stage seconds.
_MIN_PATIENCE_S = 60.0


class Resources:
    """The job store, the bucket, the model and the log of one process."""

    def __init__(
        self,
        env: WorkerEnv,
        database: DatabaseSecret,
        model: ModelSecret,
        clock: StageClock,
        *,
        splitter: Splitter,
        checks: Mapping[str, Check],
    ) -> None:
        self.env, self.clock, self.splitter, self.checks = env, clock, splitter, checks
        #: A claim's lease, wall seconds: as long as its message stays hidden.
        self.lease_s = visibility_s(env, clock)
        #: Wall seconds between two renewals of a claim.
        self.beat_s = beat_s(env, clock)
        #: Wall seconds that one step may take.
        self.soft_limit_s = soft_limit_s(env, clock)
        self.stop = Stop()
        self.engine = connect(database)
        self.endings = Endings(database)
        self.s3: S3Client = boto3.client("s3", region_name=env.region, config=_S3)
        self.loop = LoopThread()
        quota = FleetQuota(database, calls=env.quota_calls, clock=clock, lease_s=self.lease_s, beat_s=self.beat_s)
        self.asker = _asker(env, model, clock, quota)
        self._calls = CallLog(namespace=env.metric_namespace, stage=env.stage, lane=env.lane, model=env.model_name)

    def read(self, key: str) -> bytes:
        """Return an object's bytes."""
        return self.s3.get_object(Bucket=self.env.drawings_bucket, Key=key)["Body"].read()

    def write_png(self, key: str, data: bytes) -> None:
        """Store an image."""
        self.s3.put_object(Bucket=self.env.drawings_bucket, Key=key, Body=data, ContentType="image/png")

    def log_call(self, call: Call, origin: Origin) -> None:
        """Write the call's metric line."""
        write_line(self._calls.line(call, origin))


def _asker(env: WorkerEnv, secret: ModelSecret, clock: StageClock, quota: FleetQuota) -> Asker:
    """Return the model behind both gates. Its patience and one whole call must fit in the soft time limit together."""
    slots = 1 if env.pool == "prefork" else env.concurrency  # a prefork child is one slot
    return Asker(
        model=ModelClient(
            base_url=env.model_base_url,
            api_key=secret.api_key,
            model=env.model_name,
            timeout_s=env.model_timeout_s,
            clock=clock,
            worker=env.host,
        ),
        gate=Gate(slots * env.max_inflight),
        quota=quota,
        clock=clock,
        price=Price(input_usd_per_mtok=env.model_input_usd_per_mtok, output_usd_per_mtok=env.model_output_usd_per_mtok),
        patience_s=max(env.soft_time_limit_s - env.model_timeout_s, _MIN_PATIENCE_S),
    )
