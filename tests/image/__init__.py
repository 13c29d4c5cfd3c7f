"""The worker image, built and run without Docker; `python -m tests.image` does it, and lists what is in it."""
