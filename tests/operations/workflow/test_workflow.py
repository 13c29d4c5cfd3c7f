"""The GitHub workflow is the pipeline's twin: written from the same steps, and kept as it is written."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # PyYAML ships no types

from headway_ops.local.project import PROJECT
from headway_ops.workflow import workflow
from stacks.loading import load_pipeline, load_stages
from stacks.promotion import steps
from stacks.settings import PipelineSettings
from tests.pipeline import ACCOUNTS, SETTINGS, stages


def parsed(pipeline: PipelineSettings | None) -> Mapping[Any, Any]:
    """Return a workflow as GitHub reads it."""
    found: Mapping[Any, Any] = yaml.safe_load(workflow(pipeline, stages()))
    return found


def test_the_committed_file_is_what_make_workflow_writes() -> None:
    """A change of stages.toml that is not followed by it is seen here."""
    committed = (PROJECT / ".github" / "workflows" / "deploy.yml").read_text(encoding="utf-8")
    found = load_stages()
    assert committed == workflow(load_pipeline(found), found)


def test_every_action_is_pinned_by_its_commit() -> None:
    """Forty hexadecimal digits, and the release that they are in a comment: a tag could be moved to other code."""
    used = [line.split("uses: ")[1] for line in workflow(SETTINGS, stages()).splitlines() if "uses: " in line]
    assert len(used) == 3 + 4 * len(SETTINGS.stages)
    assert [line for line in used if not re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []


def test_the_steps_are_the_pipelines() -> None:
    """By their names and in their order; approvals are the environments' own reviewers."""
    jobs = parsed(SETTINGS)["jobs"]
    named = [step["name"] for job in jobs.values() for step in job["steps"] if "name" in step]
    assert named == [step.name for step in steps(SETTINGS, stages()) if step.kind != "approve"]


def test_one_synthesis_is_deployed_everywhere() -> None:
    """Only the first job synthesizes; the others deploy single stacks of what it uploaded, one job after the other."""
    jobs = parsed(SETTINGS)["jobs"]
    runs = {name: [step.get("run", "") for step in job["steps"]] for name, job in jobs.items()}
    assert [name for name, lines in runs.items() if any("synth" in line for line in lines)] == ["synth"]
    deploys = [line for lines in runs.values() for line in lines if line.startswith("cdk deploy")]
    assert len(deploys) == 10
    assert all("--app cdk.out --exclusively" in line for line in deploys)
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "synth": None,
        "dev": ["synth"],
        "prod": ["dev"],
    }


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_each_stage_has_its_own_role_by_openid_connect(stage: str) -> None:
    """No key is kept anywhere: the job's token becomes the role of the stage's account, in its environment."""
    job = parsed(SETTINGS)["jobs"][stage]
    assert job["environment"] == stage
    assert job["permissions"] == {"contents": "read", "id-token": "write"}
    (role,) = [step["with"]["role-to-assume"] for step in job["steps"] if "role-to-assume" in step.get("with", {})]
    assert role == f"arn:aws:iam::{ACCOUNTS[stage]}:role/headway-deploy"


def test_a_repository_without_a_pipeline_deploys_only_when_it_is_told_to() -> None:
    """A fork's first push reaches no account. YAML 1.1 reads the key `on` as true."""
    assert parsed(None)[True] == {"workflow_dispatch": {}}
    assert parsed(SETTINGS)[True]["push"] == {"branches": ["main"]}
