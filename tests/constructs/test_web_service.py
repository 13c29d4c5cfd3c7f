"""The web service: the same hardened task, behind a load balancer that lets in only whom it is told to."""

from typing import Any

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk.assertions import Match, Template

from headway.contract import WebEnv
from headway_cdk import AccessLogs, WebService
from tests.constructs.containers import assert_hardened, container
from tests.constructs.parts import Parts
from tests.synth import stack, text

_ARN = "arn:aws:secretsmanager:eu-west-1:111122223333:secret"
_CERTIFICATE = "arn:aws:acm:eu-west-1:111122223333:certificate/x"


def environment(parts: Parts, **changes: Any) -> WebEnv:
    """Return an environment that fits the parts."""
    values: dict[str, Any] = {
        "stage": "test",
        "region": "eu-west-1",
        "queue_urls": {"heavy": parts.lane.queue.queue_url},
        "drawings_bucket": "drawings",
        "port": 8_080,
        "https": False,
        "max_upload_bytes": 27_262_976,
        "max_body_bytes": 65_536,
        "max_requests": 200,
        "idle_timeout_s": 90,
        "keepalive_s": 15,
        "watch_every_s": 1.0,
        "session_min": 720,
        "stop_timeout_s": 30,
    }
    return WebEnv(**{**values, **changes})


def built(*, told: dict[str, Any] | None = None, nat_gateways: int = 1, **props: Any) -> Template:
    """Return a stack with one web service."""
    parts = Parts.within(stack(), nat_gateways=nat_gateways)
    secret = secretsmanager.Secret.from_secret_complete_arn
    values: dict[str, Any] = {
        "cluster": parts.cluster,
        "image": ecs.ContainerImage.from_registry("worker@sha256:" + "0" * 64),
        "environment": environment(parts, **(told or {})),
        "lanes": {"heavy": parts.lane},
        "drawings": s3.Bucket.from_bucket_name(parts.stack, "Drawings", "drawings"),
        "access_logs": AccessLogs(parts.stack, "AccessLogs"),
        "database_secret": secret(parts.stack, "Db", f"{_ARN}:db-abcdef"),
        "token_secret": secret(parts.stack, "Token", f"{_ARN}:web-abcdef"),
        "cpu_units": 512,
        "memory_mib": 2_048,
        "desired_count": 2,
        "allowed_cidrs": ["10.0.0.0/16"],
        "security_groups": [ec2.SecurityGroup.from_security_group_id(parts.stack, "Clients", "sg-0123456789abcdef0")],
    }
    WebService(parts.stack, "Web", **{**values, **props})
    return Template.from_stack(parts.stack)


@pytest.fixture(scope="module")
def template() -> Template:
    """One service with its defaults."""
    return built()


def test_container_can_do_little_beyond_its_work(template: Template) -> None:
    """A plain user on a read-only root with a /tmp of its own, without capabilities, under an init, on one port."""
    web = container(template)
    assert_hardened(web)
    assert web["Command"] == ["python", "-m", "headway.web"]
    assert web["PortMappings"] == [{"ContainerPort": 8_080, "Protocol": "tcp"}]


def test_environment_is_the_contract_and_the_token_is_a_secret(template: Template) -> None:
    """Plain variables are the contract's alone; token and database come by key from their secrets."""
    web = container(template)
    plain = {e["Name"]: text(e["Value"]) for e in web["Environment"]}
    assert WebEnv.from_env(plain).max_upload_bytes == 27_262_976
    given = {s["Name"]: text(s["ValueFrom"]) for s in web["Secrets"]}
    assert given["WEB_TOKEN"] == f"{_ARN}:web-abcdef:token::"
    assert given["DATABASE_PASSWORD"] == f"{_ARN}:db-abcdef:password::"
    assert not given.keys() & plain.keys()


def test_load_balancer_is_internal_strict_and_kept(template: Template) -> None:
    """Inside the VPC, deaf to malformed headers, strict about ambiguous requests, patient as told; it logs."""
    (balancer,) = template.find_resources("AWS::ElasticLoadBalancingV2::LoadBalancer").values()
    assert balancer["Properties"]["Scheme"] == "internal"
    attributes = {a["Key"]: a["Value"] for a in balancer["Properties"]["LoadBalancerAttributes"]}
    (logs,) = template.find_resources("AWS::S3::Bucket")
    assert attributes == {
        "access_logs.s3.enabled": "true",
        "access_logs.s3.bucket": {"Ref": logs},
        "access_logs.s3.prefix": "web",
        "deletion_protection.enabled": "true",
        "idle_timeout.timeout_seconds": "90",
        "routing.http.drop_invalid_header_fields.enabled": "true",
        "routing.http.desync_mitigation_mode": "strictest",
    }


