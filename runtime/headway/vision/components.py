"""Which dark pixels of an image touch each other?

Each row is read as runs of dark pixels, found by a regular expression in C, and runs that touch in neighbouring rows
are joined. The work grows with the runs, not with the pixels: a sheet of line work has few.
"""

import re
from collections.abc import Iterator

from PIL import Image

Box = tuple[int, int, int, int]

_RUN = re.compile(rb"\xff+")


def dark_components(dark: Image.Image) -> Iterator[Box]:
    """Yield the bounding box (left, top, right, bottom) of each 8-connected group of pixels that are 255."""
    width, height = dark.size
    data = dark.tobytes()
    boxes: list[list[int]] = []
    parents: list[int] = []

    def root(label: int) -> int:
        while parents[label] != label:
            parents[label] = parents[parents[label]]
            label = parents[label]
        return label

    above: list[tuple[int, int, int]] = []
    for y in range(height):
        row: list[tuple[int, int, int]] = []
        index = 0
        for match in _RUN.finditer(data, y * width, (y + 1) * width):
            start, end = match.start() - y * width, match.end() - y * width
            label = len(parents)
            while index < len(above) and above[index][1] < start:
                index += 1
            touching = index
            while touching < len(above) and above[touching][0] <= end:
                other = root(above[touching][2])
                if label == len(parents):
                    label = other
                elif other != label:
                    label = _join(parents, boxes, label, other)
                touching += 1
            if label == len(parents):
                parents.append(label)
                boxes.append([start, y, end, y + 1])
            else:
                _grow(boxes[label], start, y, end)
            row.append((start, end, label))
        above = row
    for label, (left, top, right, bottom) in enumerate(boxes):
        if parents[label] == label:
            yield left, top, right, bottom


def _join(parents: list[int], boxes: list[list[int]], one: int, other: int) -> int:
    kept, lost = min(one, other), max(one, other)
    parents[lost] = kept
    left, top, right, bottom = boxes[lost]
    box = boxes[kept]
    boxes[kept] = [min(box[0], left), min(box[1], top), max(box[2], right), max(box[3], bottom)]
    return kept


def _grow(box: list[int], start: int, y: int, end: int) -> None:
    box[0] = min(box[0], start)
    box[2] = max(box[2], end)
    box[3] = y + 1
