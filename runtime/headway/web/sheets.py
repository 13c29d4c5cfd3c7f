"""A job's drawing, as pictures for the page: opened once for each job, since no drawing ever changes under its key."""

from collections import OrderedDict
from io import BytesIO
from typing import NamedTuple
from uuid import UUID

from headway.jobs.queries import origin
from headway.vision.image import open_page, page_sizes
from headway.web.service import Service

#: A picture is shown on a screen: more pixels on its longer side only make it slow.
_MAX_SIDE_PX = 2_000
_KEPT = 256


class Sheet(NamedTuple):
    """One page of a drawing, in the pixels that its blocks' boxes are in; pages count from 1."""

    number: int
    width: int
    height: int


class Sheets:
    """Opens drawings for the page, and remembers the sizes of the last ones' pages."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._known: OrderedDict[UUID, list[Sheet]] = OrderedDict()

    async def sizes(self, job_id: UUID) -> list[Sheet]:
        """Return the pages of a job's drawing; none where there is no such job.

        Raises:
            DrawingError: the drawing is gone, or cannot be opened.
            BucketError: the bucket does not answer.
        """
        if job_id not in self._known:
            data = await self._data(job_id)
            sizes = await self._service.in_turn(page_sizes, data) if data is not None else []
            self._known[job_id] = [Sheet(number, *size) for number, size in enumerate(sizes, start=1)]
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return self._known[job_id]

    async def picture(self, job_id: UUID, number: int) -> bytes | None:
        """Return one page as a PNG for a screen; None where there is no such job or page.

        Raises:
            DrawingError: the drawing is gone, or cannot be opened.
            BucketError: the bucket does not answer.
        """
        data = await self._data(job_id)
        return None if data is None else await self._service.in_turn(_picture, data, number)

    async def _data(self, job_id: UUID) -> bytes | None:
        found = await self._service.aside(origin, self._service.engine, job_id)
        if found is None:
            return None
        return await self._service.aside(self._service.producer.drawings.read, found.drawing_key)


def _picture(data: bytes, number: int) -> bytes | None:
    page = open_page(data, number)
    if page is None:
        return None
    page.thumbnail((_MAX_SIDE_PX, _MAX_SIDE_PX))
    buffer = BytesIO()
    page.save(buffer, format="PNG")
    return buffer.getvalue()
