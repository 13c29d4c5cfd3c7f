"""The door: a request is a program's by its token, or a person's by the page's cookie; nobody else's goes further."""

from typing import Annotated

import fastapi
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from headway.web.access import from_own_page
from headway.web.problems import RequestError
from headway.web.service import Service, Serving

#: Over TLS the name's prefix makes browsers refuse a cookie that anything but this very host has set (RFC 6265bis,
#: 4.1.3.2); without TLS they would refuse the cookie itself.
_COOKIE, _COOKIE_HTTPS = "headway", "__Host-headway"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_bearer = HTTPBearer(auto_error=False, description="The stage's web token, from its secret.")


def cookie_name(service: Service) -> str:
    """Return what the session's cookie is called."""
    return _COOKIE_HTTPS if service.env.https else _COOKIE


def signed_in(service: Service, request: fastapi.Request) -> bool:
    """Return whether a request comes with a session's cookie."""
    return service.access.holds(request.cookies.get(cookie_name(service), ""), service.now())


def check_own_page(request: fastapi.Request) -> None:
    """Refuse what another site's page has a browser send.

    Raises:
        RequestError: 403.
    """
    headers = request.headers
    told = {"origin": headers.get("origin", ""), "fetch_site": headers.get("sec-fetch-site", "")}
    if not from_own_page(host=headers.get("host", ""), **told):
        raise RequestError(403, "another_site", "the request does not come from this service's own page")


def admitted(
    service: Serving,
    request: fastapi.Request,
    credentials: Annotated[HTTPAuthorizationCredentials | None, fastapi.Depends(_bearer)],
) -> str:
    """Return who asks: "api" by the token, "page" by a session.

    Raises:
        RequestError: 401 without either, 403 where another site's page uses a session.
    """
    if credentials is not None:
        if service.access.knows(credentials.credentials):
            return "api"
        raise _unknown("the token is not this stage's")
    if not signed_in(service, request):
        raise _unknown("send the stage's token: Authorization: Bearer TOKEN")
    if request.method not in _READS:
        check_own_page(request)
    return "page"


Caller = Annotated[str, fastapi.Depends(admitted)]


def _unknown(message: str) -> RequestError:
    return RequestError(401, "unauthorized", message, {"WWW-Authenticate": "Bearer"})
