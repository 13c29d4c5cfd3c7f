"""What an account's owners ask of every stack, and what of theirs a stage uses: ids that AWS would take."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem

if TYPE_CHECKING:
    from stacks.settings import StageSettings

_POLICY = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}|aws):policy/\S+")
#: aws-cdk-lib, DefaultStackSynthesizer: the name of every bootstrapped resource holds it.
_QUALIFIER = re.compile(r"[A-Za-z0-9_-]{1,10}")
#: "General purpose bucket naming rules" (S3 guide).
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_KEY = re.compile(r"arn:aws[a-z-]*:kms:(?P<region>[a-z0-9-]+):\d{12}:key/[\w-]+")
#: "Tag naming limits and requirements" (Tagging AWS Resources): 50 tags, of which headway:stage is ours.
_MOST_TAGS, _LONGEST_NAME, _LONGEST_VALUE = 49, 128, 256


def governance_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the boundary, the qualifier, the tags, the bucket and the key."""
    asked = stage.governance
    yield from _matches(
        "governance.permissions_boundary_arn", asked.permissions_boundary_arn, _POLICY, "the ARN of an IAM policy"
    )
    yield from _matches(
        "governance.bootstrap_qualifier",
        asked.bootstrap_qualifier,
        _QUALIFIER,
        "what cdk bootstrap --qualifier was given: 1..10 letters, digits, - or _",
    )
    yield from _tag_problems(asked.tags)
    yield from _matches("job_store.drawings_bucket", stage.job_store.drawings_bucket, _BUCKET, "the name of a bucket")
    key = stage.encryption.key_arn
    yield from _matches("encryption.key_arn", key, _KEY, "the ARN of a KMS key, and not an alias")
    found = _KEY.fullmatch(key)
    if found and found["region"] != stage.region:
        yield Problem(
            field="encryption.key_arn",
            value=key,
            bound=f"must be in the stage's region, {stage.region}",
            fix=f"use a key or a replica there, not the one in {found['region']}",
        )


def _matches(field: str, value: str, shape: re.Pattern[str], what: str) -> Iterator[Problem]:
    if value and not shape.fullmatch(value):
        yield Problem(field=field, value=value, bound=f"must be {what}", fix="copy it, or leave it empty")


def _tag_problems(tags: dict[str, str]) -> Iterator[Problem]:
    if len(tags) > _MOST_TAGS:
        yield Problem(field="governance.tags", value=len(tags), bound=f"must be {_MOST_TAGS} at most", fix="drop some")
    for name, value in tags.items():
        if not 0 < len(name) <= _LONGEST_NAME or name.lower().startswith(("aws:", "headway:")):
            yield Problem(
                field="governance.tags",
                value=name,
                bound=f"a name must have 1..{_LONGEST_NAME} characters, and not begin with aws: or headway:",
                fix="rename it",
            )
        if len(value) > _LONGEST_VALUE:
            yield Problem(
                field=f"governance.tags.{name}",
                value=value,
                bound=f"must have {_LONGEST_VALUE} characters at most",
                fix="shorten it",
            )
