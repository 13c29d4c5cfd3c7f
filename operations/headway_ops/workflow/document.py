"""A workflow file as text: synthesize once, then each stage in a job of its own, in its own environment.

Syntax: GitHub's "Workflow syntax for GitHub Actions" and "Configuring OpenID Connect in Amazon Web Services".
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from headway_ops.workflow.actions import ACTIONS
from stacks.promotion import Step, promoted, steps
from stacks.settings import PipelineSettings, StageSettings

_HEAD = """\
# Written by `make workflow` from stages.toml; a test holds it to that. Each environment of the repository has a role to
# deploy with, and those that wait for a person have required reviewers.
name: deploy
on:
"""
_BY_HAND = """\
  workflow_dispatch: {}
"""
_ON_PUSH = """\
  push:
    branches: [BRANCH]
"""
_SYNTH = """\
permissions: {contents: read}
concurrency: {group: deploy, cancel-in-progress: false}
jobs:
  synth:
    runs-on: ubuntu-latest
    steps:
      - uses: CHECKOUT
      - uses: PYTHON
        with: {python-version: "3.11"}
      - run: make setup
      - run: make synth
      - uses: UPLOAD
        with: {name: assembly, path: cdk.out, include-hidden-files: true}
"""
_STAGE = """\
  STAGE:
    needs: [NEEDS]
    runs-on: ubuntu-latest
    environment: STAGE
    permissions: {contents: read, id-token: write}
    steps:
      - uses: CHECKOUT
      - uses: PYTHON
        with: {python-version: "3.11"}
      - run: make setup
      - run: printf '%s\\n' "$PWD/.venv/bin" "$PWD/node_modules/.bin" >> "$GITHUB_PATH"
      - uses: DOWNLOAD
        with: {name: assembly, path: cdk.out}
      - uses: CREDENTIALS
        with: {role-to-assume: "ROLE", aws-region: REGION}
"""
_STEP = """\
      - name: NAME
        run: COMMAND
"""


def workflow(pipeline: PipelineSettings | None, stages: Mapping[str, StageSettings]) -> str:
    """Return the file's text. Without a pipeline it promotes every deployed stage, and only when it is told to.

    Where a stage names no account, its environment's variable AWS_ROLE_ARN names the role to deploy with.
    """
    plan = pipeline or _unnamed(promoted(stages))
    text = (
        _HEAD
        + (_ON_PUSH.replace("BRANCH", pipeline.branch) if pipeline else "")
        + _BY_HAND
        + _filled(_SYNTH, **ACTIONS)
    )
    needs = "synth"
    for name, own in itertools.groupby(steps(plan, stages), key=lambda step: step.stage):
        text += "".join(_job(plan, stages[name], needs, own))
        needs = name
    return text


def _job(plan: PipelineSettings, stage: StageSettings, needs: str, own: Iterator[Step]) -> Iterator[str]:
    account = stage.account
    role = f"arn:aws:iam::{account}:role/{plan.deploy_role}" if account else "${{ vars.AWS_ROLE_ARN }}"
    yield _filled(_STAGE, **ACTIONS, STAGE=stage.name, NEEDS=needs, ROLE=role, REGION=stage.region)
    for step in own:
        if step.kind != "approve":  # that is up to the environment's own reviewers
            yield _filled(_STEP, NAME=step.name, COMMAND=_deploy(step) if step.kind == "deploy" else step.command)


def _deploy(step: Step) -> str:
    return f"cdk deploy {step.path} --app cdk.out --exclusively --require-approval never"


def _filled(text: str, **words: str) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _unnamed(names: Sequence[str]) -> PipelineSettings:
    return PipelineSettings(repository="", connection_arn="", account="", region="", stages=list(names))
