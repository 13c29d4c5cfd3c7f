"""Where a drawing's blocks are found. Boxes are (left, top, right, bottom), right and bottom exclusive."""

import random

import pytest
from PIL import Image, ImageDraw

from headway.vision.frames import split_frames
from headway.vision.image import DrawingError, open_pages
from tests.runtime.vision.drawings import FRAME_PX, Box, pdf, png, sheet

#: The strokes, and the pixel beside each that a rendered stroke may have softened.
_INSET = FRAME_PX + 1


def _inside(box: Box) -> Box:
    return box[0] + _INSET, box[1] + _INSET, box[2] - _INSET, box[3] - _INSET


def test_each_frame_is_a_block_without_its_frame() -> None:
    """Top to bottom, left to right, and white at every edge."""
    frames = [(20, 20, 320, 220), (340, 30, 640, 230), (20, 250, 620, 400)]
    page = sheet((660, 420), [frames[2], frames[1], frames[0]])
    blocks = split_frames([page])
    assert [block.box for block in blocks] == [_inside(frame) for frame in frames]
    assert all(block.image.getextrema() == (255, 255) for block in blocks)


def test_frames_sixteen_pixels_apart_are_told_apart() -> None:
    """The convention's least distance, in a layout that no straight cut divides."""
    frames = [(20, 20, 300, 120), (316, 20, 416, 300), (136, 316, 416, 416), (20, 136, 120, 416), (136, 136, 300, 300)]
    assert sorted(block.box for block in split_frames([sheet((436, 436), frames)])) == sorted(map(_inside, frames))


def test_what_is_inside_a_frame_is_no_frame() -> None:
    """Hollow squares are openings, however large, and discs are bars."""
    page = sheet((440, 440), [(20, 20, 420, 420), (60, 60, 200, 200)])
    ImageDraw.Draw(page).ellipse((250, 250, 300, 300), fill=0)
    (block,) = split_frames([page])
    assert block.box == (24, 24, 416, 416)


@pytest.mark.parametrize("seed", range(5))
def test_a_seeded_sheet_is_cut_exactly(seed: int) -> None:
    """A grid of frames of random sizes and distances, on a page large enough to be searched in a smaller copy."""
    chance = random.Random(seed)
    frames, top = [], 20
    while top < 1_900:
        height, left = chance.randint(120, 300), 20
        while left < 2_300:
            width = chance.randint(120, 400)
            frames.append((left, top, left + width, top + height))
            left += width + chance.randint(16, 60)
        top += height + chance.randint(16, 60)
    blocks = split_frames([sheet((2_800, 2_300), frames)])
    assert [block.box for block in blocks] == [_inside(frame) for frame in frames]


def test_ink_without_a_frame_is_one_block() -> None:
    """The whole content, with a little white around it."""
    page = Image.new("L", (400, 300), 255)
    ImageDraw.Draw(page).rectangle((100, 100, 149, 129), fill=0)
    (block,) = split_frames([page])
    assert block.box == (92, 92, 158, 138)


def test_a_blank_sheet_is_an_error() -> None:
    """There is nothing to ask about."""
    with pytest.raises(DrawingError, match=r"^nothing drawn$"):
        split_frames([Image.new("L", (400, 300), 255)])


def test_a_pdf_is_cut_page_by_page() -> None:
    """At the resolution it is drawn at, a frame of the page is a frame of the picture."""
    frame = (20, 20, 320, 220)
    pages = [
        sheet((400, 300), [frame]),
        Image.new("L", (400, 300), 255),
        sheet((400, 300), [frame, (20, 240, 320, 290)]),
    ]
    blocks = split_frames(open_pages(pdf(*pages)))
    assert [block.page for block in blocks] == [1, 3]
    assert not any(blocks[0].image.histogram()[:200])
    for edge in range(4):
        assert abs(blocks[0].box[edge] - _inside(frame)[edge]) <= 2


def test_a_full_sheet_is_cut_in_time() -> None:
    """2,000 x 1,500 pixels, 12 frames, from its PNG."""
    frames = [
        (20 + 490 * column, 20 + 490 * row, 490 + 490 * column, 490 + 490 * row)
        for row in range(3)
        for column in range(4)
    ]
    assert len(split_frames(open_pages(png(sheet((2_000, 1_500), frames))))) == 12


def test_noise_ends() -> None:
    """The worst case for the search of components: every pixel is another's neighbour."""
    noise = Image.frombytes("L", (3_000, 2_000), random.Random(1).randbytes(6_000_000))
    assert len(split_frames([noise])) == 1
