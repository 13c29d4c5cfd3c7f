"""Changes one stage's switch in the text of stages.toml, and nothing else of it."""

import re
import tomllib

_KEY = re.compile(r'^(\s*fast_lane\s*=\s*)("[^"]*"|\'[^\']*\')', re.MULTILINE)
_NEXT_TABLE = re.compile(r"^\s*\[", re.MULTILINE)


class RolloutError(ValueError):
    """The switch cannot be set; the message is one line."""


def edited(text: str, stage: str, to: str) -> str:
    r"""Return stages.toml's text with one line changed, or one added: comments and layout stay.

    >>> edited('[stages.dev]  # mine\nfast_lane = "on"  # now\n', "dev", "ready")
    '[stages.dev]  # mine\nfast_lane = "ready"  # now\n'

    Raises:
        RolloutError: the stage's table is not written as [stages.NAME], so that only a person can tell where.
    """
    header = re.search(rf"^\s*\[\s*stages\.(?:{re.escape(stage)}|\"{re.escape(stage)}\")\s*\].*\n?", text, re.MULTILINE)
    if header is None:
        raise RolloutError(f"stages.toml: no line [stages.{stage}]; set its fast_lane = {to!r} by hand")
    begin = header.end()
    following = _NEXT_TABLE.search(text, begin)
    end = following.start() if following else len(text)
    own, count = _KEY.subn(rf'\g<1>"{to}"', text[begin:end], count=1)
    head = text[:begin] if text[:begin].endswith("\n") else text[:begin] + "\n"
    changed = head + (own if count else f'fast_lane = "{to}"\n{own}') + text[end:]
    _check(text, changed, stage, to)
    return changed


def _check(before: str, after: str, stage: str, to: str) -> None:
    """Read both texts: they must say the same but for the one switch."""
    wanted = tomllib.loads(before)
    wanted["stages"][stage]["fast_lane"] = to
    try:
        said = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        said = None
    if said != wanted:
        raise RolloutError(f"stages.toml: [stages.{stage}] cannot be edited; set its fast_lane = {to!r} by hand")
