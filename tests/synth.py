"""Synthesizes stages and single constructs for the tests, with the context that cdk.json gives the real app."""

import atexit
import functools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Before the first import of the CDK: its template rules cost seconds of CPU in every process that synthesizes. One
# test, tests/stacks/test_app.py, synthesizes every stage with them on.
os.environ["CDK_VALIDATION"] = "false"

import aws_cdk as cdk
from aws_cdk.assertions import Template

from stacks.deployment import Deployment
from stacks.loading import load_stage
from stacks.settings import StageSettings

ROOT = Path(__file__).resolve().parent.parent

#: Where everything is synthesized to, until the test run ends.
_OUT = tempfile.mkdtemp(prefix="headway-cdk-")
atexit.register(shutil.rmtree, _OUT, ignore_errors=True)

Properties = Mapping[str, Any]


def app() -> cdk.App:
    """Return an app with cdk.json's context, writing where no other test looks."""
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return cdk.App(context=context, outdir=tempfile.mkdtemp(dir=_OUT))


def stack() -> cdk.Stack:
    """Return an empty stack to try a construct in."""
    return cdk.Stack(app(), "Test", env=cdk.Environment(account="111122223333", region="eu-west-1"))


@dataclass(frozen=True)
class Synthesized:
    """One stage's templates by stack (network, queues, jobstore, consumer, producer), its manifest and its folder."""

    templates: Mapping[str, dict[str, Any]]
    manifest: Mapping[str, Any]
    folder: Path

    def of(self, stack_name: str, kind: str) -> dict[str, Properties]:
        """Return the properties of every resource of one type, by logical id."""
        return {
            logical_id: resource.get("Properties", {})
            for logical_id, resource in self.templates[stack_name]["Resources"].items()
            if resource["Type"] == kind
        }

    def assertions(self, stack_name: str) -> Template:
        """Return one template for aws_cdk.assertions."""
        return Template.from_json(dict(self.templates[stack_name]))


@functools.cache
def stage(name: str) -> Synthesized:
    """Return a stage of stages.toml, synthesized once a test run."""
    return synthesize(load_stage(name))


def synthesize(settings: StageSettings) -> Synthesized:
    """Return the stage that ``settings`` describe."""
    root = app()
    folder = Path(Deployment(root, settings.name, settings=settings).synth().directory)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    prefix = f"headway-{settings.name}-"
    templates = {
        artifact["properties"]["stackName"].removeprefix(prefix): json.loads(
            (folder / artifact["properties"]["templateFile"]).read_text(encoding="utf-8")
        )
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    return Synthesized(templates=templates, manifest=manifest, folder=folder)


def varied(settings: StageSettings, **changes: Any) -> StageSettings:
    """Return ``settings`` with some values changed; a path's parts are joined by two underscores.

    >>> varied(load_stage("dev"), scaling__policy="classic").scaling.policy
    'classic'
    """
    for path, value in changes.items():
        name, _, rest = path.partition("__")
        part = varied(getattr(settings, name), **{rest: value}) if rest else value
        settings = settings.model_copy(update={name: part})
    return settings


def statements(template: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every statement of every IAM policy in a template, with the policy's logical id."""
    for logical_id, resource in template["Resources"].items():
        if resource["Type"] == "AWS::IAM::Policy":
            for statement in resource["Properties"]["PolicyDocument"]["Statement"]:
                yield logical_id, statement


def as_list(value: Any) -> list[Any]:
    """Return IAM's one-or-many as many."""
    return value if isinstance(value, list) else [value]


def text(value: Any) -> str:
    """Return a template's value as text, each reference in it as ${what it names}.

    >>> text({"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":sqs:", {"Fn::GetAtt": ["Queue", "Arn"]}]]})
    'arn:${AWS::Partition}:sqs:${Queue.Arn}'
    """
    match value:
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(text(part) for part in parts)
        case {"Ref": name}:
            return f"${{{name}}}"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"${{{name}.{attribute}}}"
        case {"Fn::GetStackOutput": {"StackName": name, "OutputName": output}}:
            return f"${{{name}.{output}}}"
        case {"Fn::Sub": str(pattern)}:
            return pattern
        case str():
            return value
        case _:
            return f"${{{json.dumps(value, sort_keys=True)}}}"
