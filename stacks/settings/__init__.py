"""A stage's settings: frozen, typed and complete; stacks.loading reads them once, and they are passed whole."""

from stacks.settings.pipeline import PipelineSettings
from stacks.settings.stage import StageSettings
from stacks.settings.support import Alarms, JobStore, Reconciler, Web
from stacks.settings.surroundings import Cluster, Encryption, Governance, Image, Laptop, Network
from stacks.settings.work import ClassicPolicy, Lane, Lanes, Model, Scaling, Service, Services

__all__ = [
    "Alarms",
    "ClassicPolicy",
    "Cluster",
    "Encryption",
    "Governance",
    "Image",
    "JobStore",
    "Lane",
    "Lanes",
    "Laptop",
    "Model",
    "Network",
    "PipelineSettings",
    "Reconciler",
    "Scaling",
    "Service",
    "Services",
    "StageSettings",
    "Web",
]
