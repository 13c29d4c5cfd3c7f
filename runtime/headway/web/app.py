"""The application: the routes, what every request passes first, and what every error becomes."""

import contextlib
from collections.abc import AsyncIterator

import fastapi

from headway.web import events, health, jobs, pages, problems
from headway.web.headers import STATIC, SafeHeaders
from headway.web.limits import BodyLimit, RequestLimit
from headway.web.service import Service
from headway.web.sheets import Sheets

_ABOUT = "Submit drawings to a stage, follow their jobs as they are worked on, and cancel them."


def create_app(service: Service) -> fastapi.FastAPI:
    """Return the application over a service, which it closes when it ends."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: fastapi.FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    app = fastapi.FastAPI(
        title="Headway",
        summary=_ABOUT,
        version="1",
        lifespan=lifespan,
        redirect_slashes=False,
        # Their pages load scripts from elsewhere, which this service's own policy forbids.
        docs_url=None,
        redoc_url=None,
    )
    app.state.service, app.state.sheets = service, Sheets(service)
    problems.install(app)
    for module in (jobs, events, health, pages):
        app.include_router(module.router)
    app.mount(STATIC, pages.static_files())
    env = service.env
    app.add_middleware(BodyLimit, max_form_bytes=env.max_upload_bytes, max_body_bytes=env.max_body_bytes)
    app.add_middleware(RequestLimit, max_requests=env.max_requests, always=health.LIVE)
    app.add_middleware(SafeHeaders, https=env.https)
    return app
