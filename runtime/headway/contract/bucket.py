"""Where the bucket holds what producers upload, and what workers cut from it: each side's rights end at these."""

DRAWINGS_PREFIX = "drawings/"
BLOCKS_PREFIX = "blocks/"
