"""Long polls that always end, and end in a value."""

from typing import Any

import pycurl  # type: ignore[import-untyped]  # it ships no types
from kombu.asynchronous.aws.connection import AsyncHTTPSConnection
from kombu.asynchronous.aws.sqs.connection import AsyncSQSConnection

from headway.worker.polling import PollFailure, failure

_CONNECT_TIMEOUT_S = 5

# Celery's stubs know a connection's users, not its makers: it stays untyped here.
_AnyConnection: Any = AsyncSQSConnection


class _BoundedRequests(AsyncHTTPSConnection):
    """Requests that end: CurlClient calls ``on_prepare`` once a handle is set up, before it is used."""

    def getrequest(self) -> Any:
        """Return the request, with its bounds to be set."""
        request = super().getrequest()
        request.on_prepare = self._bound
        return request

    def _bound(self, curl: Any) -> None:
        curl.setopt(pycurl.CONNECTTIMEOUT, _CONNECT_TIMEOUT_S)
        curl.setopt(pycurl.TIMEOUT, int(self.timeout))


class PollConnection(_AnyConnection):  # type: ignore[misc]  # see above
    """Receives messages; a poll that fails in any way answers with a PollFailure instead of raising in the hub."""

    def __init__(self, sqs_connection: Any, *, timeout_s: float, **options: Any) -> None:
        super().__init__(sqs_connection, **options)
        self._timeout_s = timeout_s

    def get_http_connection(self) -> _BoundedRequests:
        """Return the connection of one request."""
        return _BoundedRequests(timeout=self._timeout_s, http_client=self._httpclient)

    def _on_list_ready(self, parent: Any, markers: Any, operation: str, response: Any) -> Any:
        try:
            if response.status == self.STATUS_CODE_OK:
                return super()._on_list_ready(parent, markers, operation, response)
            http = response.response
            return failure(response.status, http.content or b"", str(http.error or ""))
        except Exception as error:  # a cut or garbled answer is a failed poll, whatever it breaks
            return PollFailure(reason=repr(error))
