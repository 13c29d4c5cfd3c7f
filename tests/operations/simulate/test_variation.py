"""A varied stage is the stage that its template would have described."""

import dataclasses

import pytest

from headway_ops.local.errors import StageError
from headway_ops.simulate import SimulatedStage, stage_from
from headway_ops.simulate.assembly import read
from headway_ops.simulate.variation import varied
from stacks.loading import load_stage
from tests.synth import synthesize
from tests.synth import varied as settings_with


@pytest.mark.parametrize("min_tasks", [2, 0])
def test_a_varied_stage_equals_the_synthesized_one(prod: SimulatedStage, min_tasks: int) -> None:
    """Another quota, bounds, slots, spare and cadence: the same values, alarm by alarm and step by step."""
    settings = settings_with(
        load_stage("prod"),
        services__heavy__concurrency=4,
        services__heavy__min_tasks=min_tasks,
        model__quota_calls=1_200,
        scaling__spare_slots=7.0,
        scaling__publish_every_s=60,
        scaling__in_periods=2,
    )
    synthesized = stage_from("prod", read(synthesize(settings).folder))
    plan = dataclasses.replace(
        prod.scaling.plan, concurrency=4, min_tasks=min_tasks, quota_calls=1_200, spare_slots=7.0
    )
    assert varied(prod, plan=plan, publish_every_s=60) == synthesized


def test_a_stage_on_the_classic_policy_has_no_plan_to_vary() -> None:
    """Its template follows a backlog by steps: one line says what to set."""
    settings = settings_with(load_stage("dev"), scaling__policy="classic")
    classic = stage_from("dev", read(synthesize(settings).folder))
    with pytest.raises(StageError, match=r"scaling\.policy is classic, which has no plan to vary; set exact"):
        varied(classic, publish_every_s=60)
