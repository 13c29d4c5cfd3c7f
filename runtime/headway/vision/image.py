"""How is a stranger's file opened safely? Bounds are checked before anything is decoded."""

import io
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


class DrawingError(ValueError):
    """The file cannot be worked on; the message is one line for the person who sent it."""


def open_pages(data: bytes) -> list[Image.Image]:
    """Return the drawing's pages as 8-bit gray images, white where nothing is drawn.

    Raises:
        DrawingError: the file is empty, too big, truncated, or no PNG or PDF with at least one page.
    """
    if not data:
        raise DrawingError("the file is empty")
    if len(data) > MAX_BYTES:
        raise DrawingError(f"too big: {len(data):,} bytes, at most {MAX_BYTES:,}")
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return [_open_png(data)]
    if data.startswith(b"%PDF-"):
        return list(_open_pdf(data))
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
        scale = PDF_DPI / _POINTS_PER_INCH
        for number in range(len(document)):
            width, height = document.get_page_size(number)
            _check_pixels(round(width * scale), round(height * scale), page=number + 1)
            with closing(document[number]) as page:
                yield page.render(scale=scale, grayscale=True).to_pil().convert("L")


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
