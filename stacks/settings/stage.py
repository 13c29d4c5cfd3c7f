"""One stage, whole."""

from typing import Literal

from headway.scaling import ScalingPlan
from stacks.settings.frozen import Frozen
from stacks.settings.support import Alarms, JobStore, Reconciler, Web
from stacks.settings.surroundings import Cluster, Encryption, Governance, Image, Laptop, Network
from stacks.settings.work import Lane, Lanes, Model, Scaling, Service, Services


class StageSettings(Frozen):
    """Every number of one stage."""

    name: str
    account: str
    region: str
    fast_lane: Literal["off", "ready", "on"]
    termination_protection: bool
    lanes: Lanes
    services: Services
    scaling: Scaling
    model: Model
    web: Web
    job_store: JobStore
    reconciler: Reconciler
    alarms: Alarms
    governance: Governance
    encryption: Encryption
    network: Network
    cluster: Cluster
    image: Image
    laptop: Laptop | None = None

    @property
    def plan(self) -> ScalingPlan:
        """The heavy fleet's scaling plan."""
        heavy = self.services.heavy
        return ScalingPlan(
            concurrency=heavy.concurrency,
            max_inflight=heavy.max_inflight,
            quota_calls=self.model.quota_calls,
            min_tasks=heavy.min_tasks,
            max_tasks=heavy.max_tasks,
            calls_per_job=self.scaling.calls_per_job,
            spare_slots=self.scaling.spare_slots,
            burst_beta=self.scaling.burst_beta,
        )

    @property
    def consumed_lanes(self) -> dict[str, tuple[Lane, Service]]:
        """The lanes that exist in this stage, each with the service that consumes it."""
        heavy = {"heavy": (self.lanes.heavy, self.services.heavy)}
        return heavy if self.fast_lane == "off" else {**heavy, "fast": (self.lanes.fast, self.services.fast)}
