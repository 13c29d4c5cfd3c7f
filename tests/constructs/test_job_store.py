"""The job store: a database that only its clients reach, and a bucket that nobody else reads."""

from aws_cdk.assertions import Match, Template

from headway_cdk import Drawings, JobDatabase, create_vpc
from tests.synth import stack


def test_database_is_encrypted_backed_up_and_outlives_its_stack() -> None:
    """Storage is encrypted, backups are kept, deletion is refused, and a deleted cluster leaves a snapshot."""
    scope = stack()
    JobDatabase(scope, "Database", vpc=create_vpc(scope, "Vpc"), min_acu=0.5, max_acu=4, backup_retention_days=7)
    template = Template.from_stack(scope)
    template.has_resource(
        "AWS::RDS::DBCluster",
        {
            "DeletionPolicy": "Snapshot",
            "UpdateReplacePolicy": "Snapshot",
            "Properties": Match.object_like(
                {
                    "StorageEncrypted": True,
                    "DeletionProtection": True,
                    "BackupRetentionPeriod": 7,
                    "ServerlessV2ScalingConfiguration": {"MinCapacity": 0.5, "MaxCapacity": 4},
                }
            ),
        },
    )
    template.has_resource_properties("AWS::RDS::DBInstance", {"PubliclyAccessible": False})


def test_only_clients_reach_the_database() -> None:
    """The one way in is the database's port, from members of the client security group."""
    scope = stack()
    JobDatabase(scope, "Database", vpc=create_vpc(scope, "Vpc"))
    template = Template.from_stack(scope)
    (rule,) = template.find_resources("AWS::EC2::SecurityGroupIngress").values()
    assert rule["Properties"]["SourceSecurityGroupId"]["Fn::GetAtt"][0].startswith("DatabaseClients")
    assert "CidrIp" not in rule["Properties"]


def test_bucket_is_private_versioned_and_retained() -> None:
    """No public access, TLS only, encrypted, versioned, and kept when the stack goes."""
    scope = stack()
    Drawings(scope, "Drawings")
    template = Template.from_stack(scope)
    template.has_resource(
        "AWS::S3::Bucket",
        {
            "DeletionPolicy": "Retain",
            "Properties": Match.object_like(
                {
                    "PublicAccessBlockConfiguration": {
                        "BlockPublicAcls": True,
                        "BlockPublicPolicy": True,
                        "IgnorePublicAcls": True,
                        "RestrictPublicBuckets": True,
                    },
                    "VersioningConfiguration": {"Status": "Enabled"},
                }
            ),
        },
    )
    template.has_resource_properties(
        "AWS::S3::BucketPolicy",
        {
            "PolicyDocument": {
                "Statement": [
                    Match.object_like({"Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}})
                ]
            }
        },
    )
