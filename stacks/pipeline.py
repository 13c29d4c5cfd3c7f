"""What promotes a branch: each stage's stacks in order, each deployed and verified before the next begins."""

import itertools
from collections.abc import Mapping

import aws_cdk as cdk
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_codepipeline as codepipeline
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import pipelines
from constructs import Construct

from headway_cdk import AccessLogs
from stacks.deployment import Deployment
from stacks.pipeline_grants import acknowledge_grants
from stacks.promotion import Step, steps
from stacks.settings import PipelineSettings, StageSettings

#: The role that `cdk bootstrap` makes for reading an account (aws-cdk, bootstrap-template.yaml, LookupRole).
_LOOKUP_ROLE = "cdk-{qualifier}-lookup-role-{account}-{region}"
_SETUP = "make setup"
_TOOLS = 'export PATH="$PWD/.venv/bin:$PWD/node_modules/.bin:$PATH"'


class PipelineStack(cdk.Stack):
    """A CDK pipeline over the deployments; where a stage asks for an approval, its first stack waits for a person."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        settings: PipelineSettings,
        stages: Mapping[str, StageSettings],
        deployments: Mapping[str, Deployment],
    ) -> None:
        super().__init__(
            scope,
            id_,
            stack_name="headway-pipeline",
            env=cdk.Environment(account=settings.account, region=settings.region),
        )
        self._settings = settings
        self._source = pipelines.CodePipelineSource.connection(
            settings.repository, settings.branch, connection_arn=settings.connection_arn
        )
        self._synth = pipelines.ShellStep(
            "Synth", input=self._source, install_commands=[_SETUP], commands=[_TOOLS, "cdk synth --quiet"]
        )
        artifacts = self._artifacts()
        self.pipeline = pipelines.CodePipeline(
            self,
            "Pipeline",
            synth=self._synth,
            artifact_bucket=artifacts,
            cross_account_keys=True,
            # One promotion at a time, and none is dropped in the middle of a stage.
            pipeline_type=codepipeline.PipelineType.V2,
            execution_mode=codepipeline.ExecutionMode.QUEUED,
            docker_enabled_for_synth=False,
            code_build_defaults=pipelines.CodeBuildOptions(
                build_environment=codebuild.BuildEnvironment(
                    build_image=codebuild.LinuxBuildImage.AMAZON_LINUX_2023_5, compute_type=codebuild.ComputeType.MEDIUM
                )
            ),
        )
        for name, own in itertools.groupby(steps(settings, stages), key=lambda step: step.stage):
            self._promote(stages[name], deployments[name], list(own))
        self.pipeline.build_pipeline()
        acknowledge_grants(self.pipeline, artifacts)

    def _artifacts(self) -> s3.IBucket:
        """Return what CDK Pipelines would create, and access logs beside it; stages read it from their own accounts."""
        artifacts = s3.Bucket(
            self,
            "Artifacts",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=kms.Key(self, "ArtifactsKey", enable_key_rotation=True),
            bucket_key_enabled=True,
            enforce_ssl=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        AccessLogs(self, "AccessLogs").take_from(artifacts, "artifacts/")
        return artifacts

    def _promote(self, stage: StageSettings, deployment: Deployment, own: list[Step]) -> None:
        by_stack = {step.stack: step for step in own if step.kind == "deploy"}
        proofs = {
            (step.kind, step.stack): self._proof(stage, step) for step in own if step.kind in ("may-deploy", "verify")
        }
        self.pipeline.add_stage(
            deployment,
            pre=[pipelines.ManualApprovalStep(step.name) for step in own if step.kind == "approve"],
            stack_steps=[
                pipelines.StackSteps(
                    stack=deployment.promoted[stack],
                    pre=[proofs["may-deploy", stack]],
                    post=[proofs["verify", stack]],
                )
                for stack in by_stack
            ],
        )

    def _proof(self, stage: StageSettings, step: Step) -> pipelines.CodeBuildStep:
        """Return a build that proves a step under the verifying role of the stage's account."""
        role = self._verifier(stage)
        canary = "" if self._settings.verify_role or step.kind == "may-deploy" else " --no-canary"
        profile = f"[profile stage]\\nrole_arn = {role}\\ncredential_source = EcsContainer\\nregion = {stage.region}\\n"
        return pipelines.CodeBuildStep(
            step.name,
            input=self._source,
            additional_inputs={"cdk.out": self._synth},
            install_commands=[_SETUP],
            commands=[
                _TOOLS,
                f"printf '{profile}' > aws.config",
                f"AWS_CONFIG_FILE=$PWD/aws.config AWS_PROFILE=stage {step.command}{canary}",
            ],
            role_policy_statements=[iam.PolicyStatement(actions=["sts:AssumeRole"], resources=[role])],
        )

    def _verifier(self, stage: StageSettings) -> str:
        qualifier = stage.governance.bootstrap_qualifier or cdk.DefaultStackSynthesizer.DEFAULT_QUALIFIER
        name = self._settings.verify_role or _LOOKUP_ROLE.format(
            qualifier=qualifier, account=stage.account, region=stage.region
        )
        return f"arn:{cdk.Aws.PARTITION}:iam::{stage.account}:role/{name}"
