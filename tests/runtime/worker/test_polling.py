"""What a failed poll means, in the shapes of AWS JSON 1.0 errors."""

import json
import math

import pytest

from headway.worker.polling import PollFailure, failure, poll_again_after_s


def _error(code: str) -> bytes:
    return json.dumps({"__type": f"com.amazonaws.sqs#{code}", "message": "m"}).encode()


@pytest.mark.parametrize("code", ["AccessDenied", "AccessDeniedException", "QueueDoesNotExist", "InvalidAddress"])
def test_what_waiting_does_not_mend_is_fatal(code: str) -> None:
    """A missing permission or queue stays missing."""
    assert failure(400, _error(code)) == PollFailure(reason=code, fatal=True)


@pytest.mark.parametrize("code", ["ThrottlingException", "RequestThrottled", "ExpiredToken", "OverLimit"])
def test_what_waiting_mends_is_not(code: str) -> None:
    """Throttling passes, credentials are renewed."""
    assert failure(400, _error(code)) == PollFailure(reason=code)


def test_a_server_that_fails_is_described_by_its_status() -> None:
    """Or by what curl says of a connection that broke."""
    assert failure(503, b"") == PollFailure(reason="HTTP 503")
    assert failure(502, b"<html>") == PollFailure(reason="HTTP 502")
    assert failure(500, b"[1]") == PollFailure(reason="HTTP 500")
    assert failure(599, b"", "Empty reply") == PollFailure(reason="Empty reply")


def test_polls_come_again_within_five_seconds() -> None:
    """Half a second doubled for each failure, capped; jittered between half of it and the whole."""
    almost_one = math.nextafter(1.0, 0.0)
    assert [poll_again_after_s(failures, almost_one) for failures in (1, 2, 3, 4, 5, 999)] == pytest.approx(
        [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    )
    assert [poll_again_after_s(failures, 0.0) for failures in (1, 4)] == [0.25, 2.0]
