"""Takes docs/page.png: a job half done on a local stage, as a phone and as a desk show it.

make picture
"""

import io
import sys
from pathlib import Path

import httpx2
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from headway_ops.demo.drawings import draw
from headway_ops.local.running import LocalStage
from headway_ops.local.stage import local_stage
from stacks.loading import load_stage
from tests.runtime.support.browser import chromium, launch
from tests.runtime.support.waiting import until

_OUT = Path(__file__).resolve().parents[2] / "docs" / "page.png"
_SIZES = ((1_000, 1_000), (390, 1_000))
_GAP_PX = 24
_WITHIN_S = 240.0


def main() -> int:
    """Write the picture; 3 where there is no browser to take it with."""
    if chromium() is None:
        sys.stderr.write("no Chromium on this machine; apt-get install chromium\n")
        return 3
    with local_stage(load_stage("local"), speed=60, seed=1, report=_say) as stage, sync_playwright() as playwright:
        job = _half_done(stage)
        chrome = launch(playwright)
        shots = [_shot(chrome, stage, job, size) for size in _SIZES]
        chrome.close()
    width = sum(shot.width for shot in shots) + _GAP_PX * (len(shots) - 1)
    sheet = Image.new("RGB", (width, max(shot.height for shot in shots)), "#d8dde4")
    left = 0
    for shot in shots:
        sheet.paste(shot, (left, 0))
        left += shot.width + _GAP_PX
    sheet.quantize(64).save(_OUT, optimize=True)
    _say(f"wrote {_OUT}")
    return 0


def _half_done(stage: LocalStage) -> str:
    headers = {"Authorization": f"Bearer {stage.web_token}"}
    with httpx2.Client(base_url=stage.web_url, headers=headers, timeout=30) as web:
        until(lambda: web.get("/livez").status_code == 200, within_s=_WITHIN_S, what="the web service")
        drawing = draw(9, blocks=6)
        job = str(web.post("/jobs", files={"file": ("Level 2, doors.png", drawing.data)}).json()["id"])

        def half() -> bool:
            blocks = web.get(f"/jobs/{job}").json()["blocks"]
            return len([block for block in blocks if block["status"] == "succeeded"]) >= 2

        until(half, within_s=_WITHIN_S, what="two blocks")
    return job


def _shot(chrome: Browser, stage: LocalStage, job: str, size: tuple[int, int]) -> Image.Image:
    context = chrome.new_context(base_url=stage.web_url, viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(f"/view/{job}")
    page.get_by_label("The stage's token").fill(stage.web_token)
    page.get_by_role("button", name="Sign in").click()
    page.locator("#leaving").wait_for()
    data = page.screenshot()
    context.close()
    return Image.open(io.BytesIO(data)).convert("RGB")


def _say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


if __name__ == "__main__":
    sys.exit(main())
