"""Where jobs and drawings are kept: a serverless PostgreSQL cluster and a bucket, both retained."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway_cdk.acknowledged import acknowledge
from headway_cdk.network import data_subnets


class JobDatabase(Construct):
    """Aurora Serverless v2 PostgreSQL that only members of ``clients`` reach.

    ``secret`` holds what opens it for whatever uses jobs, ``owner_secret`` what opens it for their migration.
    ``min_acu`` and ``max_acu`` are Aurora capacity units. ``encryption_key``: for storage and secrets, instead of AWS's
    own. PostgreSQL 15 and later refuse connections without TLS by
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
        encryption_key: kms.IKey | None = None,
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
            credentials=rds.Credentials.from_generated_secret("headway", encryption_key=encryption_key),
            default_database_name="headway",
            vpc=vpc,
            vpc_subnets=data_subnets(vpc),
            storage_encrypted=True,
            storage_encryption_key=encryption_key,
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
        application = rds.DatabaseSecret(
            self, "Application", username="headway_app_login", dbname="headway", encryption_key=encryption_key
        )
        self.secret: secretsmanager.ISecret = application.attach(self.cluster)
        for held in (self.cluster, application):
            # ECS injects a secret as a task starts, and for good ("Pass Secrets Manager secrets", ECS guide).
            acknowledge(held, "SMG4", "a password that rotates by itself would lock out the tasks that hold it")
        acknowledge(self.cluster, "RDS6", "one way in: passwords over TLS, from members of one security group")
        if not deletion_protection:
            acknowledge(self.cluster, "RDS10", "this stage may be torn down; a snapshot stays")


class AccessLogs(s3.Bucket):
    """The bucket that S3 and load balancers write to, and nobody else: each line goes after 90 days.

    Load balancers can write to a bucket with SSE-S3 only ("Access logs for your Application Load Balancer").
    """

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(
            scope,
            id_,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            removal_policy=cdk.RemovalPolicy.RETAIN,
            lifecycle_rules=[s3.LifecycleRule(expiration=cdk.Duration.days(90))],
        )

    def take_from(self, bucket: s3.Bucket, prefix: str) -> None:
        """Let S3 write under ``prefix`` who asked ``bucket`` for what.

        Written out, because the CDK's own way needs a feature flag of the app, and without it one of the ACLs that
        this bucket has none of ("Enabling Amazon S3 server access logging", permissions for log delivery).
        """
        self.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("logging.s3.amazonaws.com")],
                actions=["s3:PutObject"],
                resources=[self.arn_for_objects(f"{prefix}*")],
                conditions={
                    "ArnLike": {"aws:SourceArn": bucket.bucket_arn},
                    "StringEquals": {"aws:SourceAccount": cdk.Stack.of(self).account},
                },
            )
        )
        resource = bucket.node.default_child
        if isinstance(resource, s3.CfnBucket):
            resource.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(
                destination_bucket_name=self.bucket_name, log_file_prefix=prefix
            )


class Drawings(s3.Bucket):
    """The bucket drawings are uploaded to: private, encrypted, TLS only, versioned and retained.

    ``access_logs``: where S3 notes who asked for what. ``encryption_key``: a KMS key instead of S3's own.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        access_logs: AccessLogs | None = None,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(
            scope,
            id_,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.KMS if encryption_key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=encryption_key,
            # One data key for many objects, where each would otherwise be a call to KMS ("S3 Bucket Keys").
            bucket_key_enabled=bool(encryption_key) or None,
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
        if access_logs:
            access_logs.take_from(self, "drawings/")
