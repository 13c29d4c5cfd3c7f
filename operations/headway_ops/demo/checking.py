"""Was every result right? The stage's results against the drawings' truth."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headway.jobs.states import StepStatus
from headway.jobs.views import JobView
from headway_ops.demo.drawings import Drawing


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Over all drawings: steps whose count is not the truth, and steps that should be there and are not."""

    steps_wrong: int
    steps_lost: int


def check(drawings: Mapping[str, Drawing], views: Iterable[JobView]) -> Verdict:
    """Compare each job's results with its drawing; ``drawings`` maps a job's name to what was sent.

    A drawing without a job counts as lost in full.
    """
    by_name = {view.summary.name: view for view in views}
    verdicts = [_check(drawing, by_name.get(name)) for name, drawing in drawings.items()]
    return Verdict(
        steps_wrong=sum(verdict.steps_wrong for verdict in verdicts),
        steps_lost=sum(verdict.steps_lost for verdict in verdicts),
    )


def _check(drawing: Drawing, view: JobView | None) -> Verdict:
    truth = {
        (n, check): getattr(block, check) for n, block in enumerate(drawing.blocks) for check in ("bars", "openings")
    }
    found = {
        (position, step.check_name): (step.result or {}).get("count")
        for position, block in enumerate(view.blocks if view else ())
        for step in block.steps
        if step.status is StepStatus.SUCCEEDED
    }
    return Verdict(
        steps_wrong=sum(truth.get(place) != count for place, count in found.items()),
        steps_lost=len(truth.keys() - found.keys()),
    )
