"""One failed poll costs a poll: a real worker behind a proxy that breaks its connection picks up the next message.

With Kombu 5.7.0's own transport each of these ends the worker or, silently, its polling.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from headway.jobs import StepStatus
from tests.runtime.support.credentials import CredentialsServer
from tests.runtime.support.proxy import FAULTS, FaultProxy
from tests.runtime.support.servers import serving
from tests.runtime.support.stage import Stage, Worker
from tests.runtime.support.waiting import until

#: The worker's wait time in these tests, and how much later than it a lane must be polled again.
_WAIT_S, _AGAIN_WITHIN_S = 1, 10
_LASTING = sorted(set(FAULTS) - {"AccessDenied"})


@pytest.fixture
def proxy(emulator: str) -> Iterator[FaultProxy]:
    """A proxy before the emulator, in order until told otherwise."""
    server = FaultProxy(emulator)
    with serving(server):
        yield server
        server.released.set()


def _runs_a_step(stage: Stage, worker: Worker) -> None:
    step_id = stage.pending_step()
    stage.send_step(step_id)
    until(
        lambda: stage.step_status(step_id) is StepStatus.SUCCEEDED or worker.process.poll() is not None,
        within_s=_WAIT_S + _AGAIN_WITHIN_S,
        what="the next message",
    )
    assert worker.process.poll() is None, worker.log


def test_polls_go_on_after_every_kind_of_failure(stage: Stage, proxy: FaultProxy) -> None:
    """Reset, closed, cut, garbled, 503, never answered, throttled or expired: the next message is picked up."""
    with stage.worker(sqs_endpoint=proxy.url, wait_time_s=_WAIT_S) as worker:
        worker.wait_until_ready()
        _runs_a_step(stage, worker)
        for fault in _LASTING:
            # Twice: curl itself tries once more where a connection that it kept turns out to be dead.
            proxy.break_next(1 if fault == "hang" else 2, fault)
            until(lambda: proxy.left == 0, what=f"polls to break by {fault}")
            _runs_a_step(stage, worker)
        assert worker.terminate() == 0


def test_polls_go_on_after_an_outage(stage: Stage, emulator: str) -> None:
    """An endpoint that refuses connections for some polls is polled again once it is back."""
    first = FaultProxy(emulator)
    port = first.server_address[1]
    with serving(first):
        context = stage.worker(sqs_endpoint=first.url, wait_time_s=_WAIT_S)
        worker = context.__enter__().wait_until_ready()
    try:
        until(lambda: worker.log.count("poll failed") >= 3, what="refused polls")
        second = FaultProxy(emulator, port)
        with serving(second):
            _runs_a_step(stage, worker)
    finally:
        context.__exit__(None, None, None)


#: Makes every name of the emulator's unknown while a file is there, to curl and to everything in Python.
_NO_NAMES = """
import os, pycurl, socket
gone, look_up = os.environ["NAMES_ARE_GONE"], socket.getaddrinfo
class Curl(pycurl.Curl):
    def setopt(self, option, value):
        if option == pycurl.URL and os.path.exists(gone):
            value = value.replace("127.0.0.1", "gone.invalid")
        return super().setopt(option, value)
def getaddrinfo(host, *more, **options):
    return look_up("gone.invalid" if os.path.exists(gone) else host, *more, **options)
pycurl.Curl, socket.getaddrinfo = Curl, getaddrinfo
"""


def test_polls_go_on_when_names_are_resolved_again(stage: Stage, proxy: FaultProxy, tmp_path: Path) -> None:
    """Nothing resolves SQS's name for some polls (RFC 6761: .invalid never does); then the next message is run."""
    (tmp_path / "sitecustomize.py").write_text(_NO_NAMES)
    gone = tmp_path / "gone"
    around = {"PYTHONPATH": str(tmp_path), "NAMES_ARE_GONE": str(gone)}
    with stage.worker(sqs_endpoint=proxy.url, surroundings=around, wait_time_s=_WAIT_S) as worker:
        worker.wait_until_ready()
        gone.touch()
        until(lambda: worker.log.count("Could not resolve host") >= 2, what="polls without a name")
        gone.unlink()
        _runs_a_step(stage, worker)
        assert worker.terminate() == 0


