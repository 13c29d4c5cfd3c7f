"""How much may a request send, and how many may be in progress? Bounded before anything is done for them."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headway.web.problems import RequestError, answer

_FORM = b"multipart/form-data"


class BodyLimit:
    """Refuses bodies that are too big: before they are read where they say their length, while they are in any case.

    A form, which carries a drawing, may have more bytes than any other body.
    """

    def __init__(self, app: ASGIApp, *, max_form_bytes: int, max_body_bytes: int) -> None:
        self._app, self._max_form_bytes, self._max_body_bytes = app, max_form_bytes, max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count what is read of it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        form = headers.get(b"content-type", b"").lower().startswith(_FORM)
        limit = self._max_form_bytes if form else self._max_body_bytes
        told = headers.get(b"content-length", b"0")
        if told.isdigit() and int(told) > limit:
            await answer(_too_big(int(told), limit))(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise _too_big(read, limit)
            return message

        await self._app(scope, counted, send)


class RequestLimit:
    """Refuses what comes while too many requests are in progress, event streams among them.

    A load balancer is answered always: a task that is busy is not one to replace.
    """

    def __init__(self, app: ASGIApp, *, max_requests: int, always: str) -> None:
        self._app, self._max_requests, self._always = app, max_requests, always
        self._in_progress = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, unless there are too many."""
        if scope["type"] != "http" or scope["path"] == self._always:
            await self._app(scope, receive, send)
            return
        if self._in_progress >= self._max_requests:
            await answer(_busy(self._max_requests))(scope, receive, send)
            return
        self._in_progress += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_progress -= 1


def _busy(limit: int) -> RequestError:
    return RequestError(503, "busy", f"{limit:,} requests are in progress, at most {limit:,}", {"Retry-After": "1"})


def _too_big(size: int, limit: int) -> RequestError:
    # The rest of the body is not worth reading: the connection ends with the answer.
    return RequestError(413, "too_big", f"{size:,} bytes, at most {limit:,}", {"Connection": "close"})
