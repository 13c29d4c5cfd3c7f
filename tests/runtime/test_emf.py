"""Metric lines: what writing them must not do to the rest of a process."""

import boto3
import pytest
from botocore.awsrequest import AWSRequest

import headway.emf


class _SeenError(Exception):
    """A request was looked at, and goes no further."""


def test_aws_calls_do_not_carry_the_metric_library_s_name() -> None:
    """Powertools adds itself to each request's User-Agent from its import on, and that costs a worker 1% a message."""
    assert headway.emf.__doc__  # imported before the client is made, as in a worker
    client = boto3.session.Session().client(
        "sqs", region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test"
    )

    def look(request: AWSRequest, **_: object) -> None:
        raise _SeenError(str(request.headers["User-Agent"]))

    client.meta.events.register("before-send", look)
    with pytest.raises(_SeenError) as seen:
        client.list_queues()
    assert "Boto3" in str(seen.value)
    assert "PT/" not in str(seen.value)
