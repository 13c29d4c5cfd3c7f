"""Which splitters and checks are there? The shipped ones, and what installed packages add by entry point.

The shipped ones are named here and not by entry points of our own: the worker image holds the code alone, without the
metadata that a package is found by.
"""

from collections.abc import Mapping
from importlib.metadata import entry_points

from headway.vision.checks import BARS, OPENINGS, Check
from headway.vision.frames import Splitter, split_frames

_SPLITTERS: Mapping[str, Splitter] = {"frames": split_frames}
_CHECKS = (BARS, OPENINGS)


class PluginError(LookupError):
    """A plugin is missing or of the wrong kind; the message is one line."""


def load_splitter(name: str = "frames") -> Splitter:
    """Return the splitter of that name, shipped or an entry point of the group ``headway.splitters``.

    Raises:
        PluginError: there is none of that name.
    """
    if name in _SPLITTERS:
        return _SPLITTERS[name]
    for entry in entry_points(group="headway.splitters", name=name):
        splitter: Splitter = entry.load()
        return splitter
    raise PluginError(f"splitter {name!r} is not installed")


def load_checks() -> Mapping[str, Check]:
    """Return the shipped checks and every entry point of the group ``headway.checks``, by name, in the names' order.

    Raises:
        PluginError: an entry point is no Check.
    """
    checks = {check.name: check for check in _CHECKS}
    for entry in entry_points(group="headway.checks"):
        check = entry.load()
        if not isinstance(check, Check):
            raise PluginError(f"check {entry.name!r} is a {type(check).__name__}, not a Check")
        checks[check.name] = check
    return dict(sorted(checks.items()))