def test_credentials_that_expire_during_a_call_and_are_renewed_late_cost_nothing(
    stage: Stage, proxy: FaultProxy
) -> None:
    """The role's key expires while a call runs, and no other is to be had for some polls: the call is still made once.

    Its message is acknowledged, and the next one received, with the new key.
    """
    credentials = CredentialsServer("FIRST")
    around = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{credentials.url}/role",
        "AWS_ACCESS_KEY_ID": "",
        "AWS_SECRET_ACCESS_KEY": "",
    }
    stage.model.gate.clear()
    step_id = stage.pending_step()
    with (
        serving(credentials),
        stage.worker(sqs_endpoint=proxy.url, surroundings=around, wait_time_s=_WAIT_S) as worker,
    ):
        stage.send_step(step_id)
        until(lambda: stage.model.asked, what="the call")
        credentials.key, proxy.expired = "", {"FIRST"}
        until(lambda: worker.log.count("poll failed") >= 2, within_s=60, what="polls without credentials")
        credentials.key = "SECOND"
        stage.model.gate.set()
        until(lambda: stage.counts() == (0, 0), what="the acknowledgement")
        _runs_a_step(stage, worker)
    assert len(stage.model.asked) == 2


def test_a_denied_poll_ends_the_worker_with_one_line(stage: Stage, proxy: FaultProxy) -> None:
    """Waiting mends no missing permission: exit 4, and the reason is logged."""
    with stage.worker(sqs_endpoint=proxy.url, wait_time_s=_WAIT_S) as worker:
        worker.wait_until_ready()
        proxy.break_next(1, "AccessDenied")
        assert worker.process.wait(30) == 4
    assert "lane heavy: AccessDenied" in worker.log
    assert "Traceback" not in worker.log


def _is_called_once_and_acknowledged(stage: Stage, proxy: FaultProxy) -> None:
    """Run a step whose first acknowledgement fails: the second delivery finds it finished, and the worker lives."""
    step_id = stage.pending_step()
    with stage.worker(sqs_endpoint=proxy.url, wait_time_s=_WAIT_S) as worker:
        stage.send_step(step_id)
        until(lambda: "already succeeded" in worker.log, what="the second delivery")
        until(lambda: stage.counts() == (0, 0), what="its acknowledgement")
        assert "Traceback" not in worker.log
        assert worker.process.poll() is None
    assert len(stage.model.asked) == 1


@pytest.mark.parametrize("fault", ["503", "reset"])
def test_a_lost_acknowledgement_calls_nothing_again(stage: Stage, proxy: FaultProxy, fault: str) -> None:
    """The message comes back, finds its step finished, and is acknowledged then."""
    # Twice: botocore tries once more by itself.
    proxy.break_next(2, fault, "DeleteMessage")
    _is_called_once_and_acknowledged(stage, proxy)


def test_a_stale_receipt_handle_costs_nothing(stage: Stage, proxy: FaultProxy) -> None:
    """SQS knows the handle no more: the worker goes on, and the message's next delivery finds its step finished."""
    proxy.break_next(1, "ReceiptHandleIsInvalid", "DeleteMessage")
    _is_called_once_and_acknowledged(stage, proxy)


def test_a_denied_acknowledgement_ends_the_worker_with_one_line(stage: Stage, proxy: FaultProxy) -> None:
    """It would make each call again and again."""
    step_id = stage.pending_step()
    proxy.break_next(99, "AccessDenied", "DeleteMessage")
    with stage.worker(sqs_endpoint=proxy.url, wait_time_s=_WAIT_S) as worker:
        stage.send_step(step_id)
        assert worker.process.wait(30) == 4
    assert "DeleteMessage: as the test wants it" in worker.log
    assert "Traceback" not in worker.log
