"""A real browser: the system's Chromium, driven by Playwright."""

import contextlib
import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

#: Where this is set, as in CI, a browser that is not there is a failure and no reason to skip.
REQUIRED = "HEADWAY_BROWSER"
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Return the path of the system's Chromium, None where there is none."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """Run a headless browser; without one the test is skipped, or fails where one is required."""
    path = chromium()
    if path is None:
        message = "no Chromium on this machine: the page is not tested; apt-get install chromium"
        if os.environ.get(REQUIRED):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        # Root may not use Chromium's sandbox; the only pages that are opened are the test's own.
        sandbox = [] if os.geteuid() else ["--no-sandbox"]
        running = playwright.chromium.launch(executable_path=path, args=sandbox)
        try:
            yield running
        finally:
            running.close()
