"""A task's credentials endpoint, as the ECS agent has one: it can hand out another key, or none."""

from datetime import UTC, datetime, timedelta

from tests.runtime.support.servers import Handler, Server


class CredentialsServer(Server):
    """Hands out ``key``, always about to expire, so that every call asks again; without a key it is out of order.

    Shape: botocore.utils.ContainerMetadataFetcher, and "Task IAM role" in the Amazon ECS developer guide.
    """

    def __init__(self, key: str) -> None:
        super().__init__(0, _CredentialsHandler)
        self.key = key


class _CredentialsHandler(Handler):
    server: CredentialsServer

    def do_GET(self) -> None:  # noqa: N802  # http.server's name
        if not self.server.key:
            self.answer(500, {"code": "InternalServerError", "message": "as the test wants it"})
            return
        soon = datetime.now(UTC) + timedelta(minutes=5)
        self.answer(
            200,
            {
                "AccessKeyId": self.server.key,
                "SecretAccessKey": "secret",
                "Token": "token",
                "Expiration": soon.isoformat(),
            },
        )
