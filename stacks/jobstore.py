"""What outlives every deployment: jobs, drawings, and the model's key."""

import json

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from headway_cdk import AccessLogs, Drawings, JobDatabase, acknowledge
from stacks.network import vpc_for
from stacks.settings import StageSettings


class JobStoreStack(cdk.Stack):
    """The database (created, or imported by its secrets), the drawings bucket and the model secret.

    ``clients`` are the security groups a task joins to reach the database; an imported database brings its own rules.
    """

    def __init__(
        self, scope: Construct, id_: str, *, settings: StageSettings, stack_name: str, vpc: ec2.IVpc | None
    ) -> None:
        super().__init__(scope, id_, stack_name=stack_name, termination_protection=settings.termination_protection)
        store = settings.job_store
        self.access_logs = AccessLogs(self, "AccessLogs")
        self.drawings = Drawings(self, "Drawings", access_logs=self.access_logs)
        self.clients: list[ec2.ISecurityGroup] = []
        if store.secret_arn:
            self.database_secret = _secret(self, "DatabaseSecret", store.secret_arn)
            self.owner_secret = _secret(self, "OwnerSecret", store.owner_secret_arn)
        else:
            database = JobDatabase(
                self,
                "Database",
                vpc=vpc_for(self, settings, vpc),
                min_acu=store.min_acu,
                max_acu=store.max_acu,
                backup_retention_days=store.backup_retention_days,
                deletion_protection=settings.termination_protection,
            )
            self.database_secret, self.owner_secret = database.secret, database.owner_secret
            self.clients.append(database.clients)
        self.model_secret = self._model_secret(settings)

    def _model_secret(self, settings: StageSettings) -> secretsmanager.ISecret:
        if settings.model.secret_arn:
            return _secret(self, "ModelSecret", settings.model.secret_arn)
        secret = secretsmanager.Secret(
            self,
            "ModelSecret",
            description=f"The {settings.name} stage's model key: put the real one under api_key, once",
            # A random placeholder, so that tasks can start before the key is filled in.
            generate_secret_string=secretsmanager.SecretStringGenerator(
                generate_string_key="api_key", secret_string_template=json.dumps({})
            ),
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        acknowledge(secret, "SMG4", "the model's vendor gives out its key, and AWS cannot ask for another")
        return secret


def _secret(scope: Construct, id_: str, arn: str) -> secretsmanager.ISecret:
    return secretsmanager.Secret.from_secret_complete_arn(scope, id_, arn)
