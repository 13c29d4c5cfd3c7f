"""One look at the stage: every count from the call that AWS documents for it, or none at all."""

import pytest

from headway.publisher.read import ReadError, read
from headway.scaling import LaneCounts, Reading
from tests.runtime.publisher.fakes import Aws, arns, env


def test_reading_has_every_count() -> None:
    """Lanes come from SQS, tasks from DescribeServices, protection from GetTaskProtection."""
    aws = Aws()
    aws.lane("heavy", 12, 8)
    aws.lane("fast", 3, 1)
    aws.service(running=2, desired=3)
    aws.tasks(2)
    aws.protection(page=0, size=2, protected=1)
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs) == Reading(
            heavy=LaneCounts(visible=12, in_flight=8),
            fast=LaneCounts(visible=3, in_flight=1),
            running=2,
            desired=3,
            protected=1,
        )


def test_a_second_deployment_is_a_rollout() -> None:
    """While old tasks are replaced, the service has an active deployment beside its primary."""
    aws = Aws()
    aws.lane("heavy", 0, 0)
    aws.lane("fast", 0, 0)
    aws.service(running=2, desired=1, deployments=2)
    aws.tasks(2)
    aws.protection(page=0, size=2, protected=2)
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs).deploying


def test_stage_without_a_fast_lane_reads_only_heavy() -> None:
    """Where fast_lane is off, there is no fast queue to ask."""
    aws = Aws(env(queue_urls={"heavy": env().queue_urls["heavy"]}))
    aws.lane("heavy", 0, 0)
    aws.service(running=1, desired=1)
    aws.tasks(1)
    aws.protection(page=0, size=1, protected=0)
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs).fast is None


def test_protection_is_asked_for_a_hundred_tasks_at_a_time() -> None:
    """A hundred tasks are the most ListTasks returns a page and GetTaskProtection takes (ECS API reference)."""
    aws = Aws()
    aws.lane("heavy", 900, 800)
    aws.lane("fast", 0, 0)
    aws.service(running=130, desired=150)
    aws.on_ecs.add_response(
        "list_tasks",
        {"taskArns": arns(0, 100), "nextToken": "page-1"},
        {"cluster": "cluster", "serviceName": "heavy", "maxResults": 100},
    )
    aws.protection(page=0, size=100, protected=99)
    aws.on_ecs.add_response(
        "list_tasks",
        {"taskArns": arns(1, 30)},
        {"cluster": "cluster", "serviceName": "heavy", "maxResults": 100, "nextToken": "page-1"},
    )
    aws.protection(page=1, size=30, protected=30)
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs).protected == 129


def test_service_without_tasks_has_none_protected() -> None:
    """With no task there is nothing to ask; GetTaskProtection refuses an empty list of tasks."""
    aws = Aws()
    aws.lane("heavy", 0, 0)
    aws.lane("fast", 0, 0)
    aws.service(running=0, desired=1)
    aws.tasks(0)
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs).protected == 0


def test_task_that_stopped_meanwhile_is_not_protected() -> None:
    """A task gone since it was listed answers MISSING, and counts as unprotected."""
    aws = Aws()
    aws.lane("heavy", 0, 0)
    aws.lane("fast", 0, 0)
    aws.service(running=2, desired=2)
    aws.tasks(2)
    aws.protection(page=0, size=2, protected=1, failures=({"arn": arns(0, 2)[1], "reason": "MISSING"},))
    with aws.answering():
        assert read(aws.env, aws.sqs, aws.ecs).protected == 1


def test_unexplained_failure_is_no_reading() -> None:
    """Any other failure leaves the number of protected tasks unknown."""
    aws = Aws()
    aws.lane("heavy", 0, 0)
    aws.lane("fast", 0, 0)
    aws.service(running=1, desired=1)
    aws.tasks(1)
    aws.protection(page=0, size=1, protected=0, failures=({"arn": arns(0, 1)[0], "reason": "TASK_NOT_VALID"},))
    with aws.answering(), pytest.raises(ReadError, match="TASK_NOT_VALID"):
        read(aws.env, aws.sqs, aws.ecs)


def test_queue_that_answers_without_counts_is_no_reading() -> None:
    """A missing count is unknown, never 0."""
    aws = Aws()
    aws.on_sqs.add_response("get_queue_attributes", {"Attributes": {"ApproximateNumberOfMessages": "4"}})
    with aws.answering(), pytest.raises(ReadError, match="no ApproximateNumberOfMessagesNotVisible in the answer"):
        read(aws.env, aws.sqs, aws.ecs)


def test_service_that_is_not_there_is_no_reading() -> None:
    """DescribeServices answers an unknown service with a failure inside a success."""
    aws = Aws()
    aws.lane("heavy", 0, 0)
    aws.lane("fast", 0, 0)
    aws.on_ecs.add_response("describe_services", {"services": [], "failures": [{"reason": "MISSING"}]})
    with aws.answering(), pytest.raises(ReadError, match="service heavy is not in cluster cluster"):
        read(aws.env, aws.sqs, aws.ecs)
