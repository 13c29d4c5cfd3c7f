"""What is drawn on a tile? Counted from its pixels, so that every answer can be checked against the drawing's truth.

It shares no code with the product's own splitter: an error there must not hide in here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from PIL import Image

_DARK_BELOW = 128
#: A filled disc covers pi/4 of its bounding box, the outline of a square under half of it.
_FILLED_ABOVE = 0.6
#: Specks under this many pixels a side are dirt.
_SMALLEST_PX = 5


@dataclass
class Shape:
    """One connected dark region: its bounding box and its dark pixels."""

    left: int
    top: int
    right: int
    bottom: int
    pixels: int

    @property
    def filled(self) -> bool:
        """Whether it is a blot rather than an outline."""
        return self.pixels / ((self.right - self.left) * (self.bottom - self.top)) > _FILLED_ABOVE

    @property
    def speck(self) -> bool:
        """Whether it is too small to mean anything."""
        return min(self.right - self.left, self.bottom - self.top) < _SMALLEST_PX


def count(image: bytes, question: str) -> int:
    """Return how many bars (filled discs) or openings (outlined squares) ``image`` shows, as the question asks.

    Raises:
        ValueError: the bytes are no image, or the question asks for neither.
    """
    words = set(re.findall(r"[a-z]+", question.lower()))
    if not words & {"bars", "openings"}:
        raise ValueError("the question names neither bars nor openings")
    wants_bars = "bars" in words
    try:
        shapes = list(shapes_in(Image.open(BytesIO(image))))
    except OSError as error:
        raise ValueError(f"not an image: {error}") from None
    return sum(not shape.speck and shape.filled == wants_bars for shape in shapes)


def shapes_in(image: Image.Image) -> Iterator[Shape]:
    """Yield the connected dark regions, by joining runs of dark pixels that touch from row to row."""
    dark = image.convert("L").point(lambda value: 0 if value < _DARK_BELOW else 255)
    width, pixels = dark.width, dark.tobytes()
    open_runs: list[tuple[int, int, Shape]] = []
    shapes: dict[int, Shape] = {}
    for y in range(dark.height):
        row = pixels[y * width : (y + 1) * width]
        runs: list[tuple[int, int, Shape]] = []
        for match in re.finditer(rb"\x00+", row):
            start, end = match.span()
            shape = Shape(start, y, end, y + 1, end - start)
            touching = {id(other): other for a, b, other in open_runs if a <= end and start <= b}
            for other in touching.values():
                _join(shape, other, runs, open_runs)
                shapes.pop(id(other), None)
            shapes[id(shape)] = shape
            runs.append((start, end, shape))
        open_runs = runs
    yield from shapes.values()


def _join(into: Shape, other: Shape, runs: list[tuple[int, int, Shape]], above: list[tuple[int, int, Shape]]) -> None:
    into.left, into.top = min(into.left, other.left), min(into.top, other.top)
    into.right, into.bottom = max(into.right, other.right), max(into.bottom, other.bottom)
    into.pixels += other.pixels
    for row in (runs, above):
        row[:] = [(start, end, into if shape is other else shape) for start, end, shape in row]
