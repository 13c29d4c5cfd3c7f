"""The web service: the bounds of its load balancer, and who may reach it over what."""

import ipaddress
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stacks.rules.problem import Problem, within

if TYPE_CHECKING:
    from stacks.settings import StageSettings, Web

#: The largest drawing that is worked on, bytes (headway.vision.image.MAX_BYTES); a form has a little more.
_DRAWING_BYTES = 26_214_400


def web_problems(stage: "StageSettings") -> Iterator[Problem]:
    """Yield what is wrong with the web service."""
    web = stage.web
    yield from within("web.tasks", web.tasks, 1, 100)
    yield from within("web.port", web.port, 1_024, 65_535, "its user may bind no lower one")
    yield from within("web.max_upload_bytes", web.max_upload_bytes, 1_024, 4 * _DRAWING_BYTES)
    yield from within("web.max_body_bytes", web.max_body_bytes, 2_048, 1_048_576)
    yield from within("web.max_requests", web.max_requests, 1, 10_000)
    # Bounds: "Application Load Balancers", idle_timeout.timeout_seconds.
    yield from within("web.idle_timeout_s", web.idle_timeout_s, 1, 4_000)
    if not 1 <= web.keepalive_s < web.idle_timeout_s:
        yield Problem(
            field="web.keepalive_s",
            value=web.keepalive_s,
            bound=f"must be 1.., under idle_timeout_s = {web.idle_timeout_s}, or the load balancer cuts event streams",
            fix=f"set {max(1, web.idle_timeout_s // 4)}",
        )
    yield from within("web.watch_every_s", web.watch_every_s, 0.25, 60.0)
    yield from within("web.session_min", web.session_min, 1, 43_200)
    yield from within("web.stop_timeout_s", web.stop_timeout_s, 10, 120, "Fargate maximum 120")
    yield from _reach_problems(stage)
    yield from _address_problems(web)


def _reach_problems(stage: "StageSettings") -> Iterator[Problem]:
    web = stage.web
    if web.internet_facing and not web.certificate_arn:
        yield Problem(
            field="web.internet_facing",
            value=True,
            bound="without certificate_arn the token would cross the internet in clear text",
            fix="set certificate_arn, or false",
        )
    if web.internet_facing and stage.network.vpc_id:
        yield Problem(
            field="web.internet_facing",
            value=True,
            bound="an imported VPC is known by its private subnets only",
            fix="set false, and bring a load balancer of your own",
        )


def _address_problems(web: "Web") -> Iterator[Problem]:
    if not web.allowed_cidrs:
        yield Problem(field="web.allowed_cidrs", value=[], bound="nobody could reach it", fix="list the VPC's block")
    for cidr in web.allowed_cidrs:
        try:
            block = ipaddress.ip_network(cidr)
        except ValueError as error:
            yield Problem(field="web.allowed_cidrs", value=cidr, bound=str(error), fix="write it as 10.0.0.0/16")
            continue
        if block.version != 4:
            yield Problem(field="web.allowed_cidrs", value=cidr, bound="the VPC has IPv4 only", fix="write IPv4")
        elif block.prefixlen == 0 and not web.internet_facing:
            yield Problem(
                field="web.allowed_cidrs",
                value=cidr,
                bound="is everybody, and the service is internal",
                fix="list the VPC's block, or set internet_facing",
            )
