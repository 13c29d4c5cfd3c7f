"""The producer's web service: a small hardened Fargate service behind a load balancer that only some may reach."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_elasticloadbalancingv2 as elb
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway.contract import DRAWINGS_PREFIX, DatabaseSecret, WebEnv, WebSecret
from headway_cdk.grants import allow_objects
from headway_cdk.hardened import add_container, task_definition
from headway_cdk.lanes import Lane
from headway_cdk.network import task_subnets
from headway_cdk.runbook import description

#: Asks whether the task answers, and not whether its database does: no new task would mend that.
_ALIVE = "/livez"


class WebService(Construct):
    """The web service of a stage, on the workers' image.

    ``environment``: everything it is told in plain text. ``lanes``: where it sends. ``token_secret`` holds the key of
    `headway.contract.WebSecret`, ``database_secret`` those of `DatabaseSecret`. ``allowed_cidrs``: who may reach the
    load balancer, which is internal unless ``internet_facing``. With ``certificate_arn`` it speaks HTTPS, and
    redirects from HTTP; without, plain HTTP. ``access_logs``: where the load balancer notes every request.

    Raises:
        ValueError: the environment does not fit the certificate, or the internet would be spoken to in clear text.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        cluster: ecs.ICluster,
        image: ecs.ContainerImage,
        environment: WebEnv,
        lanes: Mapping[str, Lane],
        drawings: s3.IBucket,
        access_logs: s3.IBucket,
        database_secret: secretsmanager.ISecret,
        token_secret: secretsmanager.ISecret,
        cpu_units: int,
        memory_mib: int,
        desired_count: int,
        allowed_cidrs: Sequence[str],
        internet_facing: bool = False,
        certificate_arn: str = "",
        deletion_protection: bool = True,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
    ) -> None:
        _check(environment, internet_facing=internet_facing, certificate_arn=certificate_arn)
        super().__init__(scope, id_)
        self.task_definition = task_definition(self, cpu_units=cpu_units, memory_mib=memory_mib)
        add_container(
            self,
            "Web",
            definition=self.task_definition,
            image=image,
            command=["python", "-m", "headway.web"],
            environment=environment,
            secrets={DatabaseSecret: database_secret, WebSecret: token_secret},
            stop_timeout_s=environment.stop_timeout_s,
            log_prefix="web",
            port=environment.port,
        )
        self._grants(lanes, drawings)
        tasks = ec2.SecurityGroup(self, "SecurityGroup", vpc=cluster.vpc, description="web service")
        self.service = ecs.FargateService(
            self,
            "Service",
            cluster=cluster,
            task_definition=self.task_definition,
            desired_count=desired_count,
            min_healthy_percent=100,
            max_healthy_percent=200,
            circuit_breaker=ecs.DeploymentCircuitBreaker(rollback=True),
            health_check_grace_period=cdk.Duration.seconds(60),
            enable_execute_command=False,
            assign_public_ip=not cluster.vpc.private_subnets,
            vpc_subnets=task_subnets(cluster.vpc),
            security_groups=[tasks, *self._joined(security_groups)],
            propagate_tags=ecs.PropagatedTagSource.SERVICE,
        )
        self.load_balancer = self._load_balancer(
            cluster.vpc, environment, internet_facing=internet_facing, deletion_protection=deletion_protection
        )
        self.load_balancer.log_access_logs(access_logs, "web")
        self.target_group = self._target_group(cluster.vpc, environment.port)
        self._listen(certificate_arn, allowed_cidrs)
        self.url = f"{'https' if certificate_arn else 'http'}://{self.load_balancer.load_balancer_dns_name}"
        self.unhealthy_alarm = self.target_group.metrics.unhealthy_host_count(
            period=cdk.Duration.minutes(1), statistic=cloudwatch.Stats.MAXIMUM
        ).create_alarm(
            self,
            "Unhealthy",
            alarm_description=description(
                "a task of the web service does not answer its load balancer", "web-unhealthy"
            ),
            threshold=1,
            evaluation_periods=5,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _joined(self, groups: Sequence[ec2.ISecurityGroup]) -> list[ec2.ISecurityGroup]:
        """Return groups of other stacks as they are: the load balancer would add a rule of its own to each."""
        return [
            ec2.SecurityGroup.from_security_group_id(self, f"Joined{number}", group.security_group_id, mutable=False)
            for number, group in enumerate(groups)
        ]

    def _grants(self, lanes: Mapping[str, Lane], drawings: s3.IBucket) -> None:
        role = self.task_definition.task_role
        for lane in lanes.values():
            lane.grant_send(role)
        for action in ("s3:PutObject", "s3:GetObject"):
            allow_objects(role, action, drawings, DRAWINGS_PREFIX)

    def _load_balancer(
        self, vpc: ec2.IVpc, environment: WebEnv, *, internet_facing: bool, deletion_protection: bool
    ) -> elb.ApplicationLoadBalancer:
        return elb.ApplicationLoadBalancer(
            self,
            "LoadBalancer",
            vpc=vpc,
            internet_facing=internet_facing,
            vpc_subnets=ec2.SubnetSelection(subnets=vpc.public_subnets) if internet_facing else task_subnets(vpc),
            security_group=ec2.SecurityGroup(
                self,
                "Entrance",
                vpc=vpc,
                description="load balancer of the web service",
                # The one way out, and the tasks' one way in, are the rules that come with the target group.
                allow_all_outbound=False,
            ),
            idle_timeout=cdk.Duration.seconds(environment.idle_timeout_s),
            deletion_protection=deletion_protection,
            # "Application Load Balancers", routing.http.drop_invalid_header_fields and desync_mitigation_mode: what a
            # proxy and a server could read in two ways goes no further.
            drop_invalid_header_fields=True,
            desync_mitigation_mode=elb.DesyncMitigationMode.STRICTEST,
        )

    def _target_group(self, vpc: ec2.IVpc, port: int) -> elb.ApplicationTargetGroup:
        return elb.ApplicationTargetGroup(
            self,
            "Tasks",
            vpc=vpc,
            port=port,
            protocol=elb.ApplicationProtocol.HTTP,
            target_type=elb.TargetType.IP,
            targets=[self.service],
            # Requests take seconds; an event stream is opened again at another task.
            deregistration_delay=cdk.Duration.seconds(10),
            health_check=elb.HealthCheck(
                path=_ALIVE,
                healthy_http_codes="200",
                interval=cdk.Duration.seconds(10),
                timeout=cdk.Duration.seconds(5),
                healthy_threshold_count=2,
                unhealthy_threshold_count=3,
            ),
        )

    def _listen(self, certificate_arn: str, allowed_cidrs: Sequence[str]) -> None:
        forward = elb.ListenerAction.forward([self.target_group])
        if certificate_arn:
            self.load_balancer.add_listener(
                "Https",
                port=443,
                open=False,
                protocol=elb.ApplicationProtocol.HTTPS,
                certificates=[elb.ListenerCertificate.from_arn(certificate_arn)],
                ssl_policy=elb.SslPolicy.RECOMMENDED_TLS,
                default_action=forward,
            )
            forward = elb.ListenerAction.redirect(protocol="HTTPS", port="443", permanent=True)
        self.load_balancer.add_listener(
            "Http", port=80, open=False, protocol=elb.ApplicationProtocol.HTTP, default_action=forward
        )
        for cidr in allowed_cidrs:
            for port in (443, 80) if certificate_arn else (80,):
                self.load_balancer.connections.allow_from(
                    ec2.Peer.ipv4(cidr), ec2.Port.tcp(port), "Whom the settings allow"
                )


def _check(environment: WebEnv, *, internet_facing: bool, certificate_arn: str) -> None:
    if internet_facing and not certificate_arn:
        raise ValueError("internet_facing without certificate_arn: the token would cross the internet in clear text")
    if environment.https != bool(certificate_arn):
        raise ValueError(f"https={environment.https} with certificate_arn={certificate_arn!r}: both or neither")
