"""How is a stranger's file opened safely? Bounds are checked before anything is decoded."""

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
from PIL import Image

#: The largest drawing, bytes. A4 at 600 dpi with dense line work stays well under it.
MAX_BYTES = 25 * 1024 * 1024
#: The most pixels a page may have: A1 at 200 dpi is 31 million.
MAX_PIXELS = 50_000_000
#: The most pages a PDF may have.
MAX_PAGES = 50
#: PDF pages are drawn at this resolution.
PDF_DPI = 144

_POINTS_PER_INCH = 72  # PDF 32000-1:2008, 8.3.2.3: the default user space unit
_SCALE = PDF_DPI / _POINTS_PER_INCH
_PNG, _PDF = b"\x89PNG\r\n\x1a\n", b"%PDF-"


class DrawingError(ValueError):
    """The file cannot be worked on; the message is one line for the person who sent it."""


def open_pages(data: bytes) -> list[Image.Image]:
    """Return the drawing's pages as 8-bit gray images, white where nothing is drawn.

    Raises:
        DrawingError: the file is empty, too big, truncated, or no PNG or PDF with at least one page.
    """
    return list(_pages(data))


def check_drawing(data: bytes) -> None:
    """Open every page as `open_pages` does, and keep none: what a big PDF needs is one page's memory.

    Raises:
        DrawingError: as `open_pages`.
    """
    for _page in _pages(data):
        pass


def open_page(data: bytes, number: int) -> Image.Image | None:
    """Return page ``number``, counted from 1, as `open_pages` would; None where the drawing has no such page.

    Raises:
        DrawingError: as `open_pages`.
    """
    if data.startswith(_PDF):
        with _pdf(data) as document:
            return _draw(document, number) if 1 <= number <= len(document) else None
    return next(_pages(data)) if number == 1 else None


def page_sizes(data: bytes) -> list[tuple[int, int]]:
    """Return each page's (width, height) in the pixels that `open_pages` gives it, without drawing any.

    Raises:
        DrawingError: as `open_pages`, as far as it shows before a page is drawn.
    """
    if data.startswith(_PDF):
        with _pdf(data) as document:
            return [_drawn_size(document, number) for number in range(1, len(document) + 1)]
    return [page.size for page in _pages(data)]


def _pages(data: bytes) -> Iterator[Image.Image]:
    if not data:
        raise DrawingError("the file is empty")
    if len(data) > MAX_BYTES:
        raise DrawingError(f"too big: {len(data):,} bytes, at most {MAX_BYTES:,}")
    if data.startswith(_PNG):
        yield _open_png(data)
    elif data.startswith(_PDF):
        yield from _open_pdf(data)
    else:
        raise DrawingError("not a drawing: neither PNG nor PDF")


def to_png(image: Image.Image) -> bytes:
    """Return the image as a PNG file."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _check_pixels(width: int, height: int, *, page: int = 1) -> None:
    if width * height > MAX_PIXELS:
        raise DrawingError(f"too many pixels: page {page} is {width} x {height}, at most {MAX_PIXELS:,}")


def _open_png(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            # Our own bound below comes first: Pillow's warning says the same of larger files only.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image: Image.Image = Image.open(io.BytesIO(data), formats=["PNG"])
            _check_pixels(*image.size)
            # verify() reads every chunk's checksum, which load() does not, and leaves the file unusable.
            image.verify()
            image = Image.open(io.BytesIO(data), formats=["PNG"])
            image.load()
    except Image.DecompressionBombError:
        raise DrawingError(f"too many pixels: at most {MAX_PIXELS:,}") from None
    except (OSError, SyntaxError, ValueError) as error:
        if isinstance(error, DrawingError):
            raise
        raise DrawingError(f"truncated or damaged PNG: {error}") from None
    return _on_white(image)


def _on_white(image: Image.Image) -> Image.Image:
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        drawn = image.convert("RGBA")
        page = Image.new("RGBA", drawn.size, "white")
        page.alpha_composite(drawn)
        return page.convert("L")
    if image.mode.startswith("I"):  # 16 bits: Pillow's conversion to 8 clips instead of scaling
        return image.point(lambda value: value / 256).convert("L")
    return image.convert("L")


def _open_pdf(data: bytes) -> Iterator[Image.Image]:
    with _pdf(data) as document:
        if len(document) > MAX_PAGES:
            raise DrawingError(f"too many pages: {len(document)}, at most {MAX_PAGES}")
        for number in range(1, len(document) + 1):
            yield _draw(document, number)


def _draw(document: pypdfium2.PdfDocument, number: int) -> Image.Image:
    _check_pixels(*_drawn_size(document, number), page=number)
    with closing(document[number - 1]) as page:
        image: Image.Image = page.render(scale=_SCALE, grayscale=True).to_pil().convert("L")
        return image


def _drawn_size(document: pypdfium2.PdfDocument, number: int) -> tuple[int, int]:
    """Return a page's pixels as pypdfium2 draws it: it rounds up (pypdfium2._helpers.page.PdfPage.render)."""
    width, height = document.get_page_size(number - 1)
    return math.ceil(width * _SCALE), math.ceil(height * _SCALE)


@contextmanager
def _pdf(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise DrawingError(f"no readable PDF, or one without pages: {error}") from None
    with closing(document):
        try:
            yield document
        except pypdfium2.PdfiumError as error:
            raise DrawingError(f"damaged PDF: {error}") from None