def test_only_the_allowed_reach_the_load_balancer_and_only_it_reaches_a_task(template: Template) -> None:
    """One block on one port in, and from there to the tasks' port; nothing leaves the load balancer elsewhere."""
    groups = {
        group["Properties"]["GroupDescription"]: (logical_id, group["Properties"])
        for logical_id, group in template.find_resources("AWS::EC2::SecurityGroup").items()
    }
    entrance, properties = groups["load balancer of the web service"]
    (let_in,) = properties["SecurityGroupIngress"]
    assert (let_in["CidrIp"], let_in["FromPort"], let_in["ToPort"]) == ("10.0.0.0/16", 80, 80)
    (to_tasks,) = template.find_resources("AWS::EC2::SecurityGroupIngress").values()
    tasks = groups["web service"][0]
    assert to_tasks["Properties"]["GroupId"] == {"Fn::GetAtt": [tasks, "GroupId"]}
    assert to_tasks["Properties"]["SourceSecurityGroupId"] == {"Fn::GetAtt": [entrance, "GroupId"]}
    assert (to_tasks["Properties"]["FromPort"], to_tasks["Properties"]["ToPort"]) == (8_080, 8_080)
    ports = {
        (rule["Properties"]["FromPort"], rule["Properties"]["ToPort"])
        for rule in template.find_resources("AWS::EC2::SecurityGroupEgress").values()
    }
    assert ports == {(8_080, 8_080)}


def test_a_task_is_asked_whether_it_answers_and_not_whether_its_database_does(template: Template) -> None:
    """A database that is away must not have every task replaced."""
    (group,) = template.find_resources("AWS::ElasticLoadBalancingV2::TargetGroup").values()
    assert group["Properties"]["HealthCheckPath"] == "/livez"
    assert group["Properties"]["TargetType"] == "ip"


def test_deployment_overlaps_and_rolls_back(template: Template) -> None:
    """Old tasks stay until new ones answer, and a deployment that cannot start rolls back."""
    template.has_resource_properties(
        "AWS::ECS::Service",
        {
            "DesiredCount": 2,
            "DeploymentConfiguration": {
                "MinimumHealthyPercent": 100,
                "MaximumPercent": 200,
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
            },
            "EnableExecuteCommand": False,
            "NetworkConfiguration": {
                "AwsvpcConfiguration": Match.object_like(
                    {"AssignPublicIp": "DISABLED", "SecurityGroups": Match.array_with(["sg-0123456789abcdef0"])}
                )
            },
        },
    )


def test_with_a_certificate_it_speaks_https_and_redirects_to_it() -> None:
    """443 with a modern policy forwards, 80 redirects for good, and both let in the same blocks."""
    template = built(told={"https": True}, certificate_arn=_CERTIFICATE)
    template.has_resource_properties(
        "AWS::ElasticLoadBalancingV2::Listener",
        {"Port": 443, "Protocol": "HTTPS", "Certificates": [{"CertificateArn": _CERTIFICATE}]},
    )
    (https,) = [
        listener["Properties"]
        for listener in template.find_resources("AWS::ElasticLoadBalancingV2::Listener").values()
        if listener["Properties"]["Port"] == 443
    ]
    # A policy without TLS 1.0 and 1.1 ("Security policies for your Application Load Balancer").
    assert https["SslPolicy"].startswith("ELBSecurityPolicy-TLS13-1-2-")
    template.has_resource_properties(
        "AWS::ElasticLoadBalancingV2::Listener",
        {
            "Port": 80,
            "DefaultActions": [
                {"Type": "redirect", "RedirectConfig": {"Protocol": "HTTPS", "Port": "443", "StatusCode": "HTTP_301"}}
            ],
        },
    )
    (entrance,) = template.find_resources(
        "AWS::EC2::SecurityGroup", {"Properties": {"GroupDescription": "load balancer of the web service"}}
    ).values()
    assert [rule["FromPort"] for rule in entrance["Properties"]["SecurityGroupIngress"]] == [443, 80]


def test_without_nat_its_tasks_have_addresses_and_still_only_the_load_balancer_reaches_them() -> None:
    """In a VPC of public subnets the load balancer stays internal."""
    template = built(nat_gateways=0)
    template.has_resource_properties(
        "AWS::ECS::Service",
        {"NetworkConfiguration": {"AwsvpcConfiguration": Match.object_like({"AssignPublicIp": "ENABLED"})}},
    )
    template.has_resource_properties("AWS::ElasticLoadBalancingV2::LoadBalancer", {"Scheme": "internal"})


@pytest.mark.parametrize(
    ("props", "message"),
    [
        ({"internet_facing": True}, "internet_facing without certificate_arn"),
        ({"told": {"https": True}}, "https=True with certificate_arn=''"),
        ({"certificate_arn": _CERTIFICATE}, "https=False with certificate_arn='arn:"),
    ],
)
def test_clear_text_where_it_is_not_meant_is_refused(props: dict[str, Any], message: str) -> None:
    """A token on the internet needs TLS, and cookies must know whether there is TLS."""
    with pytest.raises(ValueError, match=message):
        built(**props)
