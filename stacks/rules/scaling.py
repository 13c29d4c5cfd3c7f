"""Scaling: steps that cover every value once, and thresholds that cannot oscillate."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from headway.scaling import StepsError, check_steps
from headway.scaling.classic import change_in_capacity_steps
from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import StageSettings


def scaling_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the scaling."""
    scaling, classic = stage.scaling, stage.scaling.classic
    for name in ("calls_per_job", "spare_slots", "burst_beta"):
        yield from within(f"scaling.{name}", getattr(scaling, name), 0.0, 1_000.0)
    yield from within("scaling.out_periods", scaling.out_periods, 1, 10)
    yield from within("scaling.in_periods", scaling.in_periods, 2, 60, "counts may be stale for a minute")
    yield from within("scaling.classic.cooldown_s", classic.cooldown_s, 0, 3_600)
    out_at, add = classic.out_at_backlog_per_task, classic.out_add_tasks
    if len(out_at) != len(add):
        yield Problem(
            field="scaling.classic.out_add_tasks",
            value=add,
            bound=f"must have one entry for each of out_at_backlog_per_task's {len(out_at)}",
            fix="make them equally long",
        )
        return
    try:
        check_steps(change_in_capacity_steps(out_at, add) if out_at else ())
    except StepsError as error:
        yield Problem(
            field="scaling.classic.out_at_backlog_per_task",
            value=out_at,
            bound=str(error),
            fix="list 1..20 rising thresholds",
        )
        return
    if scaling.policy == "classic" and not stage.services.heavy.min_tasks:
        yield Problem(
            field="services.heavy.min_tasks",
            value=0,
            bound=f"must be 1 or more: classic steps leave fewer than {out_at[0]:g} messages without a task",
            fix='set 1, or scaling.policy = "exact"',
        )
    if classic.in_at_backlog_per_task >= out_at[0]:
        yield Problem(
            field="scaling.classic.in_at_backlog_per_task",
            value=classic.in_at_backlog_per_task,
            bound=f"must be under out_at_backlog_per_task[0] = {out_at[0]}, or it would oscillate",
            fix="lower it",
        )
