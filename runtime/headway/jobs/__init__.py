"""Jobs, blocks and steps on PostgreSQL: who may change what, when, and what was recorded about it."""

from headway.jobs.cancel import End, Ending, Outcome, cancel_job, fail_job
from headway.jobs.claims import Claim, Refusal, claim_step, finish_step, release_step, renew_claim
from headway.jobs.database import JobStoreError, connect
from headway.jobs.lifecycle import NewBlock, begin_job, create_job, pending_steps, save_blocks
from headway.jobs.queries import job_view, list_jobs
from headway.jobs.states import JobStatus, StepStatus
from headway.jobs.tallies import Tally, Waits, tally, waits
from headway.jobs.views import BlockView, JobSummary, JobView, StepView

__all__ = [
    "BlockView",
    "Claim",
    "End",
    "Ending",
    "JobStatus",
    "JobStoreError",
    "JobSummary",
    "JobView",
    "NewBlock",
    "Outcome",
    "Refusal",
    "StepStatus",
    "StepView",
    "Tally",
    "Waits",
    "begin_job",
    "cancel_job",
    "claim_step",
    "connect",
    "create_job",
    "fail_job",
    "finish_step",
    "job_view",
    "list_jobs",
    "pending_steps",
    "release_step",
    "renew_claim",
    "save_blocks",
    "tally",
    "waits",
]
