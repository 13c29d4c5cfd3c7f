"""What the simulator knows of a stage: everything it reads stands in the synthesized templates."""

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway.contract import ContractError, PublisherEnv, WorkerEnv
from headway.scaling import ScalingPlan
from headway_ops.local.errors import StageError
from headway_ops.loop import AlarmSpec, ControlLoop, StepPolicy, Target, template
from headway_ops.simulate.assembly import Assembly

_FUNCTION = "AWS::Lambda::Function"
_QUEUE = "AWS::SQS::Queue"
_SERVICE = "AWS::ECS::Service"
_TASK = "AWS::ECS::TaskDefinition"


@dataclass(frozen=True, kw_only=True)
class LaneShape:
    """A queue as its consumer meets it. A message is dropped to the dead letters after ``max_receives``."""

    visibility_timeout_s: float
    max_receives: int


@dataclass(frozen=True, kw_only=True)
class ServiceShape:
    """One lane's service. ``tasks`` is where it starts; percents are those of its deployments.

    A worker that is lazy by ``lazy_below`` and ``lazy_after_s`` (`headway.scaling.packing`) looks for messages only
    each ``lazy_poll_s``. Readings are taken each ``publish_every_s``, in turns with idle tasks that look for work; 0
    where nobody takes turns.
    """

    lane: LaneShape
    concurrency: int
    max_inflight: int
    tasks: int
    wait_time_s: float
    polling_interval_s: float
    lease_beat_s: float
    stop_timeout_s: float
    protection_s: float
    lazy_below: int = 0
    lazy_after_s: float = math.inf
    lazy_poll_s: float = 0.0
    publish_every_s: int = 0
    min_healthy_percent: int = 100
    max_percent: int = 200
    cpu_units: int = 1024
    memory_mib: int = 4096


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """The loop that sizes the heavy service: what is published how often, and what acts on it.

    ``policies`` map the name an alarm invokes to the policy.
    """

    plan: ScalingPlan
    publish_every_s: int
    namespace: str
    dimensions: frozenset[tuple[str, str]]
    service: str
    target: Target
    alarms: tuple[AlarmSpec, ...]
    policies: Mapping[str, StepPolicy]

    def loop(self) -> ControlLoop:
        """Return the control loop at rest, as a deployment leaves it."""
        loop = ControlLoop()
        loop.add_target(self.service, self.target)
        for name, policy in self.policies.items():
            loop.add_policy(name, self.service, policy)
        for alarm in self.alarms:
            loop.add_alarm(alarm)
        return loop


@dataclass(frozen=True, kw_only=True)
class SimulatedStage:
    """A stage's numbers. ``fast`` is None where the rollout switch is off."""

    name: str
    heavy: ServiceShape
    fast: ServiceShape | None
    scaling: Scaling

    @property
    def quota_calls(self) -> int:
        """The calls that all tasks together may have in flight."""
        return self.scaling.plan.quota_calls


def stage_from(name: str, assembly: Assembly) -> SimulatedStage:
    """Return the stage that ``assembly`` describes.

    Raises:
        StageError: the templates lack a worker service, a publisher or a scaling policy.
    """
    publisher = _publisher(name, assembly)
    services = dict(_services(assembly))
    heavy = services.get(publisher.main_lane)
    if heavy is None:
        raise StageError(f"stage = {name!r}: its template has no service for the {publisher.main_lane} lane; add one")
    scaling = _scaling(name, publisher, assembly)
    return SimulatedStage(
        name=name,
        heavy=dataclasses.replace(heavy, tasks=scaling.target.min_capacity),
        fast=services.get("fast"),
        scaling=scaling,
    )


def _publisher(name: str, assembly: Assembly) -> PublisherEnv:
    for _, function in assembly.of(_FUNCTION):
        try:
            return PublisherEnv.from_env(function.get("Environment", {}).get("Variables", {}))
        except ContractError:
            continue  # another function of the stage
    raise StageError(f"stage = {name!r}: its template has no backlog publisher; add headway_cdk.BacklogPublisher")


def _scaling(name: str, publisher: PublisherEnv, assembly: Assembly) -> Scaling:
    targets = dict(assembly.of(template.TARGET))
    policies = {arn: template.policy(properties) for arn, properties in assembly.of(template.POLICY)}
    specs = (template.alarm(alarm, properties) for alarm, properties in _alarms(assembly))
    alarms = tuple(alarm for alarm in specs if any(action in policies for action in alarm.actions))
    if not (targets and policies and alarms):
        raise StageError(f"stage = {name!r}: its template has no scaling policy; add headway_cdk.BacklogScaling")
    target = next(iter(targets.values()))
    return Scaling(
        plan=ScalingPlan.from_mapping(publisher.plan),
        publish_every_s=publisher.publish_every_s,
        namespace=publisher.metric_namespace,
        dimensions=alarms[0].metric.dimensions,
        service=template.service_of(target),
        target=template.target(target),
        alarms=alarms,
        policies=policies,
    )


def _alarms(assembly: Assembly) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield alarms on one metric; a composite or a metric math alarm invokes no scaling policy."""
    return ((name, alarm) for name, alarm in assembly.of(template.ALARM) if "MetricName" in alarm)


def _services(assembly: Assembly) -> Iterator[tuple[str, ServiceShape]]:
    tasks, queues = dict(assembly.of(_TASK)), dict(assembly.of(_QUEUE))
    for _, service in assembly.of(_SERVICE):
        task = tasks.get(service["TaskDefinition"], {})
        for container in task.get("ContainerDefinitions", ()):
            try:
                worker = WorkerEnv.from_env({pair["Name"]: pair["Value"] for pair in container.get("Environment", ())})
            except ContractError:
                continue  # a sidecar, or another kind of service
            yield worker.lane, _shape(worker, service, task, queues[worker.queue_urls[worker.lane]])


def _shape(
    worker: WorkerEnv, service: Mapping[str, Any], task: Mapping[str, Any], queue: Mapping[str, Any]
) -> ServiceShape:
    percents = service.get("DeploymentConfiguration", {})
    return ServiceShape(
        lane=LaneShape(
            visibility_timeout_s=float(queue["VisibilityTimeout"]),
            max_receives=int(queue["RedrivePolicy"]["maxReceiveCount"]),
        ),
        concurrency=worker.concurrency,
        max_inflight=worker.max_inflight,
        tasks=int(service.get("DesiredCount", 1)),
        wait_time_s=worker.wait_time_s,
        polling_interval_s=worker.polling_interval_s,
        lazy_below=worker.lazy_below,
        lazy_after_s=worker.lazy_after_s,
        lazy_poll_s=worker.lazy_poll_s,
        publish_every_s=worker.publish_every_s if worker.protection else 0,
        lease_beat_s=worker.lease_beat_s,
        stop_timeout_s=worker.stop_timeout_s,
        protection_s=worker.protection_min * 60.0 if worker.protection else 0.0,
        min_healthy_percent=int(percents.get("MinimumHealthyPercent", 100)),
        max_percent=int(percents.get("MaximumPercent", 200)),
        cpu_units=int(task["Cpu"]),
        memory_mib=int(task["Memory"]),
    )
