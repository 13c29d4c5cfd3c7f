"""Who may come in: the token, the session, and what another site's page may not have a browser do."""

import socket
import time

import httpx2
import pytest

from headway.contract import ContractError, WebSecret
from headway.web.access import Access, from_own_page
from headway.web.service import Service
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.web import TOKEN, Web, web_env, web_service

_NOBODY = "00000000-0000-4000-8000-000000000000"
_PROTECTED = [
    ("POST", "/jobs"),
    ("GET", "/jobs"),
    ("GET", f"/jobs/{_NOBODY}"),
    ("GET", f"/jobs/{_NOBODY}/events"),
    ("POST", f"/jobs/{_NOBODY}/cancel"),
    ("GET", f"/view/{_NOBODY}/1.png"),
]


@pytest.fixture
def access() -> Access:
    """The door of a service with sessions of a minute."""
    return Access(TOKEN, session_s=60)


def test_only_the_token_is_known(access: Access) -> None:
    """Not a part of it, not more than it, and not another."""
    assert access.knows(TOKEN)
    for other in ("", TOKEN[:-1], TOKEN + "x", TOKEN.swapcase(), "\ud800", "ü" * 43):
        assert not access.knows(other)


def test_a_session_holds_until_its_time_is_up(access: Access) -> None:
    """From its sign-in on for a minute, and not a second longer."""
    cookie = access.open_session(1_000.0)
    assert access.holds(cookie, 1_000.0)
    assert access.holds(cookie, 1_059.9)
    assert not access.holds(cookie, 1_060.0)


def test_a_cookie_that_was_changed_holds_nothing(access: Access) -> None:
    """Neither a later end nor another code nor another token's cookie."""
    end, nonce, code = access.open_session(1_000.0).split(".")
    for forged in (f"{int(end) + 1}.{nonce}.{code}", f"{end}.{nonce}.{code[:-1]}0x", f"{end}.{code}", "", "..", "é.é"):
        assert not access.holds(forged, 1_000.0)
    assert not Access(TOKEN[::-1], session_s=60).holds(f"{end}.{nonce}.{code}", 1_000.0)


def test_a_cookie_does_not_hold_the_token(access: Access) -> None:
    """Whoever steals it has a session, and not the key to the API."""
    cookie = access.open_session(1_000.0)
    assert TOKEN not in cookie
    assert not access.knows(cookie)


@pytest.mark.parametrize(
    ("origin", "fetch_site", "own"),
    [
        ("http://web:8080", "", True),
        ("https://web:8080", "same-origin", True),
        ("http://evil", "same-origin", False),
        ("http://web", "", False),
        ("http://web:8080.evil", "", False),
        ("http://evil@web:8080", "", False),
        ("null", "same-origin", False),
        ("", "same-origin", True),
        ("", "same-site", False),
        ("", "none", False),
        ("", "", False),
    ],
)
def test_our_own_page_is_known_by_its_origin(origin: str, fetch_site: str, own: bool) -> None:
    """The Origin header decides where there is one; else the browser's own word; silence is no yes."""
    assert from_own_page(host="web:8080", origin=origin, fetch_site=fetch_site) is own


def test_nobody_passes_for_a_host_that_is_not_told() -> None:
    """An empty Host is nobody's origin."""
    assert not from_own_page(host="", origin="http://", fetch_site="same-origin")


@pytest.mark.parametrize(("method", "path"), _PROTECTED)
def test_everything_asks_for_the_token(web: Web, method: str, path: str) -> None:
    """Without one, with a wrong one, in another scheme: 401 in the one shape, before anything is looked up."""
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}):
        answer = web.stranger.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")


