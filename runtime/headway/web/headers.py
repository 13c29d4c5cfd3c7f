"""What every answer says to a browser: take nothing from elsewhere, show it in nobody's frame, guess no type."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Nothing but this service's own files, and no script or style inside a page ("Content Security Policy Level 3", W3C).
POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect")),
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # Not no-referrer: a form's POST would have "null" for its origin ("Fetch", append a request Origin header).
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
#: Where the page's own style and script are.
STATIC = "/static"
_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}


class SafeHeaders:
    """Adds the headers to every answer.

    What may be kept says so itself, our own files may be kept and asked after, and nothing else is to be stored.
    """

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app = app
        self._headers = {**_ALWAYS, **(_HTTPS if https else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add to the beginning of its answer."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(self._headers)
                own = scope["path"].startswith(STATIC)
                headers.setdefault("Cache-Control", "no-cache" if own else "no-store")
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
