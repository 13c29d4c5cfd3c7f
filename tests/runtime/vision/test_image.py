"""Files of strangers: every bad one is one line, and none is decoded beyond its bounds."""

import io
import struct
import zlib
from typing import Any

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pytest
from PIL import Image

from headway.vision.image import MAX_BYTES, DrawingError, check_drawing, open_page, open_pages, page_sizes
from tests.runtime.vision.drawings import pdf, png, sheet

_PAGE = sheet((400, 300), [(20, 20, 320, 220)])


def _empty_pdf() -> bytes:
    buffer = io.BytesIO()
    document = pypdfium2.PdfDocument.new()
    document.save(buffer)
    document.close()
    return buffer.getvalue()


def _huge_png() -> bytes:
    """A PNG that claims 100,000 x 100,000 pixels in 60 bytes."""
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"")), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"Dear sir,", "not a drawing: neither PNG nor PDF"),
        (b"\xff\xd8\xff\xe0 a photograph", "not a drawing: neither PNG nor PDF"),
        (png(_PAGE)[:-12], "truncated or damaged PNG"),
        (png(_PAGE)[:60], "truncated or damaged PNG"),
        (b"\x89PNG\r\n\x1a\n", "truncated or damaged PNG"),
        (pdf(_PAGE)[:200], "no readable PDF, or one without pages"),
        (b"%PDF-1.7\n", "no readable PDF, or one without pages"),
        (_empty_pdf(), "no readable PDF, or one without pages"),
        (_huge_png(), "too many pixels"),
        (bytes(MAX_BYTES + 1), "too big: 26,214,401 bytes, at most 26,214,400"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_is_one_line(data: bytes, message: str) -> None:
    """What is wrong, in words of the person who sent it."""
    with pytest.raises(DrawingError) as caught:
        open_pages(data)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"])
def test_every_kind_of_png_becomes_gray_on_white(mode: str) -> None:
    """Transparent is white, sixteen bits are scaled."""
    white: Any = {"1": 1, "LA": (0, 0), "RGB": (255,) * 3, "RGBA": (0, 0, 0, 0), "I;16": 65_535}.get(mode, 255)
    black: Any = {"LA": (0, 255), "RGB": (0,) * 3, "RGBA": (0, 0, 0, 255)}.get(mode, 0)
    image = Image.new("L" if mode == "P" else mode, (40, 30), white)
    image.paste(Image.new(image.mode, (10, 10), black), (5, 5))
    (page,) = open_pages(png(image.convert(mode)))
    assert page.mode == "L"
    assert (page.getpixel((0, 0)), page.getpixel((8, 8))) == (255, 0)


def test_a_pdf_has_its_pages_in_gray() -> None:
    """144 pixels an inch: a page of 400 x 300 at that resolution comes out as it went in."""
    pages = open_pages(pdf(_PAGE, _PAGE))
    assert [(page.mode, page.size) for page in pages] == [("L", (400, 300))] * 2


def test_a_page_and_its_size_are_the_same_without_the_others() -> None:
    """One page alone is what it is among all, and its size is known before it is drawn."""
    for data in (png(sheet((300, 200), [])), pdf(_PAGE, sheet((333, 77), []))):
        pages = open_pages(data)
        assert page_sizes(data) == [page.size for page in pages]
        for number, page in enumerate(pages, start=1):
            alone = open_page(data, number)
            assert alone is not None
            assert alone.tobytes() == page.tobytes()
        assert open_page(data, 0) is None
        assert open_page(data, len(pages) + 1) is None


def test_checking_a_drawing_refuses_what_opening_it_refuses() -> None:
    """Every page is opened: one damaged page is enough."""
    check_drawing(pdf(_PAGE, _PAGE))
    with pytest.raises(DrawingError, match="truncated or damaged PNG"):
        check_drawing(png(_PAGE)[:-12])
