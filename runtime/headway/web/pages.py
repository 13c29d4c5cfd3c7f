"""The page: plain HTML that works without its script, which only reloads what has changed.

Every form answers with a redirect or with the page it was on, and every state is in the HTML: the script listens to a
job's events and puts the new page's live parts in the old ones' places.
"""

import secrets
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import fastapi
import jinja2
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from headway.jobs import list_jobs
from headway.jobs.states import ACTIVE_JOB
from headway.producer import BucketError
from headway.vision.image import DrawingError
from headway.web.bodies import upload
from headway.web.documents import JobDocument, JobSummaryDocument
from headway.web.guard import check_own_page, cookie_name, signed_in
from headway.web.jobs import end, look, take_in
from headway.web.problems import RequestError, problem_of
from headway.web.service import Service, Serving
from headway.web.sheets import Sheet, Sheets

router = fastapi.APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

_HERE = Path(__file__).parent
_RECENT = 20
_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def static_files() -> StaticFiles:
    """Return the page's own style and script, as an application to mount."""
    return StaticFiles(directory=_HERE / "static")


def _page(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    return HTMLResponse(_templates.get_template(name).render(**values), status)


def _see(path: str) -> RedirectResponse:
    # 303: whatever was sent, look at that page now (RFC 9110, 15.4.4).
    return RedirectResponse(path, 303)


@router.get("/")
async def front(service: Serving, request: fastapi.Request) -> Response:
    """Show the form and the newest jobs; whoever is not signed in may do that first."""
    if not signed_in(service, request):
        return _sign_in_page()
    return await _front(service)


@router.post("/")
async def submit(service: Serving, request: fastapi.Request) -> Response:
    """Submit the form's drawing and show its job; a mistake is shown on the form."""
    if not signed_in(service, request):
        return _sign_in_page(401)
    check_own_page(request)
    try:
        # The form's own word, new in each page: a form that is sent twice is one job.
        once = request.query_params.get("once", "")
        async with upload(request) as drawing:
            submitted = await take_in(service, drawing, once, "page")
    except Exception as error:
        problem = problem_of(error)
        if problem is None:
            raise
        return await _front(service, problem)
    return _see(f"/view/{submitted.job_id}")


@router.get("/view/{job_id}")
async def view(service: Serving, request: fastapi.Request, job_id: UUID) -> Response:
    """Show a job: its blocks over its drawing, what they found, and what it has cost."""
    if not signed_in(service, request):
        return _sign_in_page(401, job=str(job_id))
    try:
        job = JobDocument.of_view(await look(service, job_id))
    except RequestError as problem:
        return _page("problem.html", problem.status_code, problem=problem)
    sheets, problem_text = await _sheets(request, job_id)
    return _page("view.html", job=job, sheets=sheets, problem=problem_text, active=job.status in ACTIVE_JOB)


@router.post("/view/{job_id}/cancel")
async def cancel(service: Serving, request: fastapi.Request, job_id: UUID) -> Response:
    """Cancel a job and show it; one that has ended meanwhile is shown as it ended."""
    if not signed_in(service, request):
        return _sign_in_page(401, job=str(job_id))
    check_own_page(request)
    try:
        await end(service, job_id, "page", "")
    except RequestError as problem:
        if problem.status_code != fastapi.status.HTTP_409_CONFLICT:
            return _page("problem.html", problem.status_code, problem=problem)
    return _see(f"/view/{job_id}")


@router.get("/view/{job_id}/{number}.png")
async def picture(service: Serving, request: fastapi.Request, job_id: UUID, number: int) -> Response:
    """Show one page of a job's drawing, which never changes."""
    if not signed_in(service, request):
        raise RequestError(401, "unauthorized", "sign in first")
    found = await _sheets_of(request).picture(job_id, number)
    if found is None:
        raise RequestError(404, "page_not_found", f"job {job_id} has no page {number}")
    return Response(found, media_type="image/png", headers={"Cache-Control": "private, max-age=86400, immutable"})


@router.post("/session")
async def sign_in(
    service: Serving,
    request: fastapi.Request,
    token: Annotated[str, fastapi.Form()] = "",
    job: Annotated[str, fastapi.Form()] = "",
) -> Response:
    """Open a session for whoever holds the token, in a cookie that no script can read and no other site can use."""
    check_own_page(request)
    if not service.access.knows(token.strip()):
        return _sign_in_page(401, job=job, wrong=True)
    answer = _see(f"/view/{UUID(job)}" if _is_id(job) else "/")
    answer.set_cookie(
        cookie_name(service),
        service.access.open_session(service.now()),
        max_age=service.env.session_min * 60,
        path="/",
        secure=service.env.https,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/session/end")
async def sign_out(service: Serving, request: fastapi.Request) -> Response:
    """Take the cookie back."""
    check_own_page(request)
    answer = _see("/")
    answer.delete_cookie(cookie_name(service), path="/", secure=service.env.https, httponly=True, samesite="strict")
    return answer


async def _front(service: Service, problem: RequestError | None = None) -> HTMLResponse:
    recent = await service.aside(list_jobs, service.engine, limit=_RECENT)
    return _page(
        "front.html",
        problem.status_code if problem else 200,
        jobs=[JobSummaryDocument.of(summary) for summary in recent],
        once=secrets.token_urlsafe(16),
        problem=problem,
    )


def _sign_in_page(status: int = 200, *, job: str = "", wrong: bool = False) -> HTMLResponse:
    return _page("sign_in.html", status, job=job if _is_id(job) else "", wrong=wrong)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _sheets_of(request: fastapi.Request) -> Sheets:
    sheets: Sheets = request.app.state.sheets
    return sheets


async def _sheets(request: fastapi.Request, job_id: UUID) -> tuple[list[Sheet], str]:
    try:
        return await _sheets_of(request).sizes(job_id), ""
    except (DrawingError, BucketError) as error:
        return [], str(error)
