"""Where the project is: the checkout that holds the app, its settings and its tools."""

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
#: What the emulator's environment imports from, instead of an installed package.
SOURCE_ROOTS = (PROJECT / "operations", PROJECT / "runtime")
