"""What every container of ours may do: run one command as a plain user, and write nowhere but to its own /tmp."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_ecs as ecs
from aws_cdk import aws_logs as logs
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway.contract import Environment
from headway_cdk.acknowledged import acknowledge, acknowledge_open_arn
from headway_cdk.grants import allow_opened
from headway_cdk.lane_grants import LaneGrants

#: The uid and gid of the image's user; the only folder it can write is the /tmp volume.
USER = "10001:10001"
_WRITABLE = "/tmp"  # noqa: S108  # a mount point of the task's own empty volume, not a shared folder

#: A secret, by the contract whose fields are its keys.
Secrets = Mapping[type[Environment], secretsmanager.ISecret]


def task_definition(scope: Construct, *, cpu_units: int, memory_mib: int) -> ecs.FargateTaskDefinition:
    """Return a task with an empty /tmp, refused where a lane's grant is missing.

    ``cpu_units`` and ``memory_mib`` are a pair that Fargate offers.
    """
    definition = ecs.FargateTaskDefinition(
        scope,
        "Task",
        cpu=cpu_units,
        memory_limit_mib=memory_mib,
        runtime_platform=ecs.RuntimePlatform(
            cpu_architecture=ecs.CpuArchitecture.X86_64, operating_system_family=ecs.OperatingSystemFamily.LINUX
        ),
    )
    definition.add_volume(name="tmp")
    cdk.Aspects.of(definition).add(LaneGrants())
    return definition


def add_container(
    scope: Construct,
    id_: str,
    *,
    definition: ecs.FargateTaskDefinition,
    image: ecs.ContainerImage,
    command: Sequence[str],
    environment: Environment,
    secrets: Secrets,
    stop_timeout_s: int,
    log_prefix: str,
    port: int | None = None,
    health_check: ecs.HealthCheck | None = None,
) -> ecs.ContainerDefinition:
    """Add the task's container: its plain environment is the contract's, its secrets come by key and never in plain.

    ``port``: what it listens on, where something is to reach it.
    """
    linux = ecs.LinuxParameters(
        scope,
        "Linux",
        # An init process reaps orphans and passes SIGTERM on (ECS LinuxParameters, initProcessEnabled).
        init_process_enabled=True,
    )
    # Fargate lets a task drop any capability and add only SYS_PTRACE (ECS KernelCapabilities).
    linux.drop_capabilities(ecs.Capability.ALL)
    container = definition.add_container(
        id_,
        image=image,
        command=list(command),
        environment=environment.to_env(),
        secrets={name: value for contract, secret in secrets.items() for name, value in _by_key(contract, secret)},
        user=USER,
        readonly_root_filesystem=True,
        linux_parameters=linux,
        stop_timeout=cdk.Duration.seconds(stop_timeout_s),
        health_check=health_check,
        port_mappings=None if port is None else [ecs.PortMapping(container_port=port)],
        logging=ecs.LogDriver.aws_logs(
            stream_prefix=log_prefix,
            log_group=logs.LogGroup(scope, "Logs", retention=logs.RetentionDays.THREE_MONTHS),
        ),
    )
    container.add_mount_points(ecs.MountPoint(container_path=_WRITABLE, read_only=False, source_volume="tmp"))
    starter = definition.obtain_execution_role()
    for secret in secrets.values():
        allow_opened(starter, secret)
    if environment.to_env():
        acknowledge(definition, "ECS2", "what a process is told in plain text is no secret; secrets come by key")
    acknowledge_open_arn(
        starter,
        "*",
        "ecr:GetAuthorizationToken, which AWS binds to no resource; what it opens is bound to one repository",
    )
    return container


def _by_key(contract: type[Environment], secret: secretsmanager.ISecret) -> list[tuple[str, ecs.Secret]]:
    return [(name, ecs.Secret.from_secrets_manager(secret, key)) for key, name in contract.variables().items()]
