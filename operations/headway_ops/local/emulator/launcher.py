"""What does a container definition mean on a laptop: which command, in which environment?"""

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.ports import LOOPBACK, free_port

#: A task's stop timeout where its definition names none (ECS ContainerDefinition, Fargate).
DEFAULT_STOP_TIMEOUT_S = 30


def command_of(container: Mapping[str, Any], config: EmulatorConfig) -> list[str]:
    """Return the container's command; the image's Python is the project's own."""
    command = [*container.get("entryPoint", ()), *container.get("command", ())]
    return [config.python if part in ("python", "python3") else part for part in command]


def environment_of(
    container: Mapping[str, Any],
    secret_values: Mapping[str, str],
    task_id: str,
    config: EmulatorConfig,
    address: tuple[str, int] | None = None,
) -> dict[str, str]:
    """Return what ECS would put into the container, where its AWS calls go, and at which address it is to listen.

    Nothing of the emulator's own environment leaks in: a variable that the definition forgets is missing here too.
    """
    defined = {pair["name"]: str(pair["value"]) for pair in container.get("environment", ())}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOSTNAME": task_id,
        "TMPDIR": str(writable_of(task_id, config)),
        **{name: _answered(value, config.hosts) for name, value in defined.items()},
        **secret_values,
        "HEADWAY_SPEED": str(config.speed),
        "ECS_AGENT_URI": f"http://127.0.0.1:{config.agent_port}/api/{task_id}",
        "AWS_REGION": config.region,
        "AWS_DEFAULT_REGION": config.region,
        "AWS_ENDPOINT_URL": config.endpoint,
        "AWS_ACCESS_KEY_ID": config.account,
        "AWS_SECRET_ACCESS_KEY": secrets.token_hex(16),
        **({"HEADWAY_BIND": f"{address[0]}:{address[1]}"} if address else {}),
    }


def address_of(container: Mapping[str, Any]) -> tuple[str, int] | None:
    """Return where a container that listens is reached: on AWS each task has an address, here each has a port."""
    return (LOOPBACK, free_port()) if container.get("portMappings") else None


def writable_of(task_id: str, config: EmulatorConfig) -> Path:
    """Return the folder that stands for the container's own /tmp."""
    return Path(config.directory) / "tmp" / task_id


def _answered(value: str, hosts: Mapping[str, str]) -> str:
    """Put the loopback address behind a host name, as a container's DNS would."""
    for host, address in hosts.items():
        value = value.replace(f"//{host}", f"//{address}")
    return value


def stop_timeout_of(container: Mapping[str, Any]) -> float:
    """Return the seconds between SIGTERM and SIGKILL."""
    return float(container.get("stopTimeout") or DEFAULT_STOP_TIMEOUT_S)
