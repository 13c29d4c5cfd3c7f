"""The page in a real browser: sign in, submit, watch the blocks fill, cancel; with a script and without."""

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, expect

import headway.web
from headway.jobs import JobSummary, begin_job, cancel_job, list_jobs
from tests.runtime.support.browser import browser
from tests.runtime.support.drawings import drawing
from tests.runtime.support.model import ModelServer
from tests.runtime.support.stage import Stage
from tests.runtime.support.waiting import until
from tests.runtime.support.web import TOKEN, Web

pytestmark = pytest.mark.timeout(200)

#: How long a page may take to show something: a busy machine is no finding.
_WITHIN_MS = 60_000
expect.set_options(timeout=_WITHIN_MS)
_BLOCKS = 3


class Turnstile(threading.Event):
    """A gate that lets through as many as it is told to; once it is set, all."""

    def __init__(self) -> None:
        super().__init__()
        self._places = threading.Semaphore(0)

    def let(self, number: int) -> None:
        """Let so many more through."""
        self._places.release(number)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a place."""
        while not self.is_set() and not self._places.acquire(timeout=0.1):
            pass
        return True


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """One browser for the module."""
    with browser() as running:
        yield running


@pytest.fixture
def turnstile(model: ModelServer) -> Turnstile:
    """The model's gate: it answers as many questions as the test lets through."""
    gate = Turnstile()
    model.gate = gate
    return gate


@pytest.fixture
def page(chrome: Browser, web: Web) -> Iterator[Page]:
    """A page on a phone, signed in; whatever it complains about on its console fails the test.

    That an answer was a refusal is no complaint: the page shows it.
    """
    complaints: list[str] = []

    def heard(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and "the server responded with a status of 4" not in said.text:
            complaints.append(said.text)

    context = chrome.new_context(base_url=web.url, viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.set_default_timeout(_WITHIN_MS)
    page.on("console", heard)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page)
    yield page
    context.close()
    assert complaints == []


def sign_in(page: Page) -> None:
    """Sign in with the stage's token."""
    page.goto("/")
    page.get_by_label("The stage's token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Submit a drawing")).to_be_visible()


def submit(page: Page, data: bytes | None = None) -> None:
    """Submit a drawing of three blocks, and come to its job's page."""
    content: Any = {"name": "plan.png", "mimeType": "image/png", "buffer": drawing(_BLOCKS) if data is None else data}
    page.get_by_label("Drawing, PNG or PDF").set_input_files(content)
    page.get_by_role("button", name="Submit").click()


def job_of(stage: Stage) -> JobSummary:
    """Return the stage's only job."""
    (job,) = list_jobs(stage.engine)
    return job


def test_a_drawing_is_submitted_its_blocks_fill_and_it_is_canceled(
    page: Page, stage: Stage, turnstile: Turnstile
) -> None:
    """Blocks appear over the drawing, fill one after the other without a reload, cost grows, and Cancel ends it."""
    with stage.worker("heavy"):
        submit(page)
        expect(page).to_have_url(re.compile(r"/view/[0-9a-f-]{36}$"))
        page.evaluate("window.untouched = true")
        expect(page.locator(".block")).to_have_count(_BLOCKS)
        expect(page.locator("#state")).to_contain_text("0 of 6 checks done, $0.0000 so far")
        turnstile.let(2)
        expect(page.locator("#state")).to_contain_text("2 of 6 checks done, $0.0020")
        turnstile.let(1)
        expect(page.locator("#state")).to_contain_text("3 of 6 checks done")
        # Three of six checks in pairs: one or no block has both, and none of the others looks as if it had.
        filled = page.locator(".block.succeeded").count()
        assert filled <= 1
        assert page.locator(".block").count() == _BLOCKS
        assert page.evaluate("window.untouched") is True
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#state .badge")).to_have_text("canceled")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        assert page.locator(".block.canceled").count() >= _BLOCKS - 2
    job = job_of(stage)
    assert (job.status, job.reason) == ("canceled", "canceled by a person")


def test_a_job_that_ends_by_itself_shows_its_results_and_no_button(
    page: Page, stage: Stage, model: ModelServer
) -> None:
    """All blocks are filled, the table holds what the model found, and there is nothing left to cancel."""
    with stage.worker("heavy"):
        submit(page)
        expect(page.locator(".block.succeeded")).to_have_count(_BLOCKS)
        expect(page.locator("#state .badge")).to_have_text("succeeded")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    rows = page.get_by_role("table").get_by_role("row").all_inner_texts()
    assert [re.split(r"\s+", row.strip()) for row in rows] == [
        ["Block", "State", "bars", "openings"],
        *[[str(number), "succeeded", "3", "3"] for number in (1, 2, 3)],
    ]


