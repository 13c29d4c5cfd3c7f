"""The worker service: a hardened task, an environment from the contract, exact grants, and a count left to scaling."""

from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from headway.contract import WorkerEnv
from tests.constructs.containers import assert_hardened, container
from tests.constructs.parts import Parts
from tests.synth import as_list, stack, statements, text


def built(**props: Any) -> Template:
    """Return a stack with one worker service; ``environment`` changes what the worker is told."""
    nat_gateways = props.pop("nat_gateways", 1)
    parts = Parts.within(stack(), nat_gateways=nat_gateways)
    changes = props.pop("environment", {})
    parts.worker(environment=parts.environment(**changes), **props)
    return Template.from_stack(parts.stack)


@pytest.fixture(scope="module")
def template() -> Template:
    """One service with its defaults."""
    return built()


def test_container_can_do_little_beyond_its_work(template: Template) -> None:
    """It runs as a plain user, on a read-only root with a /tmp of its own, without capabilities, under an init."""
    worker = container(template)
    assert_hardened(worker)
    assert worker["Command"] == ["python", "-m", "headway.worker"]


def test_health_check_asks_whether_the_worker_consumes(template: Template) -> None:
    """A worker that is alive and deaf is replaced: its command reads the age of the lane's last answer."""
    check = container(template)["HealthCheck"]
    assert check["Command"] == ["CMD", "python", "-m", "headway.worker.liveness"]
    assert (check["Interval"], check["Retries"], check["StartPeriod"]) == (30, 3, 120)


def test_worker_gets_all_of_fargates_grace(template: Template) -> None:
    """Between SIGTERM and SIGKILL lie 120 s, the most Fargate gives (ECS ContainerDefinition, stopTimeout)."""
    assert container(template)["StopTimeout"] == 120


def test_environment_is_the_contract_and_nothing_else() -> None:
    """What the task definition holds is what the worker parses: every variable comes from to_env()."""
    parts = Parts.within(stack())
    given = parts.environment()
    parts.worker(environment=given)
    plain = {e["Name"]: text(e["Value"]) for e in container(Template.from_stack(parts.stack))["Environment"]}
    assert plain.keys() == given.to_env().keys()
    parsed = WorkerEnv.from_env(plain)
    assert (parsed.visibility_timeout_s, parsed.wait_time_s, parsed.lane) == (120, 20, "heavy")


def test_secrets_come_by_key_and_never_in_plain_text(template: Template) -> None:
    """Database and model secrets are injected by ECS from their keys; no plain variable carries their names."""
    worker = container(template)
    secret = "arn:aws:secretsmanager:eu-west-1:111122223333:secret"
    assert {s["Name"]: text(s["ValueFrom"]) for s in worker["Secrets"]} == {
        "DATABASE_HOST": f"{secret}:db-abcdef:host::",
        "DATABASE_PORT": f"{secret}:db-abcdef:port::",
        "DATABASE_NAME": f"{secret}:db-abcdef:dbname::",
        "DATABASE_USER": f"{secret}:db-abcdef:username::",
        "DATABASE_PASSWORD": f"{secret}:db-abcdef:password::",
        "MODEL_API_KEY": f"{secret}:model-abcdef:api_key::",
    }
    assert not {s["Name"] for s in worker["Secrets"]} & {e["Name"] for e in worker["Environment"]}


def test_scaled_service_has_no_desired_count_to_reset(template: Template) -> None:
    """Without DesiredCount a deployment leaves the count where scaling put it."""
    template.has_resource_properties("AWS::ECS::Service", {"DesiredCount": Match.absent()})


def test_fixed_fleet_has_its_count() -> None:
    """A lane that is not scaled states its size."""
    built(desired_count=2).has_resource_properties("AWS::ECS::Service", {"DesiredCount": 2})


def test_deployment_overlaps_and_rolls_back(template: Template) -> None:
    """Old tasks stay until new ones run (100..200 percent), and a deployment that cannot start rolls back."""
    template.has_resource_properties(
        "AWS::ECS::Service",
        {
            "DeploymentConfiguration": {
                "MinimumHealthyPercent": 100,
                "MaximumPercent": 200,
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
            },
            "AvailabilityZoneRebalancing": "DISABLED",
            "EnableExecuteCommand": False,
        },
    )


def task_role_statements(template: Template) -> list[dict[str, Any]]:
    """Return what the worker itself may do."""
    return [s for logical_id, s in statements(template.to_json()) if "TaskRole" in logical_id]


