"""What a task says about its message when it is not simply done; exceptions, because those leave a pool's child."""

from celery.exceptions import Reject


class HandBackError(Reject):
    """The message goes back to its lane and is visible again in ``delay_s`` wall seconds."""

    def __init__(self, reason: str, delay_s: int) -> None:
        super().__init__(reason, requeue=True)
        self.reason = reason
        self.delay_s = delay_s
        self.args = (reason, delay_s)  # what pickle calls the class with


class BuryError(Reject):
    """The message can never run: it goes to the dead-letter queue with its reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, requeue=False)
        self.reason = reason
        self.args = (reason,)