@pytest.mark.parametrize("chosen", [True, False])
def test_leaving_the_page_cancels_only_where_that_was_chosen(page: Page, stage: Stage, chosen: bool) -> None:
    """With the box ticked the beacon ends the job, and its event says why; without, the job is left alone."""
    submit(page)
    box = page.get_by_label("Cancel if I leave this page")
    expect(box).to_be_visible()
    expect(box).not_to_be_checked()
    if chosen:
        box.check()
    page.goto("about:blank")
    if chosen:
        until(lambda: job_of(stage).status == "canceled", what="the beacon")
        assert job_of(stage).reason == "the page was left"
    else:
        # The beacon would have been sent before this page's own request, and by the same browser.
        page.goto("/")
        expect(page.locator(".jobs .badge")).to_have_text("pending")


def test_a_mistake_is_shown_on_the_form(page: Page, stage: Stage) -> None:
    """What is no drawing is an alert above the form, and no job."""
    submit(page, b"Dear sir,")
    expect(page.get_by_role("alert")).to_have_text("not a drawing: neither PNG nor PDF")
    assert list_jobs(stage.engine) == []


def test_a_phone_shows_it_without_scrolling_sideways_and_fingers_can_hit_it(page: Page, stage: Stage) -> None:
    """At 360 pixels nothing is wider than the screen; what is to be tapped is 44 pixels high (WCAG 2.2, 2.5.5)."""
    submit(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_label("Cancel if I leave this page")).to_be_visible()
    wide = "document.scrollingElement.scrollWidth"
    for path in (page.url, "/"):
        page.goto(path)
        assert page.evaluate(wide) <= 360
        for target in page.locator("main button, main input[type=file], #leaving").all():
            if target.is_visible():
                box = target.bounding_box()
                assert box is not None
                assert box["height"] >= 44


def test_a_page_whose_stream_was_refused_asks_again(page: Page, stage: Stage) -> None:
    """A service that is busy refuses the stream; the page opens it again, and misses nothing."""
    refusals: list[Route] = []

    def refuse_once(route: Route) -> None:
        if refusals:
            route.continue_()
            return
        refusals.append(route)
        route.fulfill(status=429, body="busy")

    page.route("**/events", refuse_once)
    submit(page)
    # Asking the page something is what lets Playwright handle its requests.
    until(lambda: page.evaluate("1") and refusals, what="the refusal")
    cancel_job(stage.engine, job_of(stage).id, actor="test", reason="enough")
    expect(page.locator("#state")).to_contain_text("enough")


def test_a_session_that_ends_under_an_open_page_asks_to_sign_in_again(page: Page, stage: Stage, web: Web) -> None:
    """The next change finds the session over: the page asks for the token, and then shows the job."""
    submit(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    web.service.now = lambda: time.time() + 3_601
    begin_job(stage.engine, job_of(stage).id)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("The stage's token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#state .badge")).to_have_text("running")


def test_every_field_has_a_name_and_the_keyboard_is_enough(page: Page, stage: Stage) -> None:
    """Each control has an accessible name, and Cancel is reached by Tab and pressed by Enter."""
    submit(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    unnamed = "[...document.querySelectorAll('input,button,svg[role=img]')].filter(e => !(e.labels?.length || "
    unnamed += "e.textContent.trim() || e.getAttribute('aria-label'))).length"
    assert page.evaluate(unnamed) == 0
    assert page.evaluate("document.documentElement.lang") == "en"
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Cancel":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#state .badge")).to_have_text("canceled")


def test_it_works_without_its_script(chrome: Browser, web: Web, stage: Stage) -> None:
    """Sign in, submit, look, cancel, sign out: every step is a form or a link."""
    context = chrome.new_context(base_url=web.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page)
    submit(page)
    expect(page.get_by_text("Reload the page to see what has changed.")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#state .badge")).to_have_text("canceled")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    context.close()


def test_who_is_not_signed_in_comes_back_to_the_job(chrome: Browser, web: Web, stage: Stage) -> None:
    """A link to a job asks for the token first, and then shows the job."""
    with chrome.new_context(base_url=web.url) as context:
        page = context.new_page()
        answer = web.api.post("/jobs", files={"file": ("a.png", drawing(1))})
        page.goto(f"/view/{answer.json()['id']}")
        page.get_by_label("The stage's token").fill("wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_have_text("That is not this stage's token.")
        page.get_by_label("The stage's token").fill(TOKEN)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", name="a.png")).to_be_visible()


def _luminance(color: str) -> float:
    """Return a color's relative luminance (WCAG 2.2, "relative luminance")."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_text_stands_out_in_both_schemes() -> None:
    """Every color of text has at least 4.5:1 on the page and on a card (WCAG 2.2, 1.4.3)."""
    style = (Path(headway.web.__file__).parent / "static" / "page.css").read_text(encoding="utf-8")
    schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", part)) for part in style.split("@media")[:2]]
    assert len(schemes[0]) == len(schemes[1]) == 12
    for scheme in schemes:
        for name in ("ink", "dim", "act", "succeeded", "running", "pending", "failed", "canceled"):
            for ground in ("paper", "card"):
                light, dark = sorted((_luminance(scheme[name]), _luminance(scheme[ground])), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5, (name, ground)
        light, dark = sorted((_luminance(scheme["act"]), _luminance(scheme["on-act"])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
