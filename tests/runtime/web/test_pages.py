"""The page's own routes, as a browser without a script uses them: forms, redirects, pictures."""

import io
import re

from PIL import Image

from headway.jobs import NewBlock, begin_job, cancel_job, list_jobs, save_blocks
from tests.runtime.support.drawings import drawing
from tests.runtime.support.stage import Stage
from tests.runtime.support.web import Web
from tests.runtime.vision.drawings import pdf, sheet

_NOBODY = "00000000-0000-4000-8000-000000000000"


def job_of(stage: Stage, web: Web, data: bytes, name: str = "plan.png") -> str:
    """Submit a drawing and return its job's id."""
    return str(web.api.post("/jobs", files={"file": (name, data)}).json()["id"])


def test_a_form_that_is_sent_twice_is_one_job(stage: Stage, web: Web) -> None:
    """A double click sends the same word of the form's own twice, and both lead to the one job."""
    person = web.person()
    action = re.search(r'action="(/\?once=[^"]+)"', person.get("/").text)
    assert action is not None
    answers = [person.post(action[1], files={"file": ("a.png", drawing(1))}) for _ in range(2)]
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert len(list_jobs(stage.engine)) == 1


def test_each_form_has_a_word_of_its_own(web: Web) -> None:
    """A person who comes again means another job."""
    person = web.person()
    assert len({re.findall(r"once=([^\"]+)", person.get("/").text)[0] for _ in range(3)}) == 3


def test_a_strangers_pages_ask_to_sign_in_and_show_nothing(stage: Stage, web: Web) -> None:
    """Neither jobs nor whether there is such a job."""
    known = job_of(stage, web, drawing(1), name="secret.png")
    for path in ("/", f"/view/{known}", f"/view/{_NOBODY}"):
        page = web.stranger.get(path)
        assert "Sign in" in page.text
        assert "secret.png" not in page.text
    assert web.stranger.post("/", files={"file": ("a.png", drawing(1))}).status_code == 401
    assert web.stranger.post(f"/view/{known}/cancel").status_code == 401


def test_a_name_is_text_and_never_markup(stage: Stage, web: Web) -> None:
    """What somebody called a drawing is shown as it is written."""
    known = job_of(stage, web, drawing(1), name="<script>alert(1)<script>")
    for path in ("/", f"/view/{known}"):
        text = web.person().get(path).text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text


def test_blocks_lie_over_the_page_they_were_cut_from(stage: Stage, web: Web) -> None:
    """Each page is a picture in its own pixels, and each block a box in them."""
    known = job_of(stage, web, pdf(sheet((400, 300), []), sheet((200, 100), [])), name="plan.pdf")
    (summary,) = list_jobs(stage.engine)
    begin_job(stage.engine, summary.id)
    blocks = [NewBlock(number=n, page=n, box=(10 * n, 20, 60, 70), image_key=f"{n}.png") for n in (1, 2)]
    save_blocks(stage.engine, summary.id, blocks, ["bars"])
    text = web.person().get(f"/view/{known}").text
    sizes = re.findall(r'<svg viewBox="0 0 (\d+) (\d+)"', text)
    assert len(sizes) == 2
    for number, (width, height) in enumerate(sizes, start=1):
        assert f'<image href="/view/{known}/{number}.png" width="{width}" height="{height}"/>' in text
        picture = web.person().get(f"/view/{known}/{number}.png")
        assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
        assert "private" in picture.headers["cache-control"]
        assert Image.open(io.BytesIO(picture.content)).size == (int(width), int(height))
    boxes = re.findall(r'<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/>', text)
    assert boxes == [("10", "20", "50", "50"), ("20", "20", "40", "50")]


def test_a_large_page_is_shown_smaller_under_the_same_boxes(stage: Stage, web: Web) -> None:
    """The picture is made for a screen; the drawing's own pixels stay the measure."""
    known = job_of(stage, web, drawing(10))
    text = web.person().get(f"/view/{known}").text
    assert '<svg viewBox="0 0 2220 240"' in text
    assert Image.open(io.BytesIO(web.person().get(f"/view/{known}/1.png").content)).size == (2_000, 216)


def test_pages_that_are_not_there_are_not_found(stage: Stage, web: Web) -> None:
    """A job that nobody knows, and a page that a drawing does not have."""
    person, known = web.person(), job_of(stage, web, drawing(1))
    assert person.get(f"/view/{_NOBODY}").status_code == 404
    assert f"job {_NOBODY} not found" in person.get(f"/view/{_NOBODY}").text
    assert person.post(f"/view/{_NOBODY}/cancel").status_code == 404
    for path in (f"/view/{known}/2.png", f"/view/{known}/0.png", f"/view/{_NOBODY}/1.png"):
        assert person.get(path).status_code == 404


def test_a_drawing_that_is_gone_leaves_the_job_to_be_seen(stage: Stage, web: Web) -> None:
    """Its results are in the job store; the page says why there is no picture."""
    known = job_of(stage, web, drawing(1))
    (stored,) = stage.s3.list_objects_v2(Bucket=stage.bucket)["Contents"]
    stage.s3.delete_object(Bucket=stage.bucket, Key=stored["Key"])
    page = web.person().get(f"/view/{known}")
    assert page.status_code == 200
    assert "no drawing is stored under" in page.text


def test_a_job_that_has_ended_meanwhile_is_shown_as_it_ended(stage: Stage, web: Web) -> None:
    """Cancel on an old page is no error: it leads to the job, which says what became of it."""
    known = job_of(stage, web, drawing(1))
    (summary,) = list_jobs(stage.engine)
    cancel_job(stage.engine, summary.id, actor="sweep", reason="nobody was heard of")
    answer = web.person().post(f"/view/{known}/cancel")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/view/{known}")
    assert "nobody was heard of" in web.person().get(f"/view/{known}").text
