"""What a stage is asked to do: jobs over time, and what each job is made of."""

from headway_ops.simulate.workload.draw import Job, jobs_of
from headway_ops.simulate.workload.errors import WorkloadError
from headway_ops.simulate.workload.loading import load_workload, shipped
from headway_ops.simulate.workload.values import Deploy, JobShape, Phase, Workload

__all__ = ["Deploy", "Job", "JobShape", "Phase", "Workload", "WorkloadError", "jobs_of", "load_workload", "shipped"]
