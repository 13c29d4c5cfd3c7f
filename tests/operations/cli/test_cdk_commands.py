"""ls, diff, deploy and destroy work as CDK users expect: on the local stage, in the emulated account."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.contract import DatabaseSecret, OwnerSecret
from headway_ops.local import aws
from headway_ops.local.emulator.config import EmulatorConfig
from headway_ops.local.project import PROJECT
from stacks.loading import load_stage
from tests.operations.account import emulated_account

pytestmark = [pytest.mark.local_stage, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorConfig]:
    """An emulated account without workers: its tasks' interpreter ends at once, and well."""
    local = load_stage("local")
    keys = {name: "none" for secret in (DatabaseSecret, OwnerSecret) for name in secret.variables()}
    secrets = (local.job_store.secret_arn, local.job_store.owner_secret_arn, local.model.secret_arn)
    with emulated_account(
        tmp_path_factory.mktemp("account"),
        account=local.account,
        region=local.region,
        speed=1,
        python="/bin/true",
        secrets=dict.fromkeys(secrets, json.dumps(keys)),
    ) as config:
        yield config


def cdk(*arguments: str, account: EmulatorConfig, assembly: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the cdk command in the emulated account, on an assembly that was synthesized before or on the app itself."""
    node = Path(sys.executable).with_name("node")
    app = ["--app", str(assembly)] if assembly else []
    return subprocess.run(
        [node, PROJECT / "node_modules" / ".bin" / "cdk", *arguments, *app, "--no-notices"],
        env={
            "PATH": os.pathsep.join((str(node.parent), os.defpath)),
            "HOME": account.directory,
            "CI": "true",
            **aws.environment(account),
        },
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


@pytest.fixture(scope="module")
def assembly(account: EmulatorConfig, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every stage, synthesized once."""
    output = tmp_path_factory.mktemp("assembly") / "cdk.out"
    done = cdk("synth", "--quiet", "--output", str(output), account=account)
    assert done.returncode == 0, done.stderr
    return output


def test_ls_lists_every_stages_stacks(account: EmulatorConfig, assembly: Path) -> None:
    """Five stacks a stage: four to promote, and the network below them."""
    listed = cdk("ls", account=account, assembly=assembly).stdout.split()
    paths = {name for name in listed if "/" in name}
    stacks = ("Network", "Queues", "JobStore", "Consumer", "Producer")
    assert paths == {f"{stage}/{stack}" for stage in ("dev", "staging", "prod", "local") for stack in stacks}


def test_a_stage_is_deployed_shows_no_difference_and_is_destroyed(account: EmulatorConfig, assembly: Path) -> None:
    """Deploy creates the five stacks, diff then finds nothing to change, and destroy leaves the retained queues."""
    cloudformation, sqs = aws.client("cloudformation", account), aws.client("sqs", account)
    assert (
        cdk("bootstrap", f"aws://{account.account}/{account.region}", account=account, assembly=assembly).returncode
        == 0
    )
    deployed = cdk(
        "deploy", "local/*", "--require-approval", "never", "--method", "direct", account=account, assembly=assembly
    )
    assert deployed.returncode == 0, deployed.stderr
    names = {stack["StackName"] for stack in cloudformation.describe_stacks()["Stacks"]}
    assert {f"headway-local-{part}" for part in ("network", "queues", "jobstore", "consumer", "producer")} <= names
    difference = cdk("diff", "local/*", "--fail", "--method", "template", account=account, assembly=assembly)
    assert difference.returncode == 0, difference.stdout
    queues = sqs.list_queues()["QueueUrls"]
    destroyed = cdk("destroy", "local/*", "--force", account=account, assembly=assembly)
    assert destroyed.returncode == 0, destroyed.stderr
    assert sorted(sqs.list_queues()["QueueUrls"]) == sorted(queues)