def test_protection_is_granted_within_the_cluster_alone(template: Template) -> None:
    """UpdateTaskProtection reaches tasks of this cluster: by ARN, and by condition."""
    (granted,) = [s for s in task_role_statements(template) if "ecs:UpdateTaskProtection" in as_list(s["Action"])]
    (cluster,) = template.find_resources("AWS::ECS::Cluster")
    assert text(granted["Resource"]) == (f"arn:${{AWS::Partition}}:ecs:eu-west-1:111122223333:task/${{{cluster}}}/*")
    assert granted["Condition"] == {"ArnEquals": {"ecs:cluster": {"Fn::GetAtt": [cluster, "Arn"]}}}
    assert granted["Action"] == ["ecs:GetTaskProtection", "ecs:UpdateTaskProtection"]


def test_unprotected_lane_gets_no_protection_grant() -> None:
    """Five-second steps need no protection, so their worker may not ask for it."""
    granted = task_role_statements(built(environment={"protection": False}))
    assert not [a for s in granted for a in as_list(s["Action"]) if a.startswith("ecs:")]


def test_worker_may_bury_a_message_but_not_read_the_dead(template: Template) -> None:
    """On its dead-letter queue a worker has SendMessage and nothing more."""
    actions = [
        as_list(s["Action"])
        for s in task_role_statements(template)
        if any("DeadLetters" in text(r) for r in as_list(s["Resource"]))
    ]
    assert actions == [["sqs:SendMessage"]]


def test_worker_reads_drawings_and_writes_only_blocks(template: Template) -> None:
    """It reads what producers upload, reads and writes what it cuts from that, and lists or deletes nothing."""
    objects = "arn:${AWS::Partition}:s3:::drawings"
    granted = {
        action: sorted(text(resource) for resource in as_list(s["Resource"]))
        for s in task_role_statements(template)
        for action in as_list(s["Action"])
        if action.startswith("s3:")
    }
    assert granted == {
        "s3:GetObject": [f"{objects}/blocks/*", f"{objects}/drawings/*"],
        "s3:PutObject": [f"{objects}/blocks/*"],
    }


def test_tasks_run_in_private_subnets_behind_nat(template: Template) -> None:
    """With NAT a task has no public address."""
    template.has_resource_properties(
        "AWS::ECS::Service",
        {"NetworkConfiguration": {"AwsvpcConfiguration": Match.object_like({"AssignPublicIp": "DISABLED"})}},
    )


def test_without_nat_tasks_have_addresses_and_no_ingress() -> None:
    """Without NAT a task needs an address to reach its model, and its security group lets nobody in."""
    template = built(nat_gateways=0)
    template.has_resource_properties(
        "AWS::ECS::Service",
        {"NetworkConfiguration": {"AwsvpcConfiguration": Match.object_like({"AssignPublicIp": "ENABLED"})}},
    )
    template.has_resource_properties(
        "AWS::EC2::SecurityGroup", {"GroupDescription": "heavy workers", "SecurityGroupIngress": Match.absent()}
    )
    template.resource_count_is("AWS::EC2::SecurityGroupIngress", 0)


def test_logs_are_kept_for_ninety_days(template: Template) -> None:
    """The worker writes to a log group of its own, kept 90 days."""
    group = container(template)["LogConfiguration"]["Options"]["awslogs-group"]["Ref"]
    assert template.find_resources("AWS::Logs::LogGroup")[group]["Properties"]["RetentionInDays"] == 90


def test_cpu_is_an_alarm_and_never_scales(template: Template) -> None:
    """CPU raises an alarm that acts on nothing: I/O-bound workers are idle and overloaded at once."""
    template.has_resource_properties(
        "AWS::CloudWatch::Alarm",
        {"MetricName": "CPUUtilization", "EvaluationPeriods": 15, "AlarmActions": Match.absent()},
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"visibility_timeout_s": 60}, "visibility_timeout_s: the worker is told 60, its queue has 120"),
        ({"wait_time_s": 5}, "wait_time_s: the worker is told 5, its queue has 20"),
        ({"queue_urls": {}}, "lane 'heavy' is not in queue_urls"),
        ({"dead_letter_urls": {}}, "lane 'heavy' is not in dead_letter_urls"),
        ({"prefetch": 4}, "prefetch=4: must be 1"),
    ],
)
def test_environment_that_contradicts_the_lane_is_refused(changes: dict[str, Any], message: str) -> None:
    """What the worker is told and what its queue has must agree, or the synthesis stops with both."""
    with pytest.raises(ValueError, match=message):
        built(environment=changes)
