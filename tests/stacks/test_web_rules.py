"""The web service's rules: who may reach it over what, and what its load balancer and its disk can bear."""

from typing import Any

import pytest

from headway.vision.image import MAX_BYTES
from stacks.loading import load_stage
from stacks.rules import problems
from tests.synth import varied

REFUSED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"web__tasks": 0}, "web.tasks", "must be 1..100", "set 1"),
    ({"web__port": 80}, "web.port", "must be 1_024..65_535 (its user may bind no lower one)", "set 1024"),
    ({"web__max_upload_bytes": 0}, "web.max_upload_bytes", "must be 1_024..104_857_600", "set 1024"),
    ({"web__max_body_bytes": 1_048_577}, "web.max_body_bytes", "must be 2_048..1_048_576", "set 1048576"),
    ({"web__max_requests": 0}, "web.max_requests", "must be 1..10_000", "set 1"),
    ({"web__idle_timeout_s": 4_001}, "web.idle_timeout_s", "must be 1..4_000", "set 4000"),
    (
        {"web__keepalive_s": 60},
        "web.keepalive_s",
        "must be 1.., under idle_timeout_s = 60, or the load balancer cuts event streams",
        "set 15",
    ),
    ({"web__keepalive_s": 0}, "web.keepalive_s", "must be 1.., under idle_timeout_s = 60", "set 15"),
    ({"web__watch_every_s": 0.1}, "web.watch_every_s", "must be 0.25..60.0", "set 0.25"),
    ({"web__session_min": 0}, "web.session_min", "must be 1..43_200", "set 1"),
    ({"web__stop_timeout_s": 121}, "web.stop_timeout_s", "must be 10..120 (Fargate maximum 120)", "set 120"),
    (
        {"web__internet_facing": True},
        "web.internet_facing",
        "without certificate_arn the token would cross the internet in clear text",
        "set certificate_arn, or false",
    ),
    (
        {
            "web__internet_facing": True,
            "web__certificate_arn": "arn:aws:acm:eu-west-1:111122223333:certificate/x",
            "network__vpc_id": "vpc-1",
            "network__availability_zones": ["a"],
            "network__private_subnet_ids": ["subnet-1"],
        },
        "web.internet_facing",
        "an imported VPC is known by its private subnets only",
        "set false, and bring a load balancer of your own",
    ),
    ({"web__allowed_cidrs": []}, "web.allowed_cidrs", "nobody could reach it", "list the VPC's block"),
    (
        {"web__allowed_cidrs": ["10.0.0.1/16"]},
        "web.allowed_cidrs",
        "10.0.0.1/16 has host bits set",
        "write it as 10.0.0.0/16",
    ),
    ({"web__allowed_cidrs": ["fd00::/8"]}, "web.allowed_cidrs", "the VPC has IPv4 only", "write IPv4"),
    (
        {"web__allowed_cidrs": ["0.0.0.0/0"]},
        "web.allowed_cidrs",
        "is everybody, and the service is internal",
        "list the VPC's block, or set internet_facing",
    ),
]


@pytest.mark.parametrize(
    ("changes", "field", "bound", "fix"), REFUSED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_rule_names_field_bound_and_fix(changes: dict[str, Any], field: str, bound: str, fix: str) -> None:
    """A value out of bounds is refused with its field, the bound it breaks, and what to set."""
    problem = next(problems(varied(load_stage("dev"), **changes)))
    assert (problem.field, problem.fix) == (field, fix)
    assert problem.bound.startswith(bound)


def test_the_largest_drawing_fits_into_every_stages_form() -> None:
    """What the vision side can open can be uploaded, with a form around it."""
    for name in ("dev", "staging", "prod", "local"):
        assert load_stage(name).web.max_upload_bytes >= MAX_BYTES + 1_024
