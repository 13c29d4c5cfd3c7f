"""What outlives every deployment: jobs, drawings, and the model's key."""

import json

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway_cdk import AccessLogs, Drawings, JobDatabase, acknowledge
from stacks.encryption import key_for
from stacks.network import vpc_for
from stacks.settings import StageSettings


class JobStoreStack(cdk.Stack):
    """The database and the drawings bucket, each created or imported, and the model secret.

    ``clients`` are the security groups a task joins to reach the database; an imported database brings its own rules.
    """

    def __init__(
        self, scope: Construct, id_: str, *, settings: StageSettings, stack_name: str, vpc: ec2.IVpc | None
    ) -> None:
        super().__init__(scope, id_, stack_name=stack_name, termination_protection=settings.termination_protection)
        store = settings.job_store
        self.access_logs = AccessLogs(self, "AccessLogs")
        self._key = key_for(self, settings)
        self.drawings = self._drawings(store.drawings_bucket)
        self.clients: list[ec2.ISecurityGroup] = []
        if store.secret_arn:
            self.database_secret = self._secret("DatabaseSecret", store.secret_arn)
            self.owner_secret = self._secret("OwnerSecret", store.owner_secret_arn)
        else:
            database = JobDatabase(
                self,
                "Database",
                vpc=vpc_for(self, settings, vpc),
                min_acu=store.min_acu,
                max_acu=store.max_acu,
                backup_retention_days=store.backup_retention_days,
                deletion_protection=settings.termination_protection,
                encryption_key=self._key,
            )
            self.database_secret, self.owner_secret = database.secret, database.owner_secret
            self.clients.append(database.clients)
        self.model_secret = self._model_secret(settings)

    def _drawings(self, name: str) -> s3.IBucket:
        if name:
            acknowledge(self.access_logs, "S1", "it holds logs itself, and the bucket in use keeps its own elsewhere")
            return s3.Bucket.from_bucket_attributes(self, "Drawings", bucket_name=name, encryption_key=self._key)
        return Drawings(self, "Drawings", access_logs=self.access_logs, encryption_key=self._key)

    def _model_secret(self, settings: StageSettings) -> secretsmanager.ISecret:
        if settings.model.secret_arn:
            return self._secret("ModelSecret", settings.model.secret_arn)
        secret = secretsmanager.Secret(
            self,
            "ModelSecret",
            encryption_key=self._key,
            description=f"The {settings.name} stage's model key: put the real one under api_key, once",
            # A random placeholder, so that tasks can start before the key is filled in.
            generate_secret_string=secretsmanager.SecretStringGenerator(
                generate_string_key="api_key", secret_string_template=json.dumps({})
            ),
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        acknowledge(secret, "SMG4", "the model's vendor gives out its key, and AWS cannot ask for another")
        return secret

    def _secret(self, id_: str, arn: str) -> secretsmanager.ISecret:
        return secretsmanager.Secret.from_secret_attributes(
            self, id_, secret_complete_arn=arn, encryption_key=self._key
        )
