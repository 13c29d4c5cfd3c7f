"""Reusable CDK constructs: lanes, worker services, and the backlog scaling that makes them keep up."""

from headway_cdk.acknowledged import acknowledge, acknowledge_open_arn
from headway_cdk.alarms import Alarms, WatchedLane
from headway_cdk.backlog_publisher import BacklogPublisher
from headway_cdk.backlog_scaling import BacklogScaling, ChangeInCapacity, ExactCapacity
from headway_cdk.dashboard import Dashboard
from headway_cdk.grants import allow, allow_objects, allow_opened
from headway_cdk.image import build_image, import_image
from headway_cdk.job_store import AccessLogs, Drawings, JobDatabase
from headway_cdk.lane_grants import LaneGrants
from headway_cdk.lanes import Lane
from headway_cdk.migration import Migration
from headway_cdk.network import create_vpc, import_vpc
from headway_cdk.reconciler import Reconciler
from headway_cdk.web_service import WebService
from headway_cdk.worker_service import WorkerService

__all__ = [
    "AccessLogs",
    "Alarms",
    "BacklogPublisher",
    "BacklogScaling",
    "ChangeInCapacity",
    "Dashboard",
    "Drawings",
    "ExactCapacity",
    "JobDatabase",
    "Lane",
    "LaneGrants",
    "Migration",
    "Reconciler",
    "WatchedLane",
    "WebService",
    "WorkerService",
    "acknowledge",
    "acknowledge_open_arn",
    "allow",
    "allow_objects",
    "allow_opened",
    "build_image",
    "create_vpc",
    "import_image",
    "import_vpc",
]
