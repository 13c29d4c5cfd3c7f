"""A real browser: the system's Chromium, driven by Playwright."""

import contextlib
import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

#: Where this is set, as in CI, a browser that is not there is a failure and no reason to skip.
REQUIRED = "HEADWAY_BROWSER"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of the system's Chromium, None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Run a headless browser; without one the test is skipped, or fails where one is required."""
    if chromium() is None:
        message = "no Chromium on this machine: the page is not tested; apt-get install chromium"
        if os.environ.get(REQUIRED):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        running = launch(playwright)
        try:
            yield running
        finally:
            running.close()


def launch(playwright: Playwright) -> Browser:
    """Start the system's Chromium."""
    # Root may not use its sandbox; the only pages that are opened are this project's own.
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    return playwright.chromium.launch(executable_path=chromium(), args=sandbox)
