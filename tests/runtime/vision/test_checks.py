"""What is asked, and how strictly the answer is read."""

import pytest

from headway.vision.checks import BARS, OPENINGS, UnreadableError, read_count
from headway.vision.plugins import PluginError, load_checks, load_splitter


def test_a_count_is_read() -> None:
    """White space around it is JSON's own."""
    assert read_count(' {"count": 12}\n') == {"count": 12}
    assert read_count('{"count": 0}') == {"count": 0}


@pytest.mark.parametrize(
    "text",
    ["", "  ", "12", '{"count": -1}', '{"count": 1.0}', '{"count": true}', '{"count": "3"}', '{"count": 3, "sure": 1}'],
)
@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```"])
def test_anything_else_is_unreadable(text: str, wrap: str) -> None:
    """No guessing: a wrong count is worse than none."""
    with pytest.raises(UnreadableError):
        read_count(wrap.replace("{}", text))


def test_the_questions_are_told_apart_by_one_word_each() -> None:
    """A model, or a test's stand-in, can tell which one it is asked."""
    assert "bars" in BARS.prompt
    assert "openings" not in BARS.prompt
    assert "openings" in OPENINGS.prompt
    assert "bars" not in OPENINGS.prompt


def test_plugins_are_found_by_entry_point() -> None:
    """The installed ones are this package's own."""
    assert load_checks() == {"bars": BARS, "openings": OPENINGS}
    with pytest.raises(PluginError, match=r"^splitter 'scissors' is not installed$"):
        load_splitter("scissors")
