"""Where are a drawing's blocks?

The convention: a white page, and each block a rectangle with a black frame, at least 16 pixels of white between
frames. A sheet with ink and no frame is one block. What stands inside a frame is the block; the frame itself is not.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PIL import Image

from headway.vision.components import Box, dark_components
from headway.vision.image import DrawingError

#: What a splitter is: pages in, blocks out. Others register under the entry point group ``headway.splitters``.
Splitter = Callable[[Sequence[Image.Image]], "list[Block]"]

#: Gray values below this are ink.
_DARK = 128
#: A frame's shortest side, pixels: anything smaller is part of a drawing.
MIN_SIDE = 64
#: How much of a frame's edge must be ink; scans and drawn corners leave gaps.
_EDGE_INK = 0.95
#: Pixels searched for components at once; larger pages are shrunk first, dark pixels kept.
_SEARCHED_PIXELS = 4_000_000
#: White kept around the content of a sheet without frames, pixels.
_WHITE_BORDER = 8


@dataclass(frozen=True, kw_only=True)
class Block:
    """One block: its page (from 1), where it lies in it (left, top, right, bottom; pixels), and its image."""

    page: int
    box: Box
    image: Image.Image


def split_frames(pages: Sequence[Image.Image]) -> list[Block]:
    """Cut gray pages into blocks, top to bottom and left to right.

    Raises:
        DrawingError: no page has any ink.
    """
    found = [
        Block(page=number, box=box, image=page.crop(box))
        for number, page in enumerate(pages, start=1)
        for box in _blocks_of(page)
    ]
    if not found:
        raise DrawingError("nothing drawn")
    return found


def _blocks_of(page: Image.Image) -> list[Box]:
    dark = page.point(lambda value: 255 if value < _DARK else 0)
    content = dark.getbbox()
    if content is None:
        return []
    frames = _frames(dark)
    if not frames:
        return [_padded(content, page.size)]
    return [_inside(dark, frame) for frame in _reading_order(frames)]


def _frames(dark: Image.Image) -> list[Box]:
    """Return the boxes of the outermost frames. Shrinking keeps a cell dark where any of its pixels is."""
    factor = math.ceil(math.sqrt(dark.width * dark.height / _SEARCHED_PIXELS))
    small = dark.reduce(factor).point(lambda value: 255 if value else 0) if factor > 1 else dark
    candidates = [
        _exact(dark, box, factor)
        for box in dark_components(small)
        if min(box[2] - box[0], box[3] - box[1]) * factor >= MIN_SIDE
    ]
    frames = [box for box in candidates if _is_frame(dark, box)]
    return [box for box in frames if not any(_holds(other, box) for other in frames if other != box)]


def _exact(dark: Image.Image, box: Box, factor: int) -> Box:
    if factor == 1:
        return box
    left, top = box[0] * factor, box[1] * factor
    inner = dark.crop((left, top, min(box[2] * factor, dark.width), min(box[3] * factor, dark.height))).getbbox()
    return (left + inner[0], top + inner[1], left + inner[2], top + inner[3]) if inner else box


def _is_frame(dark: Image.Image, box: Box) -> bool:
    left, top, right, bottom = box
    # One pixel in: the outermost line may be the soft edge of a rendered stroke.
    edges = (
        (left, top + 1, right, top + 2),
        (left, bottom - 2, right, bottom - 1),
        (left + 1, top, left + 2, bottom),
        (right - 2, top, right - 1, bottom),
    )
    return all(_ink(dark, edge) >= _EDGE_INK for edge in edges)


def _inside(dark: Image.Image, frame: Box) -> Box:
    """Return what lies within the frame's four strokes, each measured, and one pixel of its soft edge."""
    left, top, right, bottom = frame
    depths = (
        _stroke(lambda i: _ink(dark, (left + i, top, left + i + 1, bottom))),
        _stroke(lambda i: _ink(dark, (left, top + i, right, top + i + 1))),
        _stroke(lambda i: _ink(dark, (right - i - 1, top, right - i, bottom))),
        _stroke(lambda i: _ink(dark, (left, bottom - i - 1, right, bottom - i))),
    )
    return left + depths[0], top + depths[1], right - depths[2], bottom - depths[3]


def _stroke(ink_at: Callable[[int], float]) -> int:
    depth = 1
    while depth < MIN_SIDE // 4 and ink_at(depth) >= _EDGE_INK:
        depth += 1
    return depth + 1


def _ink(dark: Image.Image, box: Box) -> float:
    strip = dark.crop(box)
    return strip.histogram()[255] / (strip.width * strip.height)


def _holds(outer: Box, inner: Box) -> bool:
    return outer[0] <= inner[0] and outer[1] <= inner[1] and outer[2] >= inner[2] and outer[3] >= inner[3]


def _padded(box: Box, size: tuple[int, int]) -> Box:
    return (
        max(box[0] - _WHITE_BORDER, 0),
        max(box[1] - _WHITE_BORDER, 0),
        min(box[2] + _WHITE_BORDER, size[0]),
        min(box[3] + _WHITE_BORDER, size[1]),
    )


def _reading_order(frames: Sequence[Box]) -> list[Box]:
    """Sort frames into rows, a row being those whose middle lies above the bottom of its highest one."""
    waiting = sorted(frames, key=lambda box: (box[1], box[0]))
    ordered: list[Box] = []
    while waiting:
        bottom = waiting[0][3]
        row = [box for box in waiting if (box[1] + box[3]) / 2 < bottom]
        ordered += sorted(row, key=lambda box: box[0])
        waiting = [box for box in waiting if box not in row]
    return ordered
