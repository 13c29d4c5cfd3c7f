"""In which order is a stage promoted? The one list that the pipeline, its GitHub twin and the commands share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from stacks.settings import PipelineSettings, StageSettings

#: The ids of a stage's stacks by their short names, each after everything that it needs.
IDS = {
    "network": "Network",
    "queues": "Queues",
    "jobstore": "JobStore",
    "consumer": "Consumer",
    "producer": "Producer",
}
STACKS = tuple(IDS)


Kind = Literal["approve", "may-deploy", "deploy", "verify"]
#: What is done with each stack, in order.
_EACH: tuple[Kind, ...] = ("may-deploy", "deploy", "verify")


@dataclass(frozen=True)
class Step:
    """One step of the way to the last stage; ``stack`` is empty for an approval, which is of a whole stage."""

    kind: Kind
    stage: str
    stack: str = ""

    @property
    def name(self) -> str:
        """What the step is called, wherever it is shown."""
        return "-".join(part for part in (self.kind, self.stage, self.stack) if part)

    @property
    def path(self) -> str:
        """What the cdk command calls the step's stack."""
        return f"{self.stage}/{IDS[self.stack]}"

    @property
    def command(self) -> str:
        """The command that proves the step; it reads the assembly that is deployed, and changes nothing else."""
        when = "--before" if self.kind == "may-deploy" else "--after"
        return f"headway verify --stage {self.stage} {when} {self.stack} --assembly cdk.out"


def stacks_of(stage: StageSettings) -> Sequence[str]:
    """Return the stacks that a stage has, in promotion order: an imported network is none of them."""
    return tuple(name for name in STACKS if name != "network" or not stage.network.vpc_id)


def promoted(stages: Mapping[str, StageSettings]) -> Sequence[str]:
    """Return the stages that are deployed to an account of somebody's: those that no laptop stands in for."""
    return tuple(name for name, stage in stages.items() if stage.laptop is None)


def steps(pipeline: PipelineSettings, stages: Mapping[str, StageSettings]) -> Iterator[Step]:
    """Yield every step in order: each stack is asked for, deployed and verified before the next one begins."""
    for name in pipeline.stages:
        if name in pipeline.approve:
            yield Step("approve", name)
        for stack in stacks_of(stages[name]):
            for kind in _EACH:
                yield Step(kind, name, stack)
