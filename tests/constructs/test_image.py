"""The image helpers: a digest or nothing, the right to pull from ECR, and a build context by allow-list."""

import json
import re
from pathlib import Path

import pytest
from aws_cdk import aws_ecs as ecs
from aws_cdk.assertions import Template

from headway_cdk import build_image, import_image
from tests.constructs.parts import Parts
from tests.synth import ROOT, as_list, stack, statements, text

DIGEST = "sha256:" + "a" * 64


def test_image_without_a_digest_is_refused() -> None:
    """A tag can move, so what was tested would not be what runs."""
    with pytest.raises(ValueError, match=r"image 'worker:1\.2': a tag can move; pin name@sha256:digest"):
        import_image(stack(), "Image", name="worker:1.2")


def test_image_from_ecr_comes_with_the_right_to_pull_it() -> None:
    """The execution role may pull from the repository that the name says, and the container runs that digest."""
    parts = Parts.within(stack())
    name = f"111122223333.dkr.ecr.eu-west-1.amazonaws.com/team/worker@{DIGEST}"
    parts.worker(image=import_image(parts.stack, "Image", name=name))
    template = Template.from_stack(parts.stack)
    (definition,) = template.find_resources("AWS::ECS::TaskDefinition").values()
    assert text(definition["Properties"]["ContainerDefinitions"][0]["Image"]).endswith(f"/team/worker@{DIGEST}")
    pulls = [
        text(s["Resource"]) for _, s in statements(template.to_json()) if "ecr:BatchGetImage" in as_list(s["Action"])
    ]
    assert pulls == ["arn:aws:ecr:eu-west-1:111122223333:repository/team/worker"]


def test_image_from_another_registry_is_used_by_its_name() -> None:
    """Any other registry's image is taken as it is named."""
    parts = Parts.within(stack())
    parts.worker(image=import_image(parts.stack, "Image", name=f"ghcr.io/team/worker@{DIGEST}"))
    (definition,) = Template.from_stack(parts.stack).find_resources("AWS::ECS::TaskDefinition").values()
    assert definition["Properties"]["ContainerDefinitions"][0]["Image"] == f"ghcr.io/team/worker@{DIGEST}"


def test_build_context_is_an_allow_list(tmp_path: Path) -> None:
    """Only what is listed enters the build: a stray file changes neither the context nor its hash."""
    (tmp_path / "Dockerfile").write_text("FROM scratch\n")
    (tmp_path / "headway").mkdir()
    (tmp_path / "headway" / "worker.py").write_text("")
    assert _context(tmp_path) == {"Dockerfile", "headway/worker.py"}
    (tmp_path / "notes.txt").write_text("a stray file")
    (tmp_path / "headway" / "__pycache__").mkdir()
    (tmp_path / "headway" / "__pycache__" / "worker.pyc").write_text("")
    assert _context(tmp_path) == {"Dockerfile", "headway/worker.py"}


def test_worker_context_holds_no_cdk_and_no_operations() -> None:
    """The image is built from headway, its hashed requirements and the Dockerfile; none requires the CDK."""
    context = _context(ROOT / "runtime", "requirements.txt", "headway")
    assert {path.split("/")[0] for path in context} == {"Dockerfile", "requirements.txt", "headway"}
    requirements = (ROOT / "runtime" / "requirements.txt").read_text(encoding="utf-8")
    assert not {"aws-cdk-lib", "constructs", "jsii"} & {line.split("==")[0] for line in requirements.splitlines()}


def _context(folder: Path, *include: str) -> set[str]:
    """Return the files of the build context that a synthesis stages for ``folder``."""
    scope = stack()
    task = ecs.FargateTaskDefinition(scope, "Task")
    task.add_container("Worker", image=build_image(folder, include=include or ("headway",)))
    outdir = Path(scope.node.root.synth().directory)  # type: ignore[attr-defined]  # the root is an App
    (asset,) = outdir.glob("asset.*")
    return {str(path.relative_to(asset)) for path in asset.rglob("*") if path.is_file()}


def test_dockerfile_and_task_definition_agree() -> None:
    """Base by digest, the task's user and command, /tmp as a volume a plain user can write, exec form for signals."""
    lines = (ROOT / "runtime" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    said = dict(line.split(" ", 1) for line in lines if line.split(" ", 1)[0] in ("FROM", "USER", "CMD", "VOLUME"))
    parts = Parts.within(stack())
    parts.worker()
    (definition,) = Template.from_stack(parts.stack).find_resources("AWS::ECS::TaskDefinition").values()
    container = definition["Properties"]["ContainerDefinitions"][0]
    assert re.fullmatch(r"python:[\w.-]+@sha256:[0-9a-f]{64}", said["FROM"])
    assert said["USER"] == container["User"]
    assert json.loads(said["CMD"]) == container["Command"]
    assert json.loads(said["VOLUME"]) == [mount["ContainerPath"] for mount in container["MountPoints"]]
