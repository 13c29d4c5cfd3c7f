"""The same stage with other numbers: what its template would say, without synthesizing it again."""

import dataclasses

from headway.scaling import ScalingPlan, metrics
from headway_ops.local.errors import StageError
from headway_ops.loop import Adjustment, AlarmSpec, Target
from headway_ops.simulate.stage import SimulatedStage

#: Lows in a row before a scale-in, by publish interval: counts may be stale for a minute.
IN_PERIODS = {10: 3, 60: 2}


def varied(
    stage: SimulatedStage, *, plan: ScalingPlan | None = None, publish_every_s: int | None = None
) -> SimulatedStage:
    """Return ``stage`` under another plan, or published at another interval with the lows that belong to it.

    Raises:
        StageError: the stage scales by steps on its backlog, which no plan decides.
    """
    scaling, plan = stage.scaling, plan or stage.scaling.plan
    if any(policy.adjustment is not Adjustment.EXACT for policy in scaling.policies.values()):
        raise StageError(f"stage = {stage.name!r}: scaling.policy is classic, which has no plan to vary; set exact")
    every_s = publish_every_s or scaling.publish_every_s
    alarms = tuple(
        dataclasses.replace(_published(alarm, every_s, recount=publish_every_s is not None), threshold=plan.threshold)
        for alarm in scaling.alarms
    )
    policies = {name: dataclasses.replace(policy, steps=plan.steps) for name, policy in scaling.policies.items()}
    return dataclasses.replace(
        stage,
        heavy=dataclasses.replace(
            stage.heavy,
            concurrency=plan.concurrency,
            max_inflight=plan.max_inflight,
            tasks=plan.min_tasks,
            publish_every_s=every_s,
        ),
        scaling=dataclasses.replace(
            scaling,
            plan=plan,
            publish_every_s=every_s,
            target=Target(min_capacity=plan.min_tasks, max_capacity=plan.cap),
            alarms=alarms,
            policies=policies,
        ),
    )


def _published(alarm: AlarmSpec, every_s: int, *, recount: bool) -> AlarmSpec:
    lows = IN_PERIODS[every_s] if recount and alarm.metric.name == metrics.SCALE_IN_TO.name else None
    return dataclasses.replace(
        alarm,
        period_s=every_s,
        evaluation_periods=lows or alarm.evaluation_periods,
        datapoints_to_alarm=lows or alarm.datapoints_to_alarm,
    )
