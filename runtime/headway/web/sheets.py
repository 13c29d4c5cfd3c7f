"""A job's drawing, as pictures for the page: opened once for each job, since no drawing ever changes under its key."""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar
from uuid import UUID

from headway.jobs.queries import origin
from headway.vision.image import open_page, page_sizes, to_png
from headway.web.service import Service

T = TypeVar("T")

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
            sizes = await self._service.in_turn(self._opened, page_sizes, job_id) or []
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
        return await self._service.in_turn(self._opened, partial(_picture, number=number), job_id)

    def _opened(self, look: Callable[[bytes], T], job_id: UUID) -> T | None:
        found = origin(self._service.engine, job_id)
        return None if found is None else look(self._service.producer.drawings.read(found.drawing_key))


def _picture(data: bytes, number: int) -> bytes | None:
    page = open_page(data, number)
    if page is None:
        return None
    page.thumbnail((_MAX_SIDE_PX, _MAX_SIDE_PX))
    return to_png(page)
