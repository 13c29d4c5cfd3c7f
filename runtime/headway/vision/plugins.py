"""Which splitter and which checks are installed? Entry points tell, so that a package can bring its own."""

from collections.abc import Mapping
from importlib.metadata import entry_points

from headway.vision.checks import Check
from headway.vision.frames import Splitter


class PluginError(LookupError):
    """A plugin is missing or of the wrong kind; the message is one line."""


def load_splitter(name: str = "frames") -> Splitter:
    """Return the splitter of that name.

    Raises:
        PluginError: none is installed under it.
    """
    for entry in entry_points(group="headway.splitters", name=name):
        splitter: Splitter = entry.load()
        return splitter
    raise PluginError(f"splitter {name!r} is not installed")


def load_checks() -> Mapping[str, Check]:
    """Return every installed check by its name, in the names' order.

    Raises:
        PluginError: none is installed, or one is no Check.
    """
    checks = {}
    for entry in sorted(entry_points(group="headway.checks"), key=lambda entry: entry.name):
        check = entry.load()
        if not isinstance(check, Check):
            raise PluginError(f"check {entry.name!r} is a {type(check).__name__}, not a Check")
        checks[check.name] = check
    if not checks:
        raise PluginError("no checks are installed")
    return checks
