"""Forty faults by number and name, each with the tests that make it happen."""

from dataclasses import dataclass

_BARRIER = "tests/runtime/worker/test_protection_barrier.py::"
_POLICY = "tests/runtime/worker/test_protection.py::"
_AGENT = "tests/runtime/worker/test_agent.py::"
_AGENT_FAULTS = "tests/runtime/worker/test_agent_faults.py::"
_MODEL_FAULTS = "tests/runtime/worker/test_model_faults.py::"
_DELIVERY = "tests/runtime/worker/test_delivery.py::"
_STEPS = "tests/runtime/worker/test_steps.py::"
_CONNECTION = "tests/runtime/worker/test_connection_faults.py::"
_BOOT = "tests/runtime/worker/test_boot.py::"
_POISON = "tests/runtime/worker/test_poison.py::"
_JOB_FAULTS = "tests/runtime/worker/test_job_faults.py::"
_RACES = "tests/races/test_races.py::"
_INTERLEAVINGS = "tests/races/test_interleavings.py::"
_CLAIMS = "tests/runtime/jobs/test_claims.py::"
_PLAN = "tests/runtime/scaling/test_plan.py::"
_RULES = "tests/stacks/test_rules.py::"
_SERVICE = "tests/constructs/test_worker_service.py::"
_LOOP = "tests/operations/loop/"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault; ``tests`` are pytest node ids."""

    number: int
    name: str
    tests: tuple[str, ...]


CATALOGUE = (
    Fault(
        number=1,
        name="scale-in between receive and protect",
        tests=(
            _BARRIER + "test_a_stop_hands_back_what_waits_for_an_answer",
            _POLICY + "test_work_waits_until_the_agent_has_answered",
        ),
    ),
    Fault(
        number=2,
        name="the agent refuses as data: DEPLOYMENT_BLOCKED",
        tests=(
            _BARRIER + "test_a_refusal_sends_the_message_back_at_once",
            _BARRIER + "test_a_task_that_is_refused_from_the_start_receives_nothing",
        ),
    ),
    Fault(
        number=3,
        name="the agent throttles",
        tests=(
            _AGENT_FAULTS + "test_an_answer_that_grants_nothing_starts_nothing",
            _AGENT + "test_anything_but_an_enabled_protection_is_none",
        ),
    ),
    Fault(
        number=4,
        name="the agent hangs, or ECS does behind it",
        tests=(
            _AGENT_FAULTS + "test_an_agent_that_hangs_starts_nothing",
            _AGENT + "test_an_agent_that_is_gone_is_no_protection",
        ),
    ),
    Fault(
        number=5,
        name="protection expires in the middle of a call",
        tests=(
            _AGENT_FAULTS + "test_protection_is_renewed_while_a_call_runs",
            _POLICY + "test_protection_is_renewed_at_half_its_life",
        ),
    ),
    Fault(
        number=6,
        name="protection cannot be released",
        tests=(
            _AGENT_FAULTS + "test_a_release_that_fails_is_tried_again_and_the_result_is_kept",
            _POLICY + "test_a_release_that_failed_is_tried_again",
        ),
    ),
    Fault(
        number=7,
        name="SIGKILL while protected",
        tests=(
            _AGENT_FAULTS + "test_a_killed_task_leaves_its_message_to_the_next",
            _LOOP + "test_protection.py::test_protection_lapses_at_its_expiry_and_each_call_starts_it_anew",
        ),
    ),
    Fault(
        number=8,
        name="one of two slots ends",
        tests=(_AGENT_FAULTS + "test_protection_lasts_until_the_last_slot_ends",),
    ),
    Fault(
        number=9,
        name="SIGTERM from Spot, a retirement or StopTask",
        tests=(
            _DELIVERY + "test_sigterm_lets_a_call_end",
            _DELIVERY + "test_sigterm_interrupts_what_does_not_end_in_time",
            _DELIVERY + "test_sigterm_ends_an_idle_worker",
            _JOB_FAULTS + "test_a_stop_interrupts_a_call_whose_claim_is_being_renewed",
        ),
    ),
    Fault(
        number=10,
        name="SIGTERM swallowed by a shell",
        tests=(
            _SERVICE + "test_container_can_do_little_beyond_its_work",
            "tests/constructs/test_image.py::test_dockerfile_and_task_definition_agree",
        ),
    ),
    Fault(
        number=11,
        name="a deployment among protected tasks",
        tests=(
            _LOOP + "test_scheduler.py::test_a_deployment_leaves_protected_old_tasks_running",
            _SERVICE + "test_deployment_overlaps_and_rolls_back",
            _RULES + "test_rule_names_field_bound_and_fix",
        ),
    ),
    Fault(
        number=12,
        name="a desired count under the busy tasks",
        tests=(
            _PLAN + "test_scale_in_keeps_every_protected_task",
            _PLAN + "test_moving_a_message_into_flight_changes_nothing",
        ),
    ),
    Fault(
        number=13,
        name="a message delivered twice",
        tests=(
            _DELIVERY + "test_a_duplicate_of_a_finished_step_calls_nothing",
            _CLAIMS + "test_a_step_is_claimed_once",
        ),
    ),
    Fault(
        number=14,
        name="a message delivered again in the middle of its call",
        tests=(
            _DELIVERY + "test_a_message_stays_hidden_while_its_work_lives",
            _DELIVERY + "test_a_message_whose_step_is_held_comes_back_after_the_lease",
        ),
    ),
    Fault(
        number=15,
        name="a run that reaches SQS's twelve hours",
        tests=(
            _RULES + "test_rule_names_field_bound_and_fix",
            _DELIVERY + "test_a_frozen_pool_process_is_ended_by_its_time_limit",
        ),
    ),
    Fault(
        number=16,
        name="an acknowledgement lost after the work",
        tests=(_CONNECTION + "test_a_lost_acknowledgement_calls_nothing_again",),
    ),
    Fault(
        number=17,
        name="a stale receipt handle",
        tests=(
            _CONNECTION + "test_a_stale_receipt_handle_costs_nothing",
            "tests/runtime/worker/test_lease.py::test_a_message_that_cannot_be_extended_is_said_so",
        ),
    ),
    Fault(
        number=18,
        name="a poison message",
        tests=(
            _POISON + "test_poison_is_kept_with_its_reason",
            _STEPS + "test_a_step_fails_loudly_at_its_fourth_attempt",
        ),
    ),
    Fault(
        number=19,
        name="one process killed for its memory",
        tests=(_DELIVERY + "test_a_lost_pool_process_costs_only_its_own_call",),
    ),
    Fault(
        number=20,
        name="access denied on one lane",
        tests=(
            _BOOT + "test_a_denied_queue_is_configuration",
            _CONNECTION + "test_a_denied_poll_ends_the_worker_with_one_line",
        ),
    ),
    Fault(
        number=21,
        name="an unknown queue",
        tests=(
            "tests/runtime/producer/test_routing.py::test_an_unknown_lane_falls_back_with_a_warning",
            _POISON + "test_a_message_of_an_unknown_lane_is_run_once_and_acknowledged",
        ),
    ),
    Fault(
        number=22,
        name="the fast lane turned off with messages in it",
        tests=(
            _JOB_FAULTS + "test_a_lane_that_is_turned_off_is_drained",
            "tests/stacks/test_switch.py::test_lanes_and_services_exist_from_ready_on",
        ),
    ),
    Fault(
        number=23,
        name="the producer deployed first",
        tests=("tests/stacks/test_deployment.py::test_promotion_order_is_infrastructure_consumer_producer",),
    ),
    Fault(
        number=24,
        name="the consumer rolled back under new messages",
        tests=(
            "tests/runtime/test_releases.py::test_each_releases_worker_takes_each_releases_messages",
            "tests/runtime/test_releases.py::test_both_releases_work_on_one_lane_at_once",
        ),
    ),
    Fault(
        number=25,
        name="a publisher that is dead",
        tests=(
            _LOOP + "test_control.py::test_a_silent_publisher_never_scales_in",
            _LOOP + "test_alarms.py::test_missing_data_never_alarms_under_not_breaching",
        ),
    ),
    Fault(
        number=26,
        name="a reading of no tasks",
        tests=(
            _PLAN + "test_worked_example",
            "tests/runtime/publisher/test_read.py::test_service_without_tasks_has_none_protected",
        ),
    ),
    Fault(
        number=27,
        name="counts that are a minute old",
        tests=(
            _LOOP + "test_control.py::test_scale_in_needs_three_lows_in_a_row",
            _RULES + "test_rule_names_field_bound_and_fix",
        ),
    ),
    Fault(
        number=28,
        name="a fleet that may exceed the model's quota",
        tests=(
            _RULES + "test_accepted_fleet_never_exceeds_the_quota",
            "tests/constructs/test_backlog_scaling.py::test_quota_below_the_minimum_is_refused",
        ),
    ),
    Fault(
        number=29,
        name="a storm of 429s",
        tests=(
            _MODEL_FAULTS + "test_a_storm_of_rate_limits_fails_no_step",
            "tests/runtime/vision/test_asking.py::test_nobody_holds_the_gate_while_sleeping",
        ),
    ),
    Fault(
        number=30,
        name="429s without end",
        tests=(_STEPS + "test_a_step_that_gives_up_is_handed_back_and_tried_again",),
    ),
    Fault(
        number=31,
        name="a model that hangs",
        tests=(
            _MODEL_FAULTS + "test_a_model_that_hangs_gives_its_slot_back",
            _STEPS + "test_a_call_over_the_soft_limit_is_abandoned_and_tried_again",
        ),
    ),
    Fault(
        number=32,
        name="a model that answers too late",
        tests=(_MODEL_FAULTS + "test_a_late_answer_is_discarded_and_its_cost_is_kept",),
    ),
    Fault(
        number=33,
        name="an answer against the end of its job",
        tests=(
            _RACES + "test_no_race_breaks_a_rule",
            _INTERLEAVINGS + "test_i1_an_uncommitted_answer_keeps_its_job",
            _INTERLEAVINGS + "test_i2_nothing_is_accepted_between_the_second_look_and_the_cancel",
        ),
    ),
    Fault(
        number=34,
        name="a cancel against the last answer",
        tests=(
            _RACES + "test_no_race_breaks_a_rule",
            _INTERLEAVINGS + "test_i9_a_finish_does_not_overwrite_a_cancel",
        ),
    ),
    Fault(
        number=35,
        name="two reconcilers",
        tests=(
            _RACES + "test_no_race_breaks_a_rule",
            "tests/runtime/reconciler/test_sweep.py::test_several_reconcilers_side_by_side_end_each_job_once",
        ),
    ),
    Fault(
        number=36,
        name="the job store away when the answer comes",
        tests=(
            _STEPS + "test_an_answer_outlives_an_outage_of_the_job_store",
            _STEPS + "test_a_step_waits_out_an_outage_of_the_job_store",
            _JOB_FAULTS + "test_a_stop_in_the_middle_of_a_write_keeps_the_answer",
        ),
    ),
    Fault(
        number=37,
        name="the job store lost between COMMIT and its answer",
        tests=(_JOB_FAULTS + "test_a_lost_answer_to_commit_bills_nothing_twice",),
    ),
    Fault(
        number=38,
        name="clocks that disagree",
        tests=(
            _CLAIMS + "test_times_come_from_the_database_and_never_run_back",
            _INTERLEAVINGS + "test_i8_the_applications_clock_says_nothing",
        ),
    ),
    Fault(
        number=39,
        name="a job that was canceled while its step waited",
        tests=(
            _JOB_FAULTS + "test_a_step_of_a_canceled_job_is_dropped_without_a_call",
            _JOB_FAULTS + "test_a_step_in_line_for_the_quota_makes_no_call_when_its_job_is_canceled",
            _JOB_FAULTS + "test_a_call_is_given_up_when_its_job_is_canceled",
        ),
    ),
    Fault(
        number=40,
        name="SQS's quota of messages in flight",
        tests=("tests/constructs/test_alarms.py::test_in_flight_is_told_at_four_fifths_of_what_sqs_allows",),
    ),
)
