"""Is each queue what stages.toml says? Its attributes are what counts: no consumer's option changes them."""

from collections.abc import Iterator, Mapping

from headway_ops.deployed import DeployedLane
from headway_ops.doctor.finding import Finding, Row
from stacks.settings import Lane, StageSettings

#: A finding's name, the SQS attribute and the setting of a queue; then those of its dead letters.
_QUEUE = (
    ("visibility-timeout", "VisibilityTimeout", "visibility_timeout_s"),
    ("long-poll", "ReceiveMessageWaitTimeSeconds", "wait_time_s"),
    ("retention", "MessageRetentionPeriod", "retention_s"),
    ("message-size", "MaximumMessageSize", "max_message_bytes"),
)
_LETTERS = (("dead-letter-retention", "MessageRetentionPeriod", "dlq_retention_s"),)


def check_lanes(settings: StageSettings, lanes: Mapping[str, DeployedLane]) -> Iterator[Finding]:
    """Yield a finding for each attribute that differs, and for each lane without its dead letters."""
    for name, (lane, _service) in settings.consumed_lanes.items():
        found = lanes.get(name)
        if found is None or not found.queue.arn:
            yield Finding("lane-missing", name, "its queue does not exist")
            continue
        for row in rows(name, lane, found):
            intended, effective = row.values["stages.toml"], row.values["queue"]
            if intended != effective:
                problem = _PROBLEMS[row.setting]
                yield Finding(problem, name, f"{row.setting} is {effective} on the queue, {row.source} says {intended}")
        redrive = found.queue.redrive
        if not redrive:
            yield Finding("redrive", name, "the queue has no redrive policy: what fails is delivered for ever")
        elif redrive.get("deadLetterTargetArn") != found.dead_letters.arn:
            yield Finding("redrive", name, f"dead letters go to {redrive.get('deadLetterTargetArn')}")


def rows(name: str, lane: Lane, found: DeployedLane) -> Iterator[Row]:
    """Yield a lane's attributes side by side."""
    for attributes, table in ((found.queue.attributes, _QUEUE), (found.dead_letters.attributes, _LETTERS)):
        for _problem, attribute, field in table:
            yield _row(name, field, getattr(lane, field), attributes.get(attribute, ""))
    if found.queue.redrive:
        yield _row(name, "max_receives", lane.max_receives, str(found.queue.redrive.get("maxReceiveCount", "")))


def _row(lane: str, field: str, intended: int, effective: str) -> Row:
    return Row(lane, field, f"lanes.{lane}.{field}", {"stages.toml": str(intended), "queue": effective})


_PROBLEMS = {field: problem for problem, _attribute, field in (*_QUEUE, *_LETTERS)} | {"max_receives": "max-receives"}
