"""The job store stack: created or imported database, drawings, and the model's key."""

from stacks.loading import load_stage
from tests.synth import stage, synthesize, varied


def test_database_is_created_where_no_secret_is_named() -> None:
    """Prod creates Aurora in the network stack's isolated subnets, with a secret for its owner and one for others."""
    built = stage("prod")
    assert len(built.of("jobstore", "AWS::RDS::DBCluster")) == 1
    assert len(built.of("jobstore", "AWS::SecretsManager::SecretTargetAttachment")) == 2


def test_database_is_imported_by_its_secret() -> None:
    """The local stage names a secret, so no database, no secret and no client group is created."""
    built = stage("local")
    kinds = {resource["Type"] for resource in built.templates["jobstore"]["Resources"].values()}
    assert {kind for kind in kinds if kind != "AWS::CDK::Metadata"} == {"AWS::S3::Bucket", "AWS::S3::BucketPolicy"}


def test_tasks_join_the_database_clients() -> None:
    """With a created database every worker service is a member of its client security group."""
    for service in stage("prod").of("consumer", "AWS::ECS::Service").values():
        groups = service["NetworkConfiguration"]["AwsvpcConfiguration"]["SecurityGroups"]
        assert [g for g in groups if "DatabaseClients" in str(g)]


def test_created_model_secret_holds_a_placeholder_under_its_key() -> None:
    """The key's place exists from the start, random until somebody fills it in, and no template holds it."""
    secrets = stage("prod").of("jobstore", "AWS::SecretsManager::Secret")
    model = next(s for name, s in secrets.items() if name.startswith("ModelSecret"))
    assert model["GenerateSecretString"] == {"GenerateStringKey": "api_key", "SecretStringTemplate": "{}"}
    assert "SecretString" not in model


def test_deletion_protection_follows_the_stage() -> None:
    """A stage without termination protection can be taken down whole."""
    relaxed = synthesize(varied(load_stage("prod"), termination_protection=False))
    for built, protected in ((stage("prod"), True), (relaxed, False)):
        (cluster,) = built.of("jobstore", "AWS::RDS::DBCluster").values()
        assert cluster["DeletionProtection"] is protected
