"""The pipeline, from its own template: what runs after what."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stacks.deployment import Deployment
from stacks.loading import STAGES_FILE, SettingsError, load_pipeline, load_stages
from stacks.promotion import IDS
from tests.pipeline import ACCOUNTS, SETTINGS, synthesized
from tests.synth import app, text

STACKS = ("network", "queues", "jobstore", "consumer", "producer")


def of(kind: str) -> list[Mapping[str, Any]]:
    """Return the properties of every resource of a type."""
    return list(synthesized().of("pipeline", kind).values())


def actions(stage: str) -> list[str]:
    """Return a stage's actions in the order in which they run; no two of them run at the same time."""
    (pipeline,) = of("AWS::CodePipeline::Pipeline")
    (found,) = [each["Actions"] for each in pipeline["Stages"] if each["Name"] == stage]
    orders = [action["RunOrder"] for action in found]
    assert len(set(orders)) == len(orders)
    return [action["Name"].rpartition(".")[2] for action in sorted(found, key=lambda action: action["RunOrder"])]


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_each_stack_is_asked_for_deployed_and_verified_before_the_next_begins(stage: str) -> None:
    """Infrastructure, consumer, producer, by the run orders; a production stage begins with a person."""
    expected = [
        name
        for stack in STACKS
        for name in (f"may-deploy-{stage}-{stack}", "Prepare", "Deploy", f"verify-{stage}-{stack}")
    ]
    assert actions(stage) == ([f"approve-{stage}"] if stage == "prod" else []) + expected


def test_stages_run_one_after_the_other() -> None:
    """Source, build, the pipeline's own update, assets, then the stages in their order; one promotion at a time."""
    (pipeline,) = of("AWS::CodePipeline::Pipeline")
    names = [stage["Name"] for stage in pipeline["Stages"]]
    assert names == ["Source", "Build", "UpdatePipeline", "Assets", "dev", "prod"]
    assert pipeline["ExecutionMode"] == "QUEUED"


def test_repository_and_accounts_come_from_the_settings() -> None:
    """A fork's own repository and connection; each stage's actions go to its own account."""
    (pipeline,) = of("AWS::CodePipeline::Pipeline")
    source = pipeline["Stages"][0]["Actions"][0]["Configuration"]
    assert (source["FullRepositoryId"], source["ConnectionArn"]) == (SETTINGS.repository, SETTINGS.connection_arn)
    text = json.dumps(pipeline)
    assert all(account in text for account in ACCOUNTS.values())


def test_each_stages_account_may_read_the_artifacts_and_their_key() -> None:
    """A deployment in another account reads its template from the pipeline's bucket: both policies name its role."""
    policies = [bucket["PolicyDocument"] for bucket in of("AWS::S3::BucketPolicy")]
    (key,) = of("AWS::KMS::Key")
    for account in ACCOUNTS.values():
        readers = [
            text(statement) for policy in policies for statement in policy["Statement"] if account in text(statement)
        ]
        assert [reader for reader in readers if "s3:GetObject*" in reader]
        assert [each for each in key["KeyPolicy"]["Statement"] if account in text(each) and "kms:Decrypt" in text(each)]


def test_a_verification_runs_the_step_under_a_role_of_the_stages_account() -> None:
    """One build a proof: the command of its step on the assembly; the lookup role may read, so no canary is sent."""
    builds = {json.dumps(project["Source"]["BuildSpec"]): project for project in of("AWS::CodeBuild::Project")}
    (spec,) = [spec for spec in builds if "--after consumer" in spec and "--stage prod" in spec]
    assert "headway verify --stage prod --after consumer --assembly cdk.out --no-canary" in spec
    assert "role/cdk-hnb659fds-lookup-role-777788889999-eu-west-1" in spec
    assert any("role/cdk-team-lookup-role-444455556666-eu-west-1" in each for each in builds)


def test_the_ids_are_those_of_the_stacks() -> None:
    """What the cdk command is told is a path that the app has."""
    deployed = Deployment(app(), "dev", settings=load_stages()["dev"])
    assert {name: stack.node.path for name, stack in deployed.promoted.items()} == {
        name: f"dev/{id_}" for name, id_ in IDS.items()
    }


def test_without_the_table_there_is_no_pipeline() -> None:
    """The repository's own stages.toml describes one in a comment; taken out of it, it is valid."""
    assert load_pipeline(load_stages()) is None


def test_the_comments_table_is_a_valid_one(tmp_path: Path) -> None:
    """Uncommented, with accounts for its stages."""
    text = STAGES_FILE.read_text(encoding="utf-8")
    head, _, table = text.partition("# [pipeline]")
    path = tmp_path / "stages.toml"
    uncommented = "[pipeline]" + table.replace("\n# ", "\n")
    path.write_text(head.replace('account = ""', 'account = "111122223333"', 1) + uncommented, encoding="utf-8")
    found = load_pipeline(load_stages(path), path)
    assert found is not None
    assert found.stages == ["dev", "staging", "prod"]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("repository", '"headway"', "pipeline.repository = 'headway': must be owner/name; name the repository"),
        ("connection_arn", '"c"', "pipeline.connection_arn = 'c': must be a connection's ARN; create one"),
        ("account", '"1"', "pipeline.account = '1': must be an account's twelve digits; set the account"),
        ("stages", '["local"]', "pipeline.stages = ['local']: no deployed stage 'local'; use dev, staging, prod"),
        ("stages", '["dev"]', "pipeline.stages = ['dev']: stage 'dev' names no account; set account in [stages.dev]"),
        ("approve", '["prod"]', "pipeline.approve = ['prod']: 'prod' is not promoted; add it to stages"),
        ("branches", "1", "pipeline.branches: extra inputs are not permitted"),
    ],
)
def test_a_pipeline_that_cannot_work_is_one_line(field: str, value: str, says: str, tmp_path: Path) -> None:
    """Field, value, bound, fix."""
    table = {
        "repository": '"a/b"',
        "connection_arn": f'"{SETTINGS.connection_arn}"',
        "account": '"111122223333"',
        "region": '"eu-west-1"',
        "stages": "[]",
        field: value,
    }
    path = tmp_path / "stages.toml"
    lines = "".join(f"{name} = {text}\n" for name, text in table.items())
    path.write_text(STAGES_FILE.read_text(encoding="utf-8") + f"\n[pipeline]\n{lines}", encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_pipeline(load_stages(path), path)
    assert str(refused.value).startswith(f"stages.toml: {says}")
