"""Every rule of the settings: what it refuses, and the one line it says."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stacks.loading import load_stage, load_stages
from stacks.rules import Problem, problems
from tests.synth import varied


def first(stage: str = "dev", **changes: Any) -> Problem | None:
    """Return the first problem of a stage with some settings changed."""
    return next(problems(varied(load_stage(stage), **changes)), None)


REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    (
        {"lanes__heavy__queue_name": "jobs.fifo"},
        "lanes.heavy.queue_name",
        "standard queues only, a FIFO queue's throughput ceiling is a new bottleneck",
        "drop .fifo",
    ),
    ({"lanes__fast__queue_name": "jobs.fast"}, "lanes.fast.queue_name", "must be 1..80 of A-Za-z0-9_-", "rename it"),
    ({"lanes__fast__queue_name": "j" * 81}, "lanes.fast.queue_name", "must be 1..80 of A-Za-z0-9_-", "rename it"),
    (
        {"lanes__heavy__visibility_timeout_s": 29},
        "lanes.heavy.visibility_timeout_s",
        "must be 30..3_600 (extended while work lives)",
        "set 30",
    ),
    (
        {"lanes__heavy__visibility_timeout_s": 43_201},
        "lanes.heavy.visibility_timeout_s",
        "must be 30..3_600 (extended while work lives)",
        "set 3600",
    ),
    ({"lanes__heavy__wait_time_s": 0}, "lanes.heavy.wait_time_s", "is short polling", "set 20"),
    ({"lanes__heavy__wait_time_s": 21}, "lanes.heavy.wait_time_s", "must be 1..20", "set 20"),
    ({"lanes__heavy__wait_time_s": -1}, "lanes.heavy.wait_time_s", "must be 1..20", "set 1"),
    ({"lanes__heavy__retention_s": 59}, "lanes.heavy.retention_s", "must be 60..1_209_600", "set 60"),
    (
        {"lanes__heavy__dlq_retention_s": 1_209_601},
        "lanes.heavy.dlq_retention_s",
        "must be 60..1_209_600",
        "set 1209600",
    ),
    (
        {"lanes__heavy__dlq_retention_s": 345_600},
        "lanes.heavy.dlq_retention_s",
        "must exceed retention_s = 345600, or the evidence expires first",
        "set 1209600",
    ),
    (
        {"lanes__heavy__max_receives": 3},
        "lanes.heavy.max_receives",
        "must be 4..1_000 (a hand-back costs one receive)",
        "set 4",
    ),
    (
        {"lanes__heavy__max_message_bytes": 1_048_577},
        "lanes.heavy.max_message_bytes",
        "must be 1_024..1_048_576",
        "set 1048576",
    ),
    (
        {"services__heavy__prefetch": 4},
        "services.heavy.prefetch",
        "must be 1, waiting messages age against their visibility timeout",
        "set 1",
    ),
    ({"services__heavy__prefetch": 0}, "services.heavy.prefetch", "must be 1", "set 1"),
    ({"services__fast__concurrency": 0}, "services.fast.concurrency", "must be 1..256", "set 1"),
    ({"services__fast__max_inflight": 0}, "services.fast.max_inflight", "must be 1..64", "set 1"),
    ({"services__fast__polling_interval_s": 0.0}, "services.fast.polling_interval_s", "must be 0.01..1.0", "set 0.01"),
    ({"services__heavy__lazy_below": 9}, "services.heavy.lazy_below", "must be 0..8", "set 8"),
    ({"services__heavy__lazy_after_s": 0.0}, "services.heavy.lazy_after_s", "must be 30.0..43_200.0", "set 30.0"),
    ({"services__heavy__lazy_poll_s": 0.0}, "services.heavy.lazy_poll_s", "must be 0.5..60.0", "set 0.5"),
    (
        {"services__heavy__stop_timeout_s": 121},
        "services.heavy.stop_timeout_s",
        "must be 30..120 (Fargate maximum 120)",
        "set 120",
    ),
    ({"services__heavy__protection_min": 0}, "services.heavy.protection_min", "must be 1..2_880", "set 1"),
    ({"services__heavy__protection_min": 2_881}, "services.heavy.protection_min", "must be 1..2_880", "set 2880"),
    (
        {"services__heavy__protection_min": 180},
        "services.heavy.protection_min",
        "must be under 180, CloudFormation gives up on a deployment after 3 h",
        "set 30; it is renewed while work lives",
    ),
    (
        {"services__heavy__soft_time_limit_s": 3_960},
        "services.heavy.soft_time_limit_s",
        "must be under time_limit_s = 3960",
        "set 3900",
    ),
    (
        {"services__heavy__time_limit_s": 39_601},
        "services.heavy.time_limit_s",
        "must be 1..39_600 (SQS hides a message 12 h at most)",
        "set 39600",
    ),
    ({"services__heavy__min_tasks": -1}, "services.heavy.min_tasks", "must be 0..1_000", "set 0"),
    ({"services__fast__min_tasks": 0}, "services.fast.min_tasks", "must be 1..1_000", "set 1"),
    (
        {"services__heavy__min_tasks": 0, "scaling__policy": "classic"},
        "services.heavy.min_tasks",
        "must be 1 or more: classic steps leave fewer than 5 messages without a task",
        'set 1, or scaling.policy = "exact"',
    ),
    ({"services__heavy__min_tasks": 5}, "services.heavy.min_tasks", "must not exceed max_tasks = 4", "set 4 or less"),
    (
        {"services__heavy__lease_beat_s": 61},
        "services.heavy.lease_beat_s",
        "must be 1..60, half of visibility_timeout_s",
        "set 40",
    ),
    ({"services__heavy__lease_beat_s": 0}, "services.heavy.lease_beat_s", "must be 1..60", "set 40"),
    (
        {"model__quota_calls": 7},
        "model.quota_calls",
        "one task makes concurrency x max_inflight = 8 x 1 calls",
        "raise the quota or lower services.heavy.concurrency",
    ),
    (
        {
            "services__heavy__max_tasks": 10,
            "services__heavy__concurrency": 4,
            "services__heavy__max_inflight": 2,
            "model__quota_calls": 60,
        },
        "services.heavy.max_tasks",
        "10 x 4 x 2 = 80 > model.quota_calls = 60",
        "set 7 or less, or 0 for what the quota allows",
    ),
    (
        {"services__heavy__max_tasks": 0, "services__heavy__min_tasks": 6},
        "services.heavy.min_tasks",
        "must not exceed quota_calls // (concurrency x max_inflight) = 5",
        "set 5 or less",
    ),
    ({"scaling__calls_per_job": -1.0}, "scaling.calls_per_job", "must be 0.0..1_000.0", "set 0.0"),
    ({"scaling__spare_slots": -1.0}, "scaling.spare_slots", "must be 0.0..1_000.0", "set 0.0"),
    ({"scaling__burst_beta": -1.0}, "scaling.burst_beta", "must be 0.0..1_000.0", "set 0.0"),
    ({"scaling__out_periods": 0}, "scaling.out_periods", "must be 1..10", "set 1"),
    ({"scaling__in_periods": 1}, "scaling.in_periods", "must be 2..60 (counts may be stale for a minute)", "set 2"),
    ({"scaling__classic__cooldown_s": -1}, "scaling.classic.cooldown_s", "must be 0..3_600", "set 0"),
    (
        {"scaling__classic__out_add_tasks": [1, 2]},
        "scaling.classic.out_add_tasks",
        "must have one entry for each of out_at_backlog_per_task's 3",
        "make them equally long",
    ),
    (
        {"scaling__classic__out_at_backlog_per_task": [], "scaling__classic__out_add_tasks": []},
        "scaling.classic.out_at_backlog_per_task",
        "0 steps; a policy takes 1..20",
        "list 1..20 rising thresholds",
    ),
    (
        {
            "scaling__classic__out_at_backlog_per_task": [float(i) for i in range(2, 23)],
            "scaling__classic__out_add_tasks": [1] * 21,
        },
        "scaling.classic.out_at_backlog_per_task",
        "21 steps; a policy takes 1..20",
        "list 1..20 rising thresholds",
    ),
    (
        {"scaling__classic__out_at_backlog_per_task": [5.0, 5.0, 20.0]},
        "scaling.classic.out_at_backlog_per_task",
        "step 0.0..0.0 is empty",
        "list 1..20 rising thresholds",
    ),
    (
        {"scaling__classic__in_at_backlog_per_task": 5.0},
        "scaling.classic.in_at_backlog_per_task",
        "must be under out_at_backlog_per_task[0] = 5.0, or it would oscillate",
        "lower it",
    ),
    (
        {"model__timeout_s": 3_900},
        "model.timeout_s",
        "must be 1.., under services.heavy.soft_time_limit_s = 3900",
        "set 3600",
    ),
    ({"model__input_usd_per_mtok": -0.1}, "model.input_usd_per_mtok", "must be 0.0..10_000.0", "set 0.0"),
    ({"image__name": "worker:1.2"}, "image.name", "a tag can move", "pin name@sha256:digest"),
    (
        {"network__vpc_id": "vpc-1"},
        "network.vpc_id",
        "an imported VPC needs availability_zones and private_subnet_ids",
        "list them, one subnet a zone",
    ),
    ({"network__max_azs": 1}, "network.max_azs", "must be 2..6", "set 2"),
    ({"network__nat_gateways": 3}, "network.nat_gateways", "must be 0..2", "set 2"),
    ({"job_store__min_acu": 4.0}, "job_store.min_acu", "must not exceed max_acu = 2.0", "lower it"),
    ({"job_store__max_acu": 257.0}, "job_store.max_acu", "must be 1.0..256.0", "set 256.0"),
    ({"job_store__backup_retention_days": 0}, "job_store.backup_retention_days", "must be 1..35", "set 1"),
    (
        {"reconciler__idle_limit_s": 1_200},
        "reconciler.idle_limit_s",
        "must exceed 2220, model.timeout_s and a lease: it would cancel live jobs",
        "set 3600",
    ),
    (
        {"reconciler__idle_limit_s": 2_000, "model__timeout_s": 600, "services__fast__time_limit_s": 4_000},
        "reconciler.idle_limit_s",
        "must exceed 4120, services.fast.time_limit_s and a lease: it would cancel live jobs",
        "set 4720",
    ),
    ({"reconciler__every_min": 0}, "reconciler.every_min", "must be 1..60", "set 1"),
    (
        {"reconciler__every_min": 6},
        "reconciler.silent_alarm_min",
        "must be at least twice every_min = 6, or it would go off between two runs",
        "set 60",
    ),
    (
        {"job_store__secret_arn": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:db-abcdef"},
        "job_store.owner_secret_arn",
        "an imported job store has two secrets, a created one neither",
        "set both secret_arn and owner_secret_arn, or empty both",
    ),
]


@pytest.mark.parametrize(
    ("changes", "field", "bound", "fix"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_rule_names_field_bound_and_fix(changes: dict[str, Any], field: str, bound: str, fix: str) -> None:
    """A value out of bounds is refused with its field, the bound it breaks, and what to set."""
    problem = first(**changes)
    assert problem
    assert (problem.field, problem.fix) == (field, fix)
    assert problem.bound.startswith(bound)


LAPTOP: list[tuple[dict[str, Any], str, str]] = [
    ({"laptop__speed": 0.5}, "laptop.speed", "must be 1.0..600.0"),
    ({"laptop__task_start_min_s": 91.0}, "laptop.task_start_min_s", "must be 0..task_start_max_s = 90.0"),
    ({"laptop__call_min_s": 1_501.0}, "laptop.call_min_s", "must be 0..call_max_s = 1500.0"),
    (
        {"laptop__schedule_min_wall_s": 20.0, "laptop__speed": 60.0, "reconciler__silent_alarm_min": 39},
        "reconciler.silent_alarm_min",
        "must be at least twice laptop.schedule_min_wall_s in stage minutes = 20, or it would go off between two runs",
    ),
]


@pytest.mark.parametrize(("changes", "field", "bound"), LAPTOP)
def test_laptop_durations_have_bounds_too(changes: dict[str, Any], field: str, bound: str) -> None:
    """The local stage's own numbers are held to the same form."""
    problem = first("local", **changes)
    assert problem
    assert (problem.field, problem.bound) == (field, bound)


def test_shipped_stages_have_no_problem() -> None:
    """Every stage in stages.toml passes every rule."""
    assert {name: list(problems(stage)) for name, stage in load_stages().items()} == {
        "dev": [],
        "staging": [],
        "prod": [],
        "local": [],
    }


@given(
    quota=st.integers(1, 2_000),
    concurrency=st.integers(1, 64),
    max_inflight=st.integers(1, 8),
    max_tasks=st.integers(1, 500),
)
def test_accepted_fleet_never_exceeds_the_quota(
    quota: int, concurrency: int, max_inflight: int, max_tasks: int
) -> None:
    """Whatever the budget rules let pass, the most tasks make at most quota calls at once."""
    stage = varied(
        load_stage("dev"),
        services__heavy__concurrency=concurrency,
        services__heavy__max_inflight=max_inflight,
        services__heavy__max_tasks=max_tasks,
        model__quota_calls=quota,
    )
    if not list(problems(stage)):
        assert stage.plan.cap * concurrency * max_inflight <= quota
        assert stage.plan.cap >= stage.plan.min_tasks
