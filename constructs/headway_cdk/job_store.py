"""Where jobs and drawings are kept: a serverless PostgreSQL cluster and a bucket, both retained."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway_cdk.network import data_subnets


class JobDatabase(Construct):
    """Aurora Serverless v2 PostgreSQL that only members of ``clients`` reach.

    ``secret`` holds what opens it for whatever uses jobs, ``owner_secret`` what opens it for their migration.
    ``min_acu`` and ``max_acu`` are Aurora capacity units. PostgreSQL 15 and later refuse connections without TLS by
    default (rds.force_ssl = 1, "Security with Amazon Aurora PostgreSQL").
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        vpc: ec2.IVpc,
        min_acu: float = 0.5,
        max_acu: float = 8.0,
        backup_retention_days: int = 14,
        deletion_protection: bool = True,
    ) -> None:
        super().__init__(scope, id_)
        self.clients = ec2.SecurityGroup(self, "Clients", vpc=vpc, description="May connect to the job database")
        self.cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            engine=rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_18_4),
            writer=rds.ClusterInstance.serverless_v2("Writer"),
            serverless_v2_min_capacity=min_acu,
            serverless_v2_max_capacity=max_acu,
            credentials=rds.Credentials.from_generated_secret("headway"),
            default_database_name="headway",
            vpc=vpc,
            vpc_subnets=data_subnets(vpc),
            storage_encrypted=True,
            backup=rds.BackupProps(retention=cdk.Duration.days(backup_retention_days)),
            copy_tags_to_snapshot=True,
            deletion_protection=deletion_protection,
            removal_policy=cdk.RemovalPolicy.SNAPSHOT,
        )
        self.cluster.connections.allow_default_port_from(self.clients, "Headway's tasks")
        owner = self.cluster.secret
        if owner is None:
            raise AssertionError("a generated credential always has a secret")
        self.owner_secret: secretsmanager.ISecret = owner
        # The migration makes this login, with this password, and gives it the rights of the application.
        application = rds.DatabaseSecret(self, "Application", username="headway_app_login", dbname="headway")
        self.secret: secretsmanager.ISecret = application.attach(self.cluster)


class Drawings(s3.Bucket):
    """The bucket drawings are uploaded to: private, encrypted, TLS only, versioned and retained."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(
            scope,
            id_,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
        )
