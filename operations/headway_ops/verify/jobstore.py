"""After the job store: bucket, secrets and database are there."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from headway.contract import DatabaseSecret
from headway.jobs import JobStoreError, connect
from headway.jobs.migrate import pending
from headway_ops.deployed import DeployedStage
from headway_ops.doctor import Finding
from headway_ops.doctor.secrets import arn_of, problem_of
from headway_ops.outputs import database_secret_at
from headway_ops.verify.subject import Said, Subject


def store(subject: Subject, stage: DeployedStage) -> Iterator[Said]:
    """Look at each part of the job store."""
    stack, settings = stage.stacks["jobstore"], subject.settings
    for logical_id, bucket in stack.of("AWS::S3::Bucket"):
        if says := _bucket(stage.client("s3"), bucket.physical_id):
            yield Finding("bucket-missing", logical_id, says)
    created = {name: secret.physical_id for name, secret in stack.of("AWS::SecretsManager::Secret")}
    imported = {
        "job_store.secret_arn": settings.job_store.secret_arn,
        "job_store.owner_secret_arn": settings.job_store.owner_secret_arn,
        "model.secret_arn": settings.model.secret_arn,
    }
    for where, arn in {**created, **imported}.items():
        if arn and (says := problem_of(stage.client("secretsmanager"), arn)):
            yield Finding("secret-missing", where, f"{arn} {says}")
    for logical_id, cluster in stack.of("AWS::RDS::DBCluster"):
        (found,) = stage.client("rds").describe_db_clusters(DBClusterIdentifier=cluster.physical_id)["DBClusters"]
        if found["Status"] != "available":
            yield Finding("database-down", logical_id, f"the cluster is {found['Status']}")


def migrations(stage: DeployedStage) -> Iterator[Said]:
    """Compare the database's revision with this release's, by the secret that the workers are given."""
    source = stage.workers["heavy"].serving.secrets[DatabaseSecret.variables()["host"]]
    try:
        engine = connect(database_secret_at(stage.client("secretsmanager"), arn_of(source)))
        try:
            missing = pending(engine)
        finally:
            engine.dispose()
    except (JobStoreError, ClientError) as error:
        # A private database answers nobody outside its network; the deployment's own migration task has ended well,
        # or the consumer stack would not have settled.
        yield f"migrations: {error}; that the stack has settled is all that is known of them"
        return
    for revision in missing:
        yield Finding("migration-pending", "jobstore", revision)


def _bucket(s3: Any, name: str) -> str:
    try:
        s3.head_bucket(Bucket=name)
    except ClientError as error:
        return f"{name}: {error.response['Error']['Code']}"
    return ""
