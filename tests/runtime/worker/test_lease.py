"""How held messages are extended: batches, and what fails in them."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import pytest

from headway.worker.lease import batches, extend

_HEAVY, _FAST = "https://sqs/heavy", "https://sqs/fast"


class _Sqs:
    """Takes batches; fails what it is told to."""

    def __init__(self, failing: Sequence[str] = ()) -> None:
        self.failing = failing
        self.batches: list[tuple[str, list[str], set[int]]] = []

    def change_message_visibility_batch(self, **given: Any) -> Mapping[str, Any]:
        entries = given["Entries"]
        handles = [entry["ReceiptHandle"] for entry in entries]
        self.batches.append((given["QueueUrl"], handles, {entry["VisibilityTimeout"] for entry in entries}))
        failed = [entry for entry in entries if entry["ReceiptHandle"] in self.failing]
        return {"Failed": [{"Id": entry["Id"], "Code": "ReceiptHandleIsInvalid"} for entry in failed]}


def test_batches_hold_ten_messages_of_one_queue() -> None:
    """Thirteen of one queue and one of another make three."""
    held = {f"h{number}": _HEAVY for number in range(13)} | {"f": _FAST}
    assert [(url, len(handles)) for url, handles in batches(held)] == [(_FAST, 1), (_HEAVY, 10), (_HEAVY, 3)]
    assert not list(batches({}))


def test_every_held_message_is_extended() -> None:
    """To the whole visibility timeout from now."""
    sqs = _Sqs()
    extend(cast(Any, sqs), {"a": _HEAVY, "b": _HEAVY}, {"a": 120, "b": 120}, nullcontext())
    assert sqs.batches == [(_HEAVY, ["a", "b"], {120})]


def test_a_message_that_cannot_be_extended_is_said_so(caplog: pytest.LogCaptureFixture) -> None:
    """Unless it was settled while the request was under way."""

    class _Settling(_Sqs):
        def change_message_visibility_batch(self, **given: Any) -> Mapping[str, Any]:
            answer = super().change_message_visibility_batch(**given)
            del held["settled"]
            return answer

    held = {"lost": _HEAVY, "settled": _HEAVY}
    with caplog.at_level(logging.WARNING):
        extend(cast(Any, _Settling(failing=["lost", "settled"])), held, dict.fromkeys(held, 120), nullcontext())
    assert [record.message for record in caplog.records] == [
        f"{_HEAVY}: visibility not extended: ReceiptHandleIsInvalid None"
    ]


def test_a_message_that_was_let_go_is_not_extended() -> None:
    """Whoever hands it back gets the lock first: its delay must stand."""
    sqs, held = _Sqs(), {"kept": _HEAVY, "handed back": _HEAVY}

    @contextmanager
    def handed_back_first() -> Iterator[None]:
        del held["handed back"]
        yield

    extend(cast(Any, sqs), held, dict.fromkeys(held, 120), handed_back_first())
    assert sqs.batches == [(_HEAVY, ["kept"], {120})]
