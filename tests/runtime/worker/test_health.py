"""The watch that ends a worker of no use."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from celery.worker import state

from headway.worker import health
from headway.worker.health import EXIT_UNREACHABLE, PollWatch
from headway.worker.liveness import Liveness


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PollWatch]:
    """A watch that looks all the time, on a mark of its own."""
    monkeypatch.setattr(health, "_LOOK_EVERY_S", 0.01)
    monkeypatch.setattr(health, "Liveness", lambda: Liveness(tmp_path / "mark"))
    monkeypatch.setattr(state, "should_stop", None)
    env = SimpleNamespace(stop_timeout_s=0)
    watch = PollWatch(SimpleNamespace(app=SimpleNamespace(headway=SimpleNamespace(env=env))))
    yield watch
    watch.shutdown(None)


def started(watch: PollWatch) -> Any:
    """Start the watch; return the transport it hooked into."""
    consumer = SimpleNamespace(connection=SimpleNamespace(transport=SimpleNamespace()))
    watch.start(consumer)
    return consumer.connection.transport


def asked_to_stop() -> Any:
    """Return the exit code that Celery's loop was told to end with, or None."""
    return vars(state)["should_stop"]


def test_a_fatal_poll_ends_the_worker_as_unreachable(watch: PollWatch) -> None:
    """Warm, with exit code 4, for ECS to replace it."""
    started(watch).on_fatal("lane heavy: AccessDenied")
    assert asked_to_stop() == EXIT_UNREACHABLE == 4


def test_a_lane_that_was_silent_for_too_long_ends_the_worker_even_if_its_loop_stands_still(
    watch: PollWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First warm; a loop that does not follow is ended the hard way once its stop timeout is over."""
    ended = threading.Event()
    codes: list[int] = []

    def exit_hard(code: int) -> None:
        codes.append(code)
        watch.shutdown(None)
        ended.set()

    monkeypatch.setattr("headway.worker.health.os._exit", exit_hard)
    monkeypatch.setattr(health, "TOO_OLD_S", -1.0)
    started(watch)
    assert ended.wait(10)
    assert asked_to_stop() == EXIT_UNREACHABLE
    assert codes == [EXIT_UNREACHABLE]


def test_a_lane_that_answers_keeps_the_worker(watch: PollWatch) -> None:
    """Each answered poll renews the mark."""
    transport = started(watch)
    transport.on_consuming()
    assert not threading.Event().wait(0.1)
    assert asked_to_stop() is None
