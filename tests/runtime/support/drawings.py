"""Drawings with a known number of blocks."""

import io

from PIL import Image, ImageDraw


def drawing(blocks: int) -> bytes:
    """Return a PNG of so many frames side by side."""
    image = Image.new("L", (20 + 220 * blocks, 240), 255)
    draw = ImageDraw.Draw(image)
    for number in range(blocks):
        draw.rectangle((20 + 220 * number, 20, 220 + 220 * number, 220), outline=0, width=3)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
