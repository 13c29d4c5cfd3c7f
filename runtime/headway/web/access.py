"""Who may come in? A program shows the token; a browser shows a cookie that only whoever held the token can have got.

The cookie is no secret of its own to keep: it carries when it ends and a code made of that with the token, so any task
of the service can check it, none has to remember it, and a new token ends every session.
"""

import hashlib
import hmac
import secrets
from urllib.parse import urlsplit

#: The least that a token must have: 32 characters of base64 are 192 bits, beyond any guessing.
MIN_TOKEN_LENGTH = 32
_PURPOSE = b"headway web session v1"


class Access:
    """One service's token, and the sessions that were opened with it. Times are seconds since the epoch."""

    def __init__(self, token: str, *, session_s: int) -> None:
        self._token = _digest(token)
        # A key of its own (RFC 5869's extract step): a session's code tells nothing about the token.
        self._key = hmac.digest(_PURPOSE, token.encode(), "sha256")
        self._session_s = session_s

    def knows(self, token: str) -> bool:
        """Return whether this is the token; the time it takes tells nothing about how much of it is right."""
        return hmac.compare_digest(_digest(token), self._token)

    def open_session(self, now: float) -> str:
        """Return the cookie of a new session."""
        claim = f"{int(now) + self._session_s}.{secrets.token_urlsafe(12)}"
        return f"{claim}.{self._code(claim)}"

    def holds(self, cookie: str, now: float) -> bool:
        """Return whether a cookie is a session's that has not ended."""
        claim, _, code = cookie.rpartition(".")
        if not hmac.compare_digest(code.encode(errors="replace"), self._code(claim).encode()):
            return False
        return now < int(claim.partition(".")[0])

    def _code(self, claim: str) -> str:
        return hmac.digest(self._key, claim.encode(errors="replace"), "sha256").hex()


def from_own_page(*, host: str, origin: str, fetch_site: str) -> bool:
    """Return whether a browser says that one of our own pages sent the request, and not another site's.

    A cookie that is SameSite=Strict is still sent by a sibling host's page, so what changes something must come from
    our own origin: by the Origin header, which browsers send with every POST, or else by Sec-Fetch-Site ("Fetch
    Metadata Request Headers", W3C).
    """
    if origin:
        return urlsplit(origin).netloc == host != ""
    return fetch_site == "same-origin"


def _digest(token: str) -> bytes:
    # Both sides of the comparison have one length, so that a token's own length does not show in the time either.
    return hashlib.sha256(token.encode(errors="replace")).digest()
