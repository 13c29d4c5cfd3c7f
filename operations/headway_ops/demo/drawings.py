"""Drawings whose truth is known: frames on a white sheet, with bars (filled discs) and openings (squares) inside."""

import random
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageDraw

_CELL_PX = 30
_FRAME_PX = 3
_GAP_PX = 24


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What one block shows."""

    bars: int
    openings: int


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """One sheet; ``blocks`` are in reading order, top to bottom and left to right."""

    name: str
    data: bytes
    blocks: tuple[Truth, ...]


def draw(seed: int, *, blocks: int | None = None, pdf: bool = False) -> Drawing:
    """Return a drawing, the same one for the same seed: 2..6 blocks in rows of at most three."""
    chance = random.Random(seed)  # noqa: S311  # a drawing, not a secret
    count = blocks or chance.randint(2, 6)
    columns, rows, cells = min(count, 3), -(-count // 3), (7, 5)
    width, height = (cells[0] * _CELL_PX + _GAP_PX, cells[1] * _CELL_PX + _GAP_PX)
    sheet = Image.new("RGB", (columns * width + _GAP_PX, rows * height + _GAP_PX), "white")
    pen = ImageDraw.Draw(sheet)
    truths = []
    for index in range(count):
        left = _GAP_PX + index % 3 * width
        top = _GAP_PX + index // 3 * height
        truths.append(_block(pen, chance, left, top, cells))
    data = BytesIO()
    sheet.save(data, "PDF" if pdf else "PNG", resolution=100.0)
    return Drawing(name=f"drawing-{seed}.{'pdf' if pdf else 'png'}", data=data.getvalue(), blocks=tuple(truths))


def _block(pen: ImageDraw.ImageDraw, chance: random.Random, left: int, top: int, cells: tuple[int, int]) -> Truth:
    right, bottom = left + cells[0] * _CELL_PX, top + cells[1] * _CELL_PX
    pen.rectangle((left, top, right, bottom), outline="black", width=_FRAME_PX)
    places = [(x, y) for x in range(cells[0]) for y in range(cells[1])]
    chance.shuffle(places)
    bars, openings = chance.randint(1, 12), chance.randint(0, 8)
    for x, y in places[:bars]:
        middle_x, middle_y, radius = left + x * _CELL_PX + 15, top + y * _CELL_PX + 15, chance.randint(5, 7)
        pen.ellipse((middle_x - radius, middle_y - radius, middle_x + radius, middle_y + radius), fill="black")
    for x, y in places[bars : bars + openings]:
        corner_x, corner_y, side = left + x * _CELL_PX + 7, top + y * _CELL_PX + 7, chance.randint(14, 17)
        pen.rectangle((corner_x, corner_y, corner_x + side, corner_y + side), outline="black", width=2)
    return Truth(bars=bars, openings=openings)
