"""The aspect that refuses a task whose role lacks the grant for a lane that its environment names."""

import re

import aws_cdk as cdk
import pytest
from aws_cdk import assertions
from aws_cdk import aws_ecs as ecs

from headway.contract import Environment, ProducerEnv
from headway_cdk import Lane, LaneGrants
from tests.constructs.parts import Parts
from tests.synth import stack

ALL_OF_CONSUME = "sqs:ReceiveMessage, sqs:DeleteMessage, sqs:ChangeMessageVisibility, sqs:GetQueueAttributes"
ALL_OF_SEND = "sqs:SendMessage, sqs:GetQueueAttributes"


def refusals(scope: cdk.Stack) -> list[str]:
    """Return the errors that synthesis ends with."""
    found = assertions.Annotations.from_stack(scope).find_error("*", assertions.Match.any_value())
    return [str(error.entry.data) for error in found]


def own_task(scope: cdk.Stack, environment: Environment) -> ecs.FargateTaskDefinition:
    """Return a task definition as an app of one's own has it, with the aspect over the whole app."""
    definition = ecs.FargateTaskDefinition(scope, "Own")
    definition.add_container(
        "Web", image=ecs.ContainerImage.from_registry("web@sha256:" + "0" * 64), environment=environment.to_env()
    )
    cdk.Aspects.of(scope.node.root).add(LaneGrants())
    return definition


def producer(*lanes: tuple[str, str], fast_queue: str = "") -> ProducerEnv:
    """Return a producer's environment over lanes by name and URL."""
    return ProducerEnv(
        stage="test", region="eu-west-1", queue_urls=dict(lanes), drawings_bucket="drawings", fast_queue=fast_queue
    )


def test_a_worker_service_has_its_grants() -> None:
    """The construct grants what its environment names: nothing to refuse."""
    parts = Parts.within(stack())
    parts.worker()
    assert refusals(parts.stack) == []


def test_a_worker_that_may_not_send_to_the_main_lane_is_refused() -> None:
    """A fast lane's worker hands the rest of a job to the main lane; nobody said that it may."""
    parts = Parts.within(stack())
    fast = Lane(parts.stack, "Fast", visibility_timeout_s=120, wait_time_s=5)
    environment = parts.environment(
        lane="fast",
        wait_time_s=5,
        queue_urls={"heavy": parts.lane.queue.queue_url, "fast": fast.queue.queue_url},
        dead_letter_urls={"fast": fast.dead_letters.queue_url},
    )
    parts.worker(environment=environment, lane=fast, sends_to=[])
    assert refusals(parts.stack) == [
        f"HEADWAY_MAIN_LANE names lane 'heavy', and the task role may not {ALL_OF_SEND}; call its grant_send(task_role)"
    ]


def test_a_worker_of_a_lane_without_a_grant_is_refused() -> None:
    """A task of one's own that consumes a lane: a line for the lane, and one for its dead letters."""
    parts = Parts.within(stack())
    own_task(parts.stack, parts.environment())
    assert sorted(refusals(parts.stack)) == [
        f"HEADWAY_LANE names lane 'heavy', and the task role may not {ALL_OF_CONSUME}; "
        "call its grant_consume(task_role)",
        "HEADWAY_LANE names lane 'heavy', and the task role may not sqs:SendMessage; call its grant_bury(task_role)",
    ]


def test_a_new_lane_needs_a_grant_of_its_own() -> None:
    """A producer that may send to one lane is told of another; with its grant, synthesis goes on."""
    parts = Parts.within(stack())
    fast = Lane(parts.stack, "Fast", visibility_timeout_s=120, wait_time_s=5)
    lanes = (("heavy", parts.lane.queue.queue_url), ("fast", fast.queue.queue_url))
    definition = own_task(parts.stack, producer(*lanes, fast_queue="fast"))
    parts.lane.grant_send(definition.task_role)
    assert refusals(parts.stack) == [
        f"HEADWAY_QUEUE_URLS names lane 'fast', and the task role may not {ALL_OF_SEND}; call its grant_send(task_role)"
    ]


def test_every_grant_there_is_nothing_refused() -> None:
    """The same task with both grants."""
    parts = Parts.within(stack())
    definition = own_task(parts.stack, producer(("heavy", parts.lane.queue.queue_url)))
    parts.lane.grant_send(definition.task_role)
    assert refusals(parts.stack) == []


def test_a_switch_to_a_lane_without_a_url_is_refused() -> None:
    """FAST_QUEUE names a lane that the environment has no queue for."""
    parts = Parts.within(stack())
    definition = own_task(parts.stack, producer(("heavy", parts.lane.queue.queue_url), fast_queue="fast"))
    parts.lane.grant_send(definition.task_role)
    (line,) = refusals(parts.stack)
    assert line.startswith("FAST_QUEUE names lane 'fast'")


@pytest.mark.parametrize(("queue", "refused"), [("jobs", False), ("jobs-of-others", True)])
def test_queues_that_are_named_in_full_are_compared_by_name(queue: str, refused: bool) -> None:
    """A URL and an ARN in plain text mean one queue where their last parts are the same."""
    scope = stack()
    definition = own_task(scope, producer(("heavy", "https://sqs.eu-west-1.amazonaws.com/111122223333/jobs")))
    for action in ("sqs:SendMessage", "sqs:GetQueueAttributes"):
        definition.add_to_task_role_policy(
            cdk.aws_iam.PolicyStatement(actions=[action], resources=[f"arn:aws:sqs:eu-west-1:111122223333:{queue}"])
        )
    assert bool(refusals(scope)) is refused


def test_synthesis_ends_with_the_line() -> None:
    """`cdk synth` fails on an error that stands at a construct; the app's own synthesis shows it too."""
    parts = Parts.within(stack())
    own_task(parts.stack, parts.environment())
    stage = cdk.Stage.of(parts.stack)
    assert stage is not None
    messages = [message.entry.data for message in stage.synth().get_stack_by_name("Test").messages]
    assert any(re.match("HEADWAY_LANE names lane 'heavy'", str(message)) for message in messages)
