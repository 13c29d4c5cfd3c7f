"""The container of a task, and what every one of ours is."""

from typing import Any

from aws_cdk.assertions import Template


def container(template: Template) -> dict[str, Any]:
    """Return the only container's definition."""
    (definition,) = template.find_resources("AWS::ECS::TaskDefinition").values()
    (only,) = definition["Properties"]["ContainerDefinitions"]
    return dict(only)


def assert_hardened(definition: dict[str, Any]) -> None:
    """A plain user on a read-only root with a /tmp of its own, without capabilities, under an init."""
    assert definition["User"] == "10001:10001"
    assert definition["ReadonlyRootFilesystem"] is True
    assert definition["MountPoints"] == [{"ContainerPath": "/tmp", "ReadOnly": False, "SourceVolume": "tmp"}]
    assert definition["LinuxParameters"] == {"Capabilities": {"Drop": ["ALL"]}, "InitProcessEnabled": True}
