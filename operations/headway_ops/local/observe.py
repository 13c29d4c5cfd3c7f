"""What is a local stage doing right now? Read through the APIs that a deployed stage has too."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from headway.contract import ProducerEnv
from headway.jobs.tallies import Tally, tally
from headway_ops.local.running import LocalStage
from headway_ops.outputs import producer_environment


@dataclass(frozen=True, kw_only=True)
class LaneView:
    """A lane's approximate message counts."""

    waiting: int
    in_flight: int


@dataclass(frozen=True, kw_only=True)
class FleetView:
    """One service's task counts."""

    desired: int
    running: int
    protected: int


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """One look at the stage: lanes and fleets by lane name, model calls, and the jobs' tally."""

    lanes: Mapping[str, LaneView]
    fleets: Mapping[str, FleetView]
    calls_in_flight: int
    quota_calls: int
    jobs: Tally


@dataclass
class Observer:
    """Takes snapshots of one stage; its clients and connections are made once."""

    stage: LocalStage
    engine: sa.Engine
    producer: ProducerEnv = field(init=False)
    _sqs: Any = field(init=False)
    _ecs: Any = field(init=False)
    _services: dict[str, tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        """Find the stage's queues and services."""
        self.producer = producer_environment(self.stage.client("cloudformation"), self.stage.name)
        self._sqs, self._ecs = self.stage.client("sqs"), self.stage.client("ecs")
        self._services = dict(self._find_services())

    def snapshot(self) -> Snapshot:
        """Look once."""
        usage = self.stage.model_usage()
        return Snapshot(
            lanes={lane: self._lane(url) for lane, url in self.producer.queue_urls.items()},
            fleets={lane: self._fleet(cluster, service) for lane, (cluster, service) in self._services.items()},
            calls_in_flight=usage["in_flight"],
            quota_calls=usage["quota"],
            jobs=tally(self.engine),
        )

    def polled(self, lane: str) -> bool:
        """Return whether a lane has been asked for messages yet."""
        queue = self.producer.queue_urls[lane].rpartition("/")[2]
        return any(event["kind"] == "polled" and event["subject"] == queue for event in self.stage.events())

    def lane_of(self, service: str) -> str:
        """Return the lane that a ``cluster/service`` serves, or the name itself."""
        name = service.rpartition("/")[2]
        return next((lane for lane, (_, known) in self._services.items() if known == name), name)

    def _find_services(self) -> "list[tuple[str, tuple[str, str]]]":
        found = []
        for cluster in self._ecs.list_clusters()["clusterArns"]:
            for arn in self._ecs.list_services(cluster=cluster)["serviceArns"]:
                service = self._ecs.describe_services(cluster=cluster, services=[arn])["services"][0]
                lane = self._lane_of_definition(service["taskDefinition"])
                if lane is not None:
                    found.append((lane, (cluster, service["serviceName"])))
        return found

    def _lane_of_definition(self, arn: str) -> str | None:
        """Return the lane that a service's tasks consume; None for a service of another kind."""
        definition = self._ecs.describe_task_definition(taskDefinition=arn)["taskDefinition"]
        environment = definition["containerDefinitions"][0]["environment"]
        return next((pair["value"] for pair in environment if pair["name"] == "HEADWAY_LANE"), None)

    def _lane(self, url: str) -> LaneView:
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        counts = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
        waiting, in_flight = (int(counts[name]) for name in names)
        return LaneView(waiting=waiting, in_flight=in_flight)

    def _fleet(self, cluster: str, service: str) -> FleetView:
        view = self._ecs.describe_services(cluster=cluster, services=[service])["services"][0]
        tasks = self._ecs.list_tasks(cluster=cluster, serviceName=service)["taskArns"]
        guarded = self._ecs.get_task_protection(cluster=cluster, tasks=tasks)["protectedTasks"] if tasks else []
        protected = sum(task["protectionEnabled"] for task in guarded)
        return FleetView(desired=view["desiredCount"], running=view["runningCount"], protected=protected)
