"""Draws what the tests cut."""

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw

Box = tuple[int, int, int, int]

#: The drawing convention's frame, pixels.
FRAME_PX = 3


def sheet(size: tuple[int, int], frames: Sequence[Box]) -> Image.Image:
    """Return a white page with a frame at each box, right and bottom exclusive."""
    page = Image.new("L", size, 255)
    draw = ImageDraw.Draw(page)
    for left, top, right, bottom in frames:
        draw.rectangle((left, top, right - 1, bottom - 1), outline=0, width=FRAME_PX)
    return page


def png(image: Image.Image) -> bytes:
    """Return the image as PNG."""
    return _saved(image, "PNG")


def pdf(*pages: Image.Image, dpi: float = 144.0) -> bytes:
    """Return the pages as a PDF in which ``dpi`` pixels are an inch."""
    return _saved(pages[0], "PDF", save_all=True, append_images=list(pages[1:]), resolution=dpi)


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()
