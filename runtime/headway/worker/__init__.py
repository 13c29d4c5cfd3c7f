"""The worker: Celery on SQS, one process a lane, that never loses, repeats or gives up long work."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway.worker.configuring import configure

__all__ = ["configure"]


def __getattr__(name: str) -> Any:
    """Import ``configure`` when it is asked for: the health check imports this package too, and needs no Celery."""
    if name == "configure":
        from headway.worker.configuring import configure

        return configure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