def test_a_session_does_what_the_token_does(web: Web) -> None:
    """From our own page: submit, look, cancel."""
    person = web.person()
    job = person.post("/jobs", files={"file": ("a.png", drawing(1))}).json()
    assert person.get(f"/jobs/{job['id']}").status_code == 200
    assert person.post(f"/jobs/{job['id']}/cancel").json()["event"]["actor"] == "page"


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Origin": ""}, {"Origin": "null"}])
def test_another_sites_page_changes_nothing_with_it(web: Web, headers: dict[str, str]) -> None:
    """403 for each way to change something with the session's cookie; and its own sign-in is no way in either."""
    person = web.person()
    job = person.post("/jobs", files={"file": ("a.png", drawing(1))}).json()["id"]
    for path in ("/jobs", f"/jobs/{job}/cancel", f"/view/{job}/cancel", "/", "/session", "/session/end"):
        answer = person.post(path, headers=headers)
        assert (path, answer.status_code, answer.json()["error"]["code"]) == (path, 403, "another_site")
    assert person.get(f"/jobs/{job}").json()["status"] == "pending"


def test_the_cookie_is_for_our_own_pages_and_for_no_script(stage: Stage, web: Web) -> None:
    """HttpOnly, SameSite=Strict, for the session's time; over TLS also Secure, under a name that binds it to a host."""
    said = sign_in(web).headers["set-cookie"]
    assert said.startswith("headway=")
    assert {part.strip() for part in said.split(";")[1:]} == {"HttpOnly", "Max-Age=3600", "Path=/", "SameSite=strict"}
    with web_service(stage, https=True) as secure:
        said = sign_in(secure).headers["set-cookie"]
    assert said.startswith("__Host-headway=")
    assert "Secure" in said


def sign_in(web: Web, **data: str) -> httpx2.Response:
    """Send the sign-in form."""
    return web.stranger.post("/session", data={"token": TOKEN, **data}, headers={"Origin": web.url})


@pytest.mark.parametrize(
    ("job", "path"), [("", "/"), (_NOBODY, f"/view/{_NOBODY}"), ("//evil.example", "/"), ("../x", "/")]
)
def test_a_sign_in_leads_to_our_own_pages_alone(web: Web, job: str, path: str) -> None:
    """What the form asks for is an id or nothing."""
    answer = sign_in(web, job=job)
    assert (answer.status_code, answer.headers["location"]) == (303, path)


def test_a_session_ends_by_the_services_clock(stage: Stage, web: Web) -> None:
    """After its minutes the cookie opens nothing."""
    person = web.person()
    assert person.get("/jobs").status_code == 200
    web.service.now = lambda: time.time() + 3_601
    assert person.get("/jobs").status_code == 401


def test_signing_out_takes_the_cookie_back(web: Web) -> None:
    """The browser has none any more."""
    person = web.person()
    assert person.post("/session/end").headers["location"] == "/"
    assert person.get("/jobs").status_code == 401


def test_a_short_token_is_refused_at_the_start(stage: Stage) -> None:
    """One line: what it has, and what it must have."""
    with pytest.raises(ContractError, match=r"^WEB_TOKEN has 31 characters; must have 32 or more$"):
        Service(web_env(stage), stage.secret, WebSecret(token="x" * 31))


def test_a_stranger_is_refused_before_a_drawing_is_read(web: Web) -> None:
    """401 comes after the headers: nobody without a token keeps the service busy with a body."""
    host, port = web.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(
            b"POST /jobs HTTP/1.1\r\nHost: web\r\nContent-Type: multipart/form-data; boundary=b\r\n"
            b"Content-Length: 1000000\r\n\r\n"
        )
        assert connection.recv(100).startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("path", ["/", "/static/page.css", "/jobs", "/nowhere", "/livez"])
def test_every_answer_has_the_headers_that_keep_a_browser_safe(web: Web, path: str) -> None:
    """A policy without anything inline or from elsewhere, no frames, no guessing of types."""
    headers = web.stranger.get(path).headers
    policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert {policy[f"{kind}-src"] for kind in ("script", "style", "img", "connect")} == {"'self'"}
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == ("no-cache" if path.startswith("/static/") else "no-store")
